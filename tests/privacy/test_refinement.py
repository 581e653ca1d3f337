"""Draft, then refine: the log-ratios over both rounds stay below the bound, exactly and over all pairs."""

import math
from collections import Counter, defaultdict
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from textveil.bundles.prior import Ngrams, PriorTable, compress_prior
from textveil.bundles.vectors import UNKNOWN
from textveil.draft import DEFAULT_DRAFT_SHARE, DraftedText, Drafter, average_words, choose_draft_share
from textveil.errors import ParameterError, ProfileError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.decomposition.base import Decomposer
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.distribution.base import Distributor
from textveil.methods.mechanisms.base import Draft
from textveil.obfuscator import Obfuscator
from textveil.outcomes import Outcome
from textveil.profiles import PAPER, PROVEN, STRICT
from textveil.randomness import SeededRandomness
from textveil.text.documents import Chunk, Document

WORDS = ("red", "rad", "blue", "green")
ENTRIES = [*WORDS, "red_blue"]
PLACES = np.array([[0, 0], [0.05, 0], [1.5, 0.3], [-0.4, 1.2], [0.8, -0.9]], dtype=np.float32)
BUDGET = 12.0
TEXT = "The battery died after two weeks, and the customer service was terrible."


class Expressions(Decomposer):
    """Takes "red blue" as one chunk, and so looks at the text."""

    name = "pmi"

    def decompose(self, documents):
        return [self._split(document.words) for document in documents]

    def _split(self, words):
        chunks, start = [], 0
        while start < len(words):
            stop = start + (2 if words[start : start + 2] == ("red", "blue") else 1)
            chunks.append(Chunk(start, stop))
            start = stop
        return chunks


class Loud(Distributor):
    """Scores words by a table: "rad", which is near "red", is far more important."""

    name = "loud"

    def score(self, documents):
        table = {"red": 1.0, "rad": 20.0, "blue": 3.0, "green": 6.0}
        return [[table.get(word, 2.0) for word in document.words] for document in documents]


class Leaking(Obfuscator):
    """Computes chunks and shares from the originals instead of the drafts: the flaw that the tests must find."""

    def __init__(self, *given, **settings):
        super().__init__(*given, **settings)
        honest = self.planner.plan

        def plan(documents, budget, screened=None, drafts=None):
            pairs = zip(documents, drafts, strict=True)
            return honest(documents, budget, screened, [DraftedText(each, draft.words) for each, draft in pairs])

        self.planner.plan = plan


@pytest.fixture(scope="module")
def colors(make_bundle):
    """Four words and an expression, with a language model: each entry is mostly followed by the next one."""
    size = len(ENTRIES)
    pairs = np.sort(np.arange(size) * size + (np.arange(size) + 1) % size)
    arrays = compress_prior(np.full(size, -np.log(size)), [Ngrams(pairs, np.full(size, np.log(0.7)))])
    return make_bundle(ENTRIES, matrix=PLACES, decomposition="pmi", prior=PriorTable(arrays))


def build(bundle, kind=Obfuscator, **options):
    chosen = {"mechanism": "exponential", "draft_share": 0.4, "largest_share": math.inf, "seed": 1, **options}
    return kind(bundle, decomposition=Expressions(bundle), distribution=Loud(), profile="proven", **chosen)


class Exact:
    """The exact probabilities of all drafts and outputs of an obfuscator."""

    def __init__(self, obfuscator):
        self.obfuscator = obfuscator
        self.mechanism = obfuscator.mechanism
        self.budget = obfuscator.build_budget(epsilon=BUDGET)
        self.drafting = obfuscator.planner._drafter.mechanism
        self.cap = math.inf if self.mechanism.cap is None else self.mechanism.cap
        self._known = {}

    def remember(self, *key, compute):
        return self._known[key] if key in self._known else self._known.setdefault(key, compute())

    def ask_draft(self, document):
        """The request of the first round, made by the code under test."""
        return self.remember("draft", document, compute=partial(self._ask_draft, document))

    def _ask_draft(self, document):
        return self.obfuscator.planner._drafter._request(document, SeededRandomness(1).stream(0), self.budget)

    def ask(self, document, drafted):
        """The request of the second round, made by the code under test."""
        return self.remember("request", document, drafted, compute=partial(self._ask, document, drafted))

    def _ask(self, document, drafted):
        shares = self.ask_draft(document).shares
        text = DraftedText(Document.parse(" ".join(ENTRIES[row] for row in drafted)), Draft(np.array(drafted), shares))
        (plan,) = self.obfuscator.planner.plan([document], self.budget, None, [text])
        return self.obfuscator.planner.request(plan, SeededRandomness(1).stream(0))

    def log_outputs(self, mechanism, request):
        """The log-probability of every sequence of outputs, by the chain rule."""
        points = mechanism.place(request, slice(None))
        logs = {(): 0.0}
        for step in range(len(request.rows)):
            draft = request.draft and Draft(request.draft.rows[[step]], request.draft.shares[[step]])
            longer = {}
            for written, log in logs.items():
                context = [np.array([[*written][-1:] or [UNKNOWN]])] if mechanism.uses_prior else []
                each = mechanism.log_channel(points[[step]], request.shares[[step]], *context, draft=draft)[0]
                rows = mechanism.vectors.writable.tolist()
                longer |= {(*written, row): log + more for row, more in zip(rows, each.tolist(), strict=True)}
            logs = longer
        return logs

    def log_joint(self, document):
        """The log-probability of every draft with every output."""
        drafts = self.log_outputs(self.drafting, self.ask_draft(document))
        return {
            (drafted, written): log + more
            for drafted, log in drafts.items()
            for written, more in self.log_outputs(self.mechanism, self.ask(document, drafted)).items()
        }

    def bound(self, one, other, drafted):
        """The sum over both rounds of share x min(distance, cap)."""
        total = 0.0
        for ask in (self.ask_draft, lambda document: self.ask(document, drafted)):
            first, second = ask(one), ask(other)
            gaps = self.place(first) - self.place(second)
            distances = np.minimum(np.linalg.norm(gaps, axis=1), self.cap)
            total += float(np.maximum(first.shares, second.shares) @ distances)
        return total

    def place(self, request):
        """The points of a request, which is remembered and so has an identity."""
        return self.remember("place", id(request), compute=partial(self.mechanism.place, request, slice(None)))

    def list_joint(self, document):
        """The log-probabilities of drafts and outputs in a fixed order, with the number of outputs of every draft."""
        joint = self.log_joint(document)
        sizes = Counter(drafted for drafted, _ in joint)
        return np.array([joint[event] for event in sorted(joint)]), sorted(sizes.items())

    def find_excess(self, one, other):
        """The largest log-ratio of a draft and an output, less its bound; and the largest log-ratio by the bound."""
        (first, sizes), (second, _) = (
            self.remember("joint", each, compute=partial(self.list_joint, each)) for each in (one, other)
        )
        bounds = np.repeat([self.bound(one, other, drafted) for drafted, _ in sizes], [size for _, size in sizes])
        ratios = np.abs(first - second)
        return (ratios - bounds).max(), (ratios / bounds).max()

    def log_texts(self, document):
        """The log-probability of every output, whatever the draft."""
        logs = defaultdict(list)
        for (_, written), log in self.log_joint(document).items():
            logs[written].append(log)
        return {written: float(np.logaddexp.reduce(each)) for written, each in logs.items()}


ALL = [Document.parse(" ".join(pair)) for pair in product((*WORDS, "xyzzy"), repeat=2)]


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [("exponential", {}), ("exponential", {"cap": 0.7}), ("exponential", {"dimensions": 1}), ("fluent", {})],
    ids=str,
)
def test_no_log_ratio_passes_the_sum_over_both_rounds(colors, mechanism, options):
    """Exact, over all pairs of documents of two words, known or not, and over all drafts and outputs."""
    exact = Exact(build(colors, mechanism=mechanism, mechanism_options=options))
    tight = []
    for one, other in combinations(ALL, 2):
        excess, used = exact.find_excess(one, other)
        assert excess <= 1e-4
        tight.append(used)
    assert max(tight) > 0.5  # the bound is not idle


def test_a_text_without_its_draft_keeps_the_largest_bound_of_all_drafts(colors):
    exact = Exact(build(colors, mechanism_options={"cap": 1.2}))
    first, second = exact.log_texts(ALL[2]), exact.log_texts(ALL[18])
    assert np.exp(list(first.values())).sum() == pytest.approx(1)
    largest = max(exact.bound(ALL[2], ALL[18], drafted) for drafted in product(range(len(WORDS)), repeat=2))
    assert max(abs(log - second[written]) for written, log in first.items()) <= largest
    assert largest <= BUDGET * 1.2 * (1 + 1e-9)


def test_shares_from_the_original_pass_the_bound(colors):
    """The same test finds the flaw: "red" and "rad" are neighbors in the embedding, with very different scores."""
    honest, leaking = (Exact(build(colors, kind)) for kind in (Obfuscator, Leaking))
    pair = Document.parse("red green"), Document.parse("rad green")
    assert honest.find_excess(*pair)[0] <= 1e-4
    assert leaking.find_excess(*pair)[0] > 1


def test_draws_are_those_of_the_exact_probabilities(colors):
    """A chi-square test of 8,000 documents; its false-alarm rate is 0.0001, were the seed drawn anew."""
    obfuscator = build(colors, mechanism="fluent")
    document, draws = Document.parse("red blue"), 8_000
    counts = defaultdict(int)
    for result in obfuscator.obfuscate_all(["red blue"] * draws, epsilon=BUDGET):
        counts[tuple(ENTRIES.index(chunk.replacement.replace(" ", "_")) for chunk in result.chunks)] += 1
    expected = {written: draws * math.exp(log) for written, log in Exact(obfuscator).log_texts(document).items()}
    pairs = [(counts[written], number) for written, number in expected.items() if number >= 5]
    rest = (draws - sum(count for count, _ in pairs), draws - sum(number for _, number in pairs))
    assert stats.chisquare(*zip(*pairs, rest, strict=True)).pvalue > 1e-4
    assert len(pairs) > 10


def test_chunks_and_shares_depend_on_the_draft_alone(colors):
    exact = Exact(build(colors))
    for drafted in product(range(len(WORDS)), repeat=2):
        requests = [exact.ask(document, drafted) for document in ALL]
        assert len({tuple(request.shares.tolist()) for request in requests}) == 1
        assert {len(request.rows) for request in requests} == {1 if drafted == (0, 2) else 2}


def test_an_expression_of_the_draft_covers_the_words_of_the_original(colors):
    """An entry stands where its vector is, other words at their mean."""
    exact = Exact(build(colors))
    places = {
        text: exact.mechanism.place(exact.ask(Document.parse(text), (0, 2)), slice(None))[0]
        for text in ("red blue", "green blue", "xyzzy blue")
    }
    vectors = exact.mechanism.vectors.matrix
    np.testing.assert_allclose(places["red blue"], vectors[4])
    np.testing.assert_allclose(places["green blue"], (vectors[3] + vectors[2]) / 2, rtol=1e-6)
    np.testing.assert_allclose(places["xyzzy blue"], (vectors.mean(axis=0) + vectors[2]) / 2, rtol=1e-6)


def test_an_expression_with_a_known_word_is_perturbed_and_one_without_is_drawn(colors):
    obfuscator = build(colors)
    draft = DraftedText(Document.parse("red blue"), Draft(np.array([0, 2]), np.ones(2)))
    documents = [Document.parse(text) for text in ("green blue", "xyzzy blue", "xyzzy qwert")]
    plans = obfuscator.planner.plan(documents, obfuscator.build_budget(epsilon=BUDGET), None, [draft] * 3)
    assert [plan.chunks[0].outcome for plan in plans] == [Outcome.PERTURBED, Outcome.PERTURBED, Outcome.DRAWN]


def test_a_draft_has_as_many_words_as_the_text_and_no_expression(colors):
    obfuscator = build(colors)
    texts = ["red blue green", "", "xyzzy", "rad " * 200]
    for result, text in zip(obfuscator.obfuscate_all(texts, epsilon=1), texts, strict=True):
        drafted = " ".join(chunk.draft for chunk in result.chunks).split()
        assert len(drafted) == len(text.split())
        assert set(drafted) <= set(WORDS)
    expressions = {result.text for result in obfuscator.obfuscate_all(["red blue"] * 50, epsilon=500)}
    assert expressions == {"Red blue."}


def test_a_vocabulary_without_single_words_allows_no_draft(make_bundle):
    bundle = make_bundle(["red_blue", "new_york"], decomposition="pmi")
    with pytest.raises(ProfileError, match="no single word to write"):
        build(bundle, mechanism="madlib")


@pytest.mark.parametrize("mechanism", ["madlib", "mahalanobis", "exponential", "fluent"])
def test_the_same_seed_gives_the_same_text_for_any_batch_size(tiny_with_prior, mechanism):
    texts = ["alpha beta gamma", "", "film", "good story and bad plot of xyzzy " * 30, "the music"] * 3
    written = []
    for batch_size in (1, 4, 100):
        obfuscator = Obfuscator(
            tiny_with_prior, profile="proven", distribution=Loud(), mechanism=mechanism, draft_share=0.5, seed=5
        )
        results = list(obfuscator.obfuscate_all(texts, epsilon_per_word=3, batch_size=batch_size))
        written.append([(result.text, [chunk.draft for chunk in result.chunks]) for result in results])
    assert written[0] == written[1] == written[2]
    assert len({text for text, _ in written[0]}) > 10


@pytest.mark.parametrize("mechanism", ["madlib", "mahalanobis", "exponential", "fluent"])
def test_a_large_budget_returns_the_words_and_a_small_one_does_not(tiny_with_prior, mechanism):
    options = {"mechanism": mechanism, "profile": "proven", "form": "bare", "distribution": Loud(), "seed": 2}
    obfuscator = Obfuscator(tiny_with_prior, largest_share=math.inf, **options)
    assert obfuscator.obfuscate("good story bad plot", epsilon=1e6).text == "good story bad plot"
    assert obfuscator.obfuscate("good story bad plot", epsilon=1e-190).text != "good story bad plot"


@given(words=st.lists(st.sampled_from(["alpha", "film", "xyzzy", "the"]), max_size=9), epsilon=st.floats(1e-3, 1e6))
def test_both_rounds_together_spend_the_budget(tiny, words, epsilon):
    obfuscator = Obfuscator(tiny, profile="proven", distribution=Loud(), draft_share=0.3, largest_share=math.inf)
    result = obfuscator.obfuscate(" ".join(words), epsilon=epsilon)
    tally, spent = result.certificate.tally, epsilon if words else 0.0
    assert tally.largest_spent == pytest.approx(spent)
    assert sum(chunk.draft_share for chunk in result.chunks) == pytest.approx(0.3 * spent)
    assert (tally.largest_draft, tally.largest_refinement) == pytest.approx((0.3 * spent, 0.7 * spent))


def test_no_word_gets_more_than_the_largest_share_in_both_rounds_together(tiny):
    obfuscator = Obfuscator(tiny, profile="proven", distribution=Loud(), draft_share=0.3, largest_share=2.0)
    result = obfuscator.obfuscate("alpha film story good", epsilon=1000)
    assert [chunk.draft_share for chunk in result.chunks] == pytest.approx([0.6] * 4)
    assert [chunk.share for chunk in result.chunks] == pytest.approx([1.4] * 4)
    assert result.certificate.tally.capped == 4


@pytest.mark.parametrize(
    ("profile", "wanted", "data_independent", "chosen"),
    [
        (STRICT, None, False, None),
        (PAPER, None, True, None),
        (PROVEN, None, True, None),
        (PROVEN, None, False, DEFAULT_DRAFT_SHARE),
        (PROVEN, 0.3, True, 0.3),
        (PROVEN, 0.3, False, 0.3),
    ],
)
def test_a_draft_is_written_where_methods_look_at_the_text(profile, wanted, data_independent, chosen):
    assert choose_draft_share(profile, wanted, data_independent=data_independent) == chosen


def test_a_draft_needs_a_part_of_the_budget_and_the_profile_proven():
    for wanted in (0, 1, -0.5, math.nan, "half", True):
        with pytest.raises(ParameterError, match=r"`draft_share` of the profile 'proven' must be .* 0\.01 to 0\.99"):
            choose_draft_share(PROVEN, wanted, data_independent=False)
    with pytest.raises(ProfileError, match="`draft_share` goes with `profile='proven'`"):
        choose_draft_share(STRICT, 0.3, data_independent=False)


@pytest.mark.parametrize("decomposition", list(DECOMPOSERS))
def test_proven_takes_every_decomposition(decomposition):
    result = Obfuscator(profile="proven", decomposition=decomposition, seed=1).obfuscate(TEXT, epsilon_per_word=15)
    drafted = decomposition != "words"  # which looks at no text, and neither does uniform
    assert (result.certificate.terms.draft_share is not None) == drafted
    assert all((chunk.draft is not None) == drafted for chunk in result.chunks)


@pytest.mark.parametrize("distribution", list(DISTRIBUTORS))
def test_proven_takes_every_distribution(distribution, minilm):
    if distribution in ("attention", "gradients", "keybert"):
        pytest.importorskip("torch")
    obfuscator = Obfuscator(profile="proven", distribution=distribution, draft_share=0.9, seed=1)
    result = obfuscator.obfuscate(TEXT, epsilon_per_word=15)
    assert len(result.text.split()) == len(Document.parse(TEXT).words)
    assert (len({chunk.share for chunk in result.chunks}) == 1) == (distribution == "uniform")
    drafted = Document.parse(" ".join(chunk.draft for chunk in result.chunks))
    (scores,) = DISTRIBUTORS.load(distribution)().score([drafted])
    found = [score for chunk in result.chunks for score in chunk.scores]
    assert [score for score in found if score is not None] == pytest.approx([s for s in scores if s is not None])


def test_means_of_words_have_unknown_ones_at_the_center(tiny):
    obfuscator = Obfuscator(tiny)
    vectors = obfuscator.mechanism.vectors
    (place,) = average_words(obfuscator.mechanism, Document.parse("good film xyzzy"), [Chunk(1, 3)])
    np.testing.assert_allclose(place, (vectors.matrix[vectors.find("film")] + vectors.center) / 2, rtol=1e-6)


def test_a_drafter_uses_the_mechanism_itself_where_all_entries_are_words(make_bundle):
    mechanism = Obfuscator(make_bundle(["one", "two", "three"])).mechanism
    assert Drafter(mechanism, None, draft_share=0.5, largest_share=1.0).mechanism is mechanism

import json
import math
from collections import Counter
from functools import cache
from itertools import islice, pairwise

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textveil
from textveil.budget import Budget
from textveil.bundles.bundle import Bundle
from textveil.bundles.spelling import Spelling
from textveil.certificate import Certificate, Tally
from textveil.errors import BudgetError, BundleError, OutputExistsError, ParameterError, ProfileError, UnknownNameError
from textveil.ledger import Ledger
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.decomposition.base import Decomposer
from textveil.methods.decomposition.words import Words
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.distribution.base import Distributor
from textveil.methods.mechanisms.madlib import Madlib
from textveil.methods.mechanisms.returns import draw_entries, measure_returns
from textveil.models.files import ModelFiles
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.profiles import STRICT
from textveil.text.documents import ORDINARY, Chunk, Document, is_emoji
from textveil.text.punctuation import load_punctuation
from textveil.text.stopwords import ENGLISH
from textveil.text.words import WORD

any_text = st.text(st.characters(exclude_categories=()), max_size=120)
sentences = st.lists(
    st.one_of(
        st.sampled_from(["The", "and", "of", "alpha", "Good", "green", "new", "york", "sigma", "don't", "O'Neill"]),
        st.sampled_from(
            ["café", "naïve_1", "+49 170 123", "ünal@x.de", "שלום", "🙂", "東京", "x" * 50, "\x00", "\ud800"]
        ),
        st.text(max_size=8),
    ),
    max_size=15,
).map(" ".join)

MARKERS = [f"zz{letter}{number}" for letter in "abcde" for number in range(10)]
NEVER = ["_", "_zz_", "__zza1", "zz-zz", "..."]  # not words, so never written


@cache
def unknowing(make_bundle):
    """A vocabulary that no text of these tests contains."""
    return make_bundle(["zz" * 20])


@pytest.fixture(scope="module")
def markers(make_bundle):
    """A vocabulary that can be told from the texts of these tests in the output."""
    return make_bundle(MARKERS + NEVER)


@pytest.fixture(scope="module")
def strict(tiny):
    return Obfuscator(tiny, seed=1)


# What is promised.


@given(text=any_text | sentences)
def test_nothing_perturbed_gives_the_identical_string(make_bundle, text):
    """Profile paper keeps what it does not know, and here it knows nothing."""
    result = Obfuscator(unknowing(make_bundle), profile="paper").obfuscate(text, epsilon=5)
    assert result.text == text


@pytest.mark.parametrize("text", ["#the", "@a", "see @A now", "mail a@the.org"])
def test_a_stopword_in_a_code_is_not_kept(markers, text):
    result = Obfuscator(markers, profile="strict").obfuscate(text, epsilon=5)
    assert not {"#", "@"} & set(result.text)
    assert [chunk.outcome for chunk in result.chunks if chunk.original[:1] in "#@" or "@" in chunk.original] == [
        Outcome.DRAWN
    ]


@given(text=any_text | sentences)
@settings(max_examples=300)
def test_strict_releases_no_word_but_stopwords_and_the_mechanisms_choices(markers, text):
    result = Obfuscator(markers, profile="strict", form="keep").obfuscate(text, epsilon=5)
    written = [chunk.original if chunk.replacement is None else chunk.replacement for chunk in result.chunks]
    assert WORD.findall(result.text) == [word for chunk in written for word in WORD.findall(chunk)]
    for chunk in result.chunks:
        if chunk.outcome is Outcome.KEPT_STOPWORD:
            assert chunk.original.isascii()
            assert set(chunk.original.lower().split("'")) <= ENGLISH
        else:
            assert chunk.replacement in MARKERS


BLOCKS = {
    "circled": 0x24D0,
    "circled capitals": 0x24B6,
    "parenthesized": 0x249C,
    "squared": 0x1F130,
    "negative squared": 0x1F170,
    "negative circled": 0x1F150,
    "regional indicators": 0x1F1E6,
    "mathematical script": 0x1D4D0,
    "mathematical monospace": 0x1D670,
    "full-width": 0xFF41,
    "Braille": 0x2801,
    "tags": 0xE0061,
    "variation selectors": 0xE0100,
    "combining letters": 0x0363,
    "Devanagari signs": 0x093E,
    "Thai signs": 0x0E34,
    "Hebrew points": 0x05B0,
    "Arabic marks": 0x064B,
    "enclosed ideographs": 0x3280,
    "private use": 0xE000,
    "unassigned": 0x0378,
}


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("place", ["{}", "see {} here", "the{} end", "{} the", "a {}{}"])
@pytest.mark.parametrize("form", STRICT.forms)
def test_no_character_of_a_hidden_payload_reaches_the_output(markers, block, place, form):
    payload = "".join(chr(BLOCKS[block] + step) for step in (0, 3, 1, 7))
    text = place.replace("{}", payload)
    result = Obfuscator(markers, form=form).obfuscate(text, epsilon=9)
    assert not set(payload) & set(result.text)
    assert result.text.isascii()
    if result.outcome is DocumentOutcome.NO_WORDS and form == "keep":
        assert result.certificate.tally.dropped_symbols == len(payload)


@given(text=any_text, keep_emoji=st.booleans())
def test_strict_writes_ascii_and_ordinary_punctuation_only(markers, text, keep_emoji):
    result = Obfuscator(markers, form="keep", keep_emoji=keep_emoji).obfuscate(text, epsilon=9)
    for character in result.text:
        assert character.isascii() or character in ORDINARY or (keep_emoji and is_emoji(character))


def test_codes_have_one_replacement_and_no_form(markers):
    text = "Write to bo.b@mail.org or call +1 (555) 123-4567, see https://x.org/a-b?c=1 or @bob!"
    result = Obfuscator(markers).obfuscate(text, epsilon_per_word=2)
    originals = [chunk.original for chunk in result.chunks]
    for code in ("bo.b@mail.org", "+1 (555) 123-4567", "https://x.org/a-b?c=1", "@bob"):
        assert code in originals
    assert not set("@+()/?=-") & set(result.text)
    assert result.certificate.tally.words.total() == len(Document.parse(text).words)


def test_names_among_stopwords_are_perturbed(markers):
    result = Obfuscator(markers).obfuscate("I asked Will of the WHO and AT&T.", epsilon=9)
    kept = [chunk.original for chunk in result.chunks if chunk.outcome is Outcome.KEPT_STOPWORD]
    assert kept == ["I", "of", "the", "and"]
    paper = Obfuscator(markers, profile="paper").obfuscate("I asked Will of the WHO and AT&T.", epsilon=9)
    assert [c.original for c in paper.chunks if c.outcome is Outcome.KEPT_STOPWORD] == (
        ["I", "Will", "of", "the", "WHO", "and", "AT", "T"]
    )


@given(text=any_text | sentences)
def test_with_stopwords_perturbed_every_word_is_the_mechanisms_choice(markers, text):
    result = Obfuscator(markers, stopwords="perturb").obfuscate(text, epsilon=5)
    assert set(WORD.findall(result.text.lower())) <= set(MARKERS)


@given(text=any_text | sentences)
def test_bare_proven_writes_choices_and_single_spaces_only(markers, text):
    result = Obfuscator(markers, profile="proven", form="bare").obfuscate(text, epsilon=5)
    words = result.text.split(" ") if result.text else []
    assert set(words) <= set(MARKERS)
    assert len(words) == len(Document.parse(text).words)


@given(text=any_text | sentences)
def test_plain_proven_is_a_function_of_the_choices(markers, text):
    result = Obfuscator(markers, profile="proven").obfuscate(text, epsilon=5)
    assert result.certificate.terms.form == "plain"
    assert [result.text] == load_punctuation().write_all([[chunk.replacement for chunk in result.chunks]])
    assert Document.parse(result.text).words == tuple(chunk.replacement for chunk in result.chunks)


def test_plain_strict_writes_nothing_of_the_form(tiny):
    texts = ["The alpha, and (beta)! 🙂", "the  Alpha and... BETA"]
    results = [
        Obfuscator(tiny, decomposition="words", form="plain", seed=1).obfuscate(text, epsilon_per_word=5)
        for text in texts
    ]
    assert results[0].text == results[1].text
    assert results[0].text.startswith("The ")
    tally = results[0].certificate.tally
    assert (tally.symbols, tally.dropped_symbols, tally.words[Outcome.KEPT_STOPWORD]) == (0, 0, 2)


def test_emoji_are_part_of_the_form(tiny):
    with pytest.raises(ParameterError, match="`keep_emoji` needs `form='keep'`"):
        Obfuscator(tiny, form="plain", keep_emoji=True)


@given(text=any_text | sentences)
def test_paper_counts_every_word_in_clear_by_its_reason(tiny, text):
    result = Obfuscator(tiny, profile="paper").obfuscate(text, epsilon=5)
    document = Document.parse(text)
    vocabulary = tiny.vectors("words")
    expected = Counter(
        Outcome.KEPT_STOPWORD if word in ENGLISH else Outcome.PERTURBED if word in vocabulary else Outcome.KEPT_UNKNOWN
        for word in document.words
    )
    assert result.certificate.tally.words == expected
    clear = [chunk for chunk in result.chunks if chunk.outcome.in_clear]
    assert all(chunk.replacement is None for chunk in clear)
    assert sum(chunk.chunk.size for chunk in clear) == expected.total() - expected[Outcome.PERTURBED]


@given(text=any_text | sentences, epsilon=st.floats(1e-3, 1e6))
def test_shares_sum_to_the_budget_and_belong_to_words_that_take_part(tiny, text, epsilon):
    result = Obfuscator(tiny, largest_share=math.inf).obfuscate(text, epsilon=epsilon)
    shares = [chunk.share for chunk in result.chunks]
    takes_part = [chunk for chunk in result.chunks if chunk.outcome is not Outcome.KEPT_STOPWORD]
    assert math.isclose(math.fsum(shares), epsilon if takes_part else 0.0, rel_tol=1e-9)
    assert all(chunk.share == 0 for chunk in result.chunks if chunk.outcome is Outcome.KEPT_STOPWORD)


@given(texts=st.tuples(sentences, sentences))
def test_under_proven_shares_depend_on_the_number_of_words_only(tiny, texts):
    first, second = (Obfuscator(tiny, profile="proven").obfuscate(text, epsilon=7) for text in texts)
    shares = [[(chunk.chunk, chunk.share) for chunk in result.chunks] for result in (first, second)]
    size = min(map(len, shares))
    if len(shares[0]) == len(shares[1]):
        assert shares[0] == shares[1]
    assert [chunk for chunk, _ in shares[0][:size]] == [chunk for chunk, _ in shares[1][:size]]


@pytest.mark.parametrize("profile", ["strict", "paper", "proven"])
def test_excluded_entries_are_perturbed_and_never_written(tiny, profile):
    texts = ["sigma tau alpha"] * 200
    written = Counter()
    for result in Obfuscator(tiny, profile=profile, seed=4).obfuscate_all(texts, epsilon=90):
        written.update(WORD.findall(result.text))
        assert result.certificate.tally.words[Outcome.PERTURBED] == 3
    assert not {"sigma", "tau"} & set(written)


# What it does.


def test_an_example(tiny):
    text = "The  GOOD film, and Xyzzy!"
    kept, result = (
        Obfuscator(tiny, seed=1, largest_share=math.inf, form=form).obfuscate(text, epsilon=30_000)
        for form in ("keep", None)
    )
    drawn = result.chunks[-1].replacement
    assert kept.text == f"The  good film, and {drawn}!"
    assert result.text.replace(",", "") == f"The good film and {drawn}."
    assert [chunk.outcome.value for chunk in result.chunks] == [
        "kept_stopword",
        "perturbed",
        "perturbed",
        "kept_stopword",
        "drawn",
    ]
    assert [chunk.original for chunk in result.chunks] == ["The", "GOOD", "film", "and", "Xyzzy"]
    assert [chunk.share for chunk in result.chunks] == [0, 10_000, 10_000, 0, 10_000]
    assert result.outcome is DocumentOutcome.OBFUSCATED


def test_a_little_budget_changes_words(strict):
    texts = ["good film story plot actor scene music"] * 50
    changed = sum(result.text != texts[0] for result in strict.obfuscate_all(texts, epsilon=0.1))
    assert changed == 50


@pytest.mark.parametrize(
    ("text", "outcome", "expected"),
    [
        ("", DocumentOutcome.NO_WORDS, ""),
        (" ... 🙂\n", DocumentOutcome.NO_WORDS, ""),
        ("The and of!", DocumentOutcome.ONLY_STOPWORDS, "The and of."),
        (None, DocumentOutcome.MISSING, ""),
    ],
)
def test_texts_with_nothing_to_perturb_give_a_result_with_their_outcome(strict, text, outcome, expected):
    (result,) = strict.obfuscate_all([text], epsilon=1)
    assert (result.text, result.outcome) == (expected, outcome)
    assert result.certificate.tally.documents == {outcome: 1}


def test_paper_says_what_it_let_through(tiny):
    result = Obfuscator(tiny, profile="paper", seed=1).obfuscate("good Xyzzy", epsilon=1)
    assert result.outcome is DocumentOutcome.PARTLY_IN_CLEAR
    assert result.text.endswith(" Xyzzy")


def test_unknown_words_are_drawn_alike(make_bundle):
    """What is written for an unknown word does not depend on which one it is."""
    bundle = make_bundle(MARKERS)
    first, second = (Obfuscator(bundle, seed=3).obfuscate(f"{word} " * 200, epsilon=4000) for word in ("abc", "xyz"))
    assert first.text == second.text


# Batches, streams, seeds.


TEXTS = ["alpha beta", None, "", "the", "gamma xyzzy delta " * 40, "omega", "good film", None, "bad story"] * 3


@pytest.fixture(scope="module")
def spelled(make_bundle):
    """A vocabulary with a spelling table."""
    words = [first + middle + end for first in "bdklmnrst" for middle in "aeiou" for end in ("nd", "nds", "nding")]
    return make_bundle(words, spelling=True)


def write_certainly(bundle, text, **options):
    """The replacements at a budget that leaves no noise: the entries nearest to the positions of the words."""
    obfuscator = Obfuscator(bundle, decomposition="words", seed=1, largest_share=math.inf, **options)
    return [chunk.replacement for chunk in obfuscator.obfuscate(text, epsilon=1e9).chunks]


def find_nearest(bundle, positions):
    vectors = bundle.vectors("words")
    return [vectors.entries[row] for row in vectors.nearest(positions, np.ones(len(positions)))]


@pytest.mark.parametrize("options", [{}, {"profile": "proven"}, {"mechanism_options": {"dimensions": 11}}])
def test_unknown_words_are_placed_by_their_spelling(spelled, options):
    expected = find_nearest(spelled, spelled.spelling("words").place(["bandings", "sundance", "lindt", "xyzzy"]))
    assert len(set(expected)) == 4
    written = write_certainly(spelled, "bandings tand sundance lindt rend xyzzy", **options)
    if not options.get("mechanism_options"):
        assert written == [*expected[:1], "tand", *expected[1:3], "rend", expected[3]]
    else:  # the nearest entry may be another one in fewer dimensions
        assert (written[1], written[4]) == ("tand", "rend")
        assert len(set(written)) == 6


def test_a_code_stays_at_the_center_whatever_its_spelling(spelled):
    (center,) = find_nearest(spelled, spelled.vectors("words").center[None].astype(np.float64))
    assert write_certainly(spelled, "tand bandings@sending.org, rend") == ["tand", center, "rend"]
    assert write_certainly(spelled, "@bandings") == [center]
    assert write_certainly(spelled, "bandings") != [center]


def test_paper_keeps_unknown_words_in_clear_whatever_their_spelling(spelled):
    result = Obfuscator(spelled, decomposition="words", profile="paper", seed=1).obfuscate("bandings tand", epsilon=9)
    assert [chunk.outcome for chunk in result.chunks] == [Outcome.KEPT_UNKNOWN, Outcome.PERTURBED]


def test_whether_a_word_is_known_plays_no_part_beyond_its_position(spelled, monkeypatch):
    tand = spelled.vectors("words").place(np.array([spelled.vectors("words").find("tand")]))
    monkeypatch.setattr(Spelling, "place", lambda _, keys: np.repeat(tand, len(keys), axis=0))
    texts = [
        [each.text for each in Obfuscator(spelled, seed=5).obfuscate_all([word] * 50, epsilon=9)]
        for word in ("tand", "xyzzy", "sundance")
    ]
    assert texts[0] == texts[1] == texts[2]
    assert len(set(texts[0])) > 5


def test_positions_of_unknown_words_do_not_depend_on_the_batch_size(spelled):
    texts = ["bandings tand sundance", "lindt", "", "rend xyzzy bandings"] * 4
    runs = [
        [each.text for each in Obfuscator(spelled, seed=3).obfuscate_all(texts, epsilon=40, batch_size=size)]
        for size in (1, 5, 100)
    ]
    assert runs[0] == runs[1] == runs[2]


def run(tiny, batch_size, **options):
    results = Obfuscator(tiny, seed=8).obfuscate_all(TEXTS, epsilon=25, batch_size=batch_size, **options)
    return [(result.text, result.outcome) for result in results]


def test_results_are_aligned_and_do_not_depend_on_the_batch_size(tiny, monkeypatch):
    expected = run(tiny, 256)
    assert len(expected) == len(TEXTS)
    assert [outcome is DocumentOutcome.MISSING for _, outcome in expected] == [text is None for text in TEXTS]
    for batch_size in (1, 2, 5):
        assert run(tiny, batch_size) == expected
    monkeypatch.setattr("textveil.text.batches.LONG_BATCH", 100)
    assert run(tiny, 256) == expected


def test_documents_can_be_numbered_from_outside(tiny):
    whole = run(tiny, 4)
    rest = Obfuscator(tiny, seed=8).obfuscate_all(TEXTS[10:], epsilon=25, first_document=10)
    assert [(result.text, result.outcome) for result in rest] == whole[10:]


def test_without_a_seed_no_two_runs_agree(tiny):
    text = "alpha beta gamma delta " * 5
    one, two = (Obfuscator(tiny).obfuscate(text, epsilon=1).text for _ in range(2))
    assert one != two


def test_equal_texts_of_a_seeded_run_get_noise_of_their_own(tiny):
    obfuscator = Obfuscator(tiny, seed=1)
    text = "alpha beta gamma delta " * 5
    assert obfuscator.obfuscate(text, epsilon=1).text != obfuscator.obfuscate(text, epsilon=1).text


@pytest.mark.parametrize("mechanism", ["madlib", "exponential", "fluent", "mahalanobis"])
@pytest.mark.parametrize("profile", ["strict", "paper", "proven"])
def test_texts_that_come_again_in_a_batch_are_treated_as_others(tiny_with_prior, profile, mechanism):
    obfuscator = Obfuscator(tiny_with_prior, decomposition="words", mechanism=mechanism, profile=profile, seed=1)
    texts = ["The alpha, xyzzy beta!", "alpha", "The alpha, xyzzy beta!", None, "", "alpha", "The alpha, xyzzy beta!"]
    together, alone = (
        list(obfuscator.obfuscate_all(texts, epsilon=5, batch_size=size, first_document=0)) for size in (10, 1)
    )
    assert together == alone
    assert len({result.text for result in together[::2] if len(result.chunks) > 1}) > 1


def test_a_text_is_planned_once_per_batch(tiny, monkeypatch):
    obfuscator, planned = Obfuscator(tiny, decomposition="words"), []
    plan = obfuscator.planner.plan
    monkeypatch.setattr(obfuscator.planner, "plan", lambda *given: planned.append(len(given[0])) or plan(*given))
    list(obfuscator.obfuscate_all(["alpha", "beta", "alpha"] * 4, epsilon=5, batch_size=6))
    assert planned == [2, 2]


def test_texts_are_read_as_they_are_needed(tiny):
    taken = 0

    def texts():
        nonlocal taken
        while True:
            taken += 1
            yield "alpha beta"

    results = Obfuscator(tiny).obfuscate_all(texts(), epsilon=5, batch_size=10)
    assert len(list(islice(results, 25))) == 25
    assert taken == 30


# Decompositions and distributions that look at the text, as later ones will.


class Pairs(Decomposer):
    """Chunks of two words."""

    name = "pmi"

    def decompose(self, documents):
        lengths = [len(document.words) for document in documents]
        return [[Chunk(start, min(start + 2, length)) for start in range(0, length, 2)] for length in lengths]


class ByLength(Distributor):
    """Longer words are more important; very short ones have no score."""

    name = "by_length"
    invert = True

    def score(self, documents):
        return [[float(len(word)) if len(word) > 2 else None for word in document.words] for document in documents]


@pytest.fixture
def extended(monkeypatch):
    for registry, name, cls in ((DECOMPOSERS, "pairs", Pairs), (DISTRIBUTORS, "by_length", ByLength)):
        known = registry.load
        monkeypatch.setattr(registry, "load", lambda n, name=name, cls=cls, known=known: cls if n == name else known(n))


@pytest.fixture(scope="module")
def paired(make_bundle):
    return make_bundle(decomposition="pmi")


def test_known_chunks_of_several_words_stay_whole_and_unknown_ones_back_off(extended, paired):
    obfuscator = Obfuscator(paired, decomposition="pairs", seed=1, largest_share=math.inf, form="keep")
    result = obfuscator.obfuscate("green tea the plot xyzzy of", epsilon=4e6)
    assert [(chunk.original, chunk.outcome.value) for chunk in result.chunks] == [
        ("green tea", "perturbed"),
        ("the", "kept_stopword"),
        ("plot", "perturbed"),
        ("xyzzy", "drawn"),
        ("of", "kept_stopword"),
    ]
    assert result.text.startswith("green tea the plot ")
    assert [chunk.share for chunk in result.chunks] == [2e6, 0, 1e6, 1e6, 0]


def test_paper_lets_unknown_chunks_through_whole(extended, paired):
    result = Obfuscator(paired, decomposition="pairs", profile="paper").obfuscate("good xyzzy, bad plot", epsilon=4)
    assert [chunk.outcome for chunk in result.chunks] == [Outcome.KEPT_UNKNOWN] * 2
    assert result.certificate.tally.words == {Outcome.KEPT_UNKNOWN: 4}


def test_words_without_a_score_are_kept_by_paper_and_perturbed_by_strict(extended, tiny):
    paper, strict = (
        Obfuscator(tiny, distribution="by_length", profile=profile, seed=1, largest_share=math.inf).obfuscate(
            "mu film scene", epsilon=18
        )
        for profile in ("paper", "strict")
    )
    assert paper.certificate.tally.words == {Outcome.KEPT_NO_SHARE: 1, Outcome.PERTURBED: 2}
    assert paper.text.startswith("mu ")
    assert [chunk.share for chunk in paper.chunks] == pytest.approx([0, 10, 8])
    assert strict.certificate.tally.words == {Outcome.PERTURBED: 3}
    assert [chunk.share for chunk in strict.chunks] == pytest.approx([6, 6 * 10 / 9, 6 * 8 / 9])
    assert strict.certificate.as_dict()["allocation"] == "data-dependent"


def test_proven_shows_a_draft_to_methods_that_look_at_the_text(extended, paired):
    obfuscator = Obfuscator(paired, profile="proven", decomposition="pairs", distribution="by_length", seed=1)
    result = obfuscator.obfuscate("good film xyzzy", epsilon=9)
    assert result.certificate.as_dict()["allocation"] == "public given the draft"
    drafted = [word for chunk in result.chunks for word in chunk.draft.split()]
    expected = [float(len(word)) if len(word) > 2 else None for word in drafted]
    assert [score for chunk in result.chunks for score in chunk.scores] == expected
    assert drafted != ["good", "film", "xyzzy"]


# Bad arguments.


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_a_bad_budget_is_refused_before_anything_is_read(strict, epsilon):
    with pytest.raises(BudgetError):
        strict.obfuscate("alpha", epsilon=epsilon)
    with pytest.raises(BudgetError):
        strict.obfuscate_all(iter(()), epsilon=epsilon)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decomposition": "word"}, "Did you mean 'words'"),
        ({"distribution": "unifrom"}, "Did you mean 'uniform'"),
        ({"mechanism": "madlibs"}, "Did you mean 'madlib'"),
        ({"profile": "prove"}, "Did you mean 'proven'"),
        ({"bundle": "eng"}, "Did you mean 'en'"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(options, message):
    with pytest.raises(UnknownNameError, match=message):
        Obfuscator(**options)


def test_a_text_is_a_string(strict):
    with pytest.raises(ParameterError, match="Got int instead"):
        strict.obfuscate(5, epsilon=1)
    with pytest.raises(ParameterError, match="Text 2 must be a string, or None.*Got float"):
        list(strict.obfuscate_all(["secret", 2.5], epsilon=1))


@pytest.mark.parametrize("size", [0, -1, 2.5, None, "a", 10**20])
def test_the_batch_size_is_a_number_of_texts(strict, size):
    with pytest.raises(ParameterError, match="from 1 to"):
        strict.obfuscate_all(["alpha"], epsilon=1, batch_size=size)


def test_a_single_text_is_not_taken_for_many(strict):
    with pytest.raises(ParameterError, match="call obfuscate"):
        strict.obfuscate_all("alpha beta", epsilon=1)


def test_documents_are_numbered_from_zero(strict):
    with pytest.raises(ParameterError, match="`first_document` must be 0 or more"):
        strict.obfuscate_all(["alpha"], epsilon=1, first_document=-1)


@pytest.mark.parametrize("name", ["distribution", "profile"])
def test_a_name_that_is_none(name):
    with pytest.raises(ParameterError, match=f"no profile None|`{name}` must be a name or a {name}. Got NoneType"):
        Obfuscator(**{name: None})


def test_a_bundle_that_is_none():
    with pytest.raises(ParameterError, match="a name or a folder"):
        Obfuscator(None)


def test_a_result_can_be_logged_without_its_original(strict):
    assert "Grzybowski" not in repr(strict.obfuscate("Grzybowski was here", epsilon=5))


def test_a_bundle_without_the_decomposition(make_bundle):
    with pytest.raises(BundleError, match="It has: pmi"):
        Obfuscator(make_bundle(decomposition="pmi"), decomposition="words")


def test_the_decomposition_unless_told(tiny):
    assert Obfuscator().terms.decomposition["name"] == "pmi"
    assert Obfuscator(profile="proven").terms.decomposition["name"] == "words"  # chunks must not depend on the text
    assert Obfuscator(tiny).terms.decomposition["name"] == "words"  # the bundle has nothing else
    with pytest.raises(UnknownNameError):
        Obfuscator(decomposition="")


def test_a_megabyte_without_a_space(strict):
    result = strict.obfuscate("x" * 1_000_000, epsilon=5)
    assert result.outcome is DocumentOutcome.OBFUSCATED
    assert len(result.text) < 20


def test_entries_with_capitals_are_written_in_lower_case(make_bundle):
    bundle = make_bundle(["London", "New_York"])
    result = Obfuscator(bundle).obfuscate("a place", epsilon=1)
    assert result.text in ("A london.", "A new york.")


# The decompositions of the shipped bundle.

REVIEW = "We don't live in New York City. It was a box office hit, and Dr. Xyzzyx can't complain: out of the question!"


@pytest.mark.parametrize("decomposition", list(DECOMPOSERS))
@pytest.mark.parametrize("profile", ["strict", "paper"])
def test_every_decomposition_obfuscates(decomposition, profile):
    obfuscator = Obfuscator(decomposition=decomposition, profile=profile, seed=3, largest_share=math.inf)
    result = obfuscator.obfuscate(REVIEW, epsilon=200)
    document = Document.parse(REVIEW)
    covered = [position for chunk in result.chunks for position in range(chunk.chunk.start, chunk.chunk.stop)]
    assert covered == list(range(len(document.words)))
    assert sum(chunk.share for chunk in result.chunks) == pytest.approx(200, rel=1e-9)
    certificate = result.certificate.as_dict()
    assert certificate["decomposition"]["name"] == decomposition
    assert certificate["allocation"] == (
        "public given the kept stopwords" if decomposition == "words" else "data-dependent"
    )
    kept = [chunk.original for chunk in result.chunks if chunk.outcome is Outcome.KEPT_STOPWORD]
    assert ("don't" in kept) == (decomposition != "words")
    if profile == "strict":
        assert not {Outcome.KEPT_UNKNOWN, Outcome.KEPT_NO_SHARE} & {chunk.outcome for chunk in result.chunks}


@pytest.mark.parametrize("decomposition", ["pmi", "llr", "tscore", "pos", "wordnet"])
def test_a_known_expression_is_replaced_as_a_whole_and_stays_at_a_huge_budget(decomposition):
    obfuscator = Obfuscator(decomposition=decomposition, seed=3, largest_share=math.inf)
    result = obfuscator.obfuscate("He left after High School.", epsilon=1e6)
    assert [(chunk.original, chunk.outcome) for chunk in result.chunks][-1] == ("High School", Outcome.PERTURBED)
    assert result.text == "He left after high school."


def test_a_tagger_is_for_phrases_only():
    with pytest.raises(ParameterError, match="decomposition 'pmi' has no options. Got `tagger`"):
        Obfuscator(decomposition_options={"tagger": "nltk"})
    chosen = Obfuscator(decomposition="pos", decomposition_options={"tagger": "textveil"}).terms.decomposition
    assert chosen == {"name": "pos", "options": {"tagger": "textveil"}, "model": None}


class HalfScored(Distributor):
    """Scores every other word."""

    name = "half"

    def score(self, documents):
        return [[None if place % 2 else 1.0 for place in range(len(document.words))] for document in documents]


def test_a_distributor_may_be_made_already(tiny):
    result = Obfuscator(tiny, distribution=HalfScored()).obfuscate("alpha beta gamma the", epsilon=6)
    assert [chunk.share for chunk in result.chunks] == [2, 2, 2, 0]  # beta has the mean of the others
    assert [chunk.scores for chunk in result.chunks] == [(1.0,), (None,), (1.0,), (None,)]
    certificate = result.certificate.as_dict()
    assert certificate["words_without_score"] == 1  # a stopword needs none
    assert certificate["distribution"] == {"name": "half", "options": {}, "model": None}
    assert certificate["allocation"] == "data-dependent"


def test_a_word_without_a_score_in_the_profile_paper(tiny):
    result = Obfuscator(tiny, distribution=HalfScored(), profile="paper").obfuscate("alpha beta gamma", epsilon=6)
    assert [chunk.share for chunk in result.chunks] == [3, 0, 3]
    assert result.chunks[1].outcome is Outcome.KEPT_NO_SHARE


def test_options_of_a_distribution(tiny, make_encoder):
    encoder = make_encoder()
    obfuscator = Obfuscator(tiny, distribution="gradients", distribution_options={"model": encoder, "steps": 2})
    certificate = obfuscator.obfuscate("alpha beta", epsilon=6).certificate.as_dict()
    assert certificate["distribution"]["options"] == {"steps": 2, "precision": "float32"}
    assert certificate["distribution"]["model"] == {
        "name": "Bert",
        "sha256": ModelFiles.find(encoder).sha256,
        "device": "cpu",
    }
    assert {"torch", "transformers"} <= set(certificate["versions"])
    assert str(encoder) not in json.dumps(certificate)


def test_options_that_do_not_fit(tiny):
    with pytest.raises(ParameterError, match="distribution 'uniform' has no options. Got `model`"):
        Obfuscator(tiny, distribution_options={"model": "x"})
    with pytest.raises(ParameterError, match="this one is built already"):
        Obfuscator(tiny, distribution=HalfScored(), distribution_options={"model": "x"})


def test_a_draft_is_for_the_profile_proven_only(tiny):
    with pytest.raises(ProfileError, match="`draft_share` goes with `profile='proven'`. The profile 'strict' computes"):
        Obfuscator(tiny, distribution=HalfScored(), draft_share=0.2)
    assert Obfuscator(tiny, profile="proven").draft_share is None
    assert Obfuscator(tiny, profile="proven", draft_share=0.2).draft_share == 0.2


def test_methods_may_be_built_already(tiny):
    words = Words(tiny)
    built = Obfuscator(tiny, decomposition=words, mechanism=Madlib(tiny.vectors("words")), seed=1)
    named = Obfuscator(tiny, decomposition="words", mechanism="madlib", seed=1)
    assert built.obfuscate("alpha beta", epsilon=9).text == named.obfuscate("alpha beta", epsilon=9).text
    assert built.terms == named.terms


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decomposition": HalfScored()}, "`decomposition` must be a decomposition. Got the distribution 'half'"),
        ({"distribution": 3}, "`distribution` must be a name or a distribution. Got int"),
    ],
)
def test_a_method_of_the_wrong_kind(tiny, options, message):
    with pytest.raises(ParameterError, match=message):
        Obfuscator(tiny, **options)


def test_a_mechanism_that_was_built_on_other_vectors(tiny):
    with pytest.raises(ParameterError, match="built on other vectors"):
        Obfuscator(tiny, mechanism=Madlib(Bundle.load("en").vectors("words")))


def test_a_budget_per_word_counts_the_words_that_take_part(tiny):
    obfuscator = Obfuscator(tiny)
    results = list(obfuscator.obfuscate_all(["the alpha and the beta", "alpha", "the", "", None], epsilon_per_word=2))
    assert [result.certificate.tally.largest_budget for result in results] == [4, 2, 0, 0, 0]
    assert [[chunk.share for chunk in result.chunks if chunk.share] for result in results] == [[2, 2], [2], [], [], []]
    perturbing = Obfuscator(tiny, stopwords="perturb").obfuscate("the alpha", epsilon_per_word=2)
    assert perturbing.certificate.tally.largest_budget == 4


@pytest.mark.parametrize("profile", ["strict", "proven"])
def test_no_document_changes_the_budget_of_another(tiny, profile):
    texts = ["alpha beta", "gamma"]
    obfuscator = Obfuscator(tiny, profile=profile)
    alone = [[c.share for c in obfuscator.obfuscate(text, epsilon_per_word=2).chunks] for text in texts]
    crowd = [*texts, "the of and " * 5000]
    together = list(obfuscator.obfuscate_all(crowd, epsilon_per_word=2))[:2]
    assert [[chunk.share for chunk in result.chunks] for result in together] == alone


def test_the_papers_average_is_an_explicit_choice(tiny):
    texts = ["alpha beta gamma", "delta"]
    strict = Obfuscator(tiny, largest_share=math.inf)
    results = list(strict.obfuscate_all(texts, epsilon_per_word=3, length="average"))
    assert [result.certificate.tally.largest_budget for result in results] == [6, 6]
    assert results[0].certificate.budget.average_length == 2
    assert any("average length" in point for point in results[0].certificate.not_protected)
    by_default = list(Obfuscator(tiny, profile="paper").obfuscate_all(texts, epsilon_per_word=3))
    assert [result.certificate.tally.largest_budget for result in by_default] == [6, 6]
    with pytest.raises(ProfileError, match="does not allow `length='average'`"):
        Obfuscator(tiny, profile="proven").obfuscate_all(texts, epsilon_per_word=3, length="average")


@pytest.mark.parametrize("epsilon", [1e308, 1e6])
@pytest.mark.parametrize("profile", ["strict", "proven"])
def test_no_budget_is_large_enough_to_give_texts_back(epsilon, profile):
    obfuscator = Obfuscator(profile=profile, seed=1)
    words = "movie story actor music scene plot director cast film comedy".split()
    results = list(obfuscator.obfuscate_all([" ".join(words)] * 40, epsilon=epsilon))
    tally = Tally.over(result.certificate.tally for result in results)
    assert tally.capped == tally.words.total()
    assert tally.largest_spent <= 10 * obfuscator.largest_share * (1 + 1e-9)
    assert tally.largest_budget == epsilon
    assert 0.2 < tally.returned / tally.words.total() < 0.8  # half of the words, on average over the vocabulary
    lifted = Obfuscator(profile=profile, largest_share=math.inf, seed=1).obfuscate(" ".join(words), epsilon=1e6)
    assert (Document.parse(lifted.text).words, lifted.outcome) == (tuple(words), DocumentOutcome.RETURNED)


def test_the_largest_share_is_the_one_at_which_half_of_the_words_return():
    obfuscator = Obfuscator(decomposition="words")
    entries = draw_entries(obfuscator.mechanism, obfuscator.bundle.counts("words"))
    shares = [obfuscator.find_share(rate) for rate in (0.05, 0.2, 0.5)]
    assert obfuscator.largest_share == shares[-1]
    at = [measure_returns(obfuscator.mechanism, share, entries) for share in shares]
    assert at == pytest.approx([0.05, 0.2, 0.5], abs=0.03)


@pytest.mark.parametrize(
    ("bundle", "profile", "expected"),
    [("tiny", "strict", "madlib"), ("tiny_with_prior", "strict", "fluent"), ("tiny_with_prior", "proven", "fluent")],
)
def test_the_default_mechanism_needs_a_language_model(request, bundle, profile, expected):
    obfuscator = Obfuscator(request.getfixturevalue(bundle), profile=profile)
    assert obfuscator.terms.mechanism["name"] == expected


def test_the_profile_paper_has_the_mechanism_of_the_paper(tiny_with_prior):
    assert Obfuscator(tiny_with_prior, profile="paper").terms.mechanism["name"] == "madlib"


def test_levels_are_budgets(tiny):
    obfuscator = Obfuscator(tiny, seed=1)
    default = obfuscator.obfuscate("alpha beta").certificate.budget
    medium = obfuscator.obfuscate("alpha beta", level="medium").certificate.budget
    assert default == medium
    assert medium.epsilon_per_word == obfuscator.find_share(0.2)
    with pytest.raises(BudgetError, match="Set `level`, `epsilon` or `epsilon_per_word`"):
        obfuscator.obfuscate("alpha", level="low", epsilon=3)


@pytest.mark.parametrize("rate", [0, 1, -0.1, math.nan, True, "0.2"])
def test_a_rate_is_a_share_of_words(tiny, rate):
    with pytest.raises(ParameterError, match="`rate` must be greater than 0 and less than 1"):
        Obfuscator(tiny).find_share(rate)


@pytest.mark.parametrize("share", [0, -1, math.nan, True, "9"])
def test_a_largest_share_that_is_not_a_positive_number(tiny, share):
    with pytest.raises(ParameterError, match="`largest_share` must be a positive number"):
        Obfuscator(tiny, largest_share=share)


def test_what_is_cut_off_is_not_spent(tiny):
    result = Obfuscator(tiny, largest_share=1.5).obfuscate("alpha beta the", epsilon=10)
    assert [chunk.share for chunk in result.chunks] == [1.5, 1.5, 0]
    tally = result.certificate.tally
    assert (tally.largest_budget, tally.largest_spent, tally.capped) == (10, 3, 2)


def test_the_error_for_a_bad_budget_says_what_the_bundle_supports():
    with pytest.raises(BudgetError, match=r"With this bundle, the level high has 6.09 per word, and low has 20.5"):
        Obfuscator().obfuscate("tea", epsilon=-1)


def test_a_document_says_how_much_came_back(tiny):
    lifted = Obfuscator(tiny, largest_share=math.inf, form="keep", seed=1)
    result = lifted.obfuscate("The Alpha, beta", epsilon=1e6)
    assert (result.text, result.outcome) == ("The alpha, beta", DocumentOutcome.RETURNED)
    assert (result.certificate.tally.returned, result.certificate.tally.return_bands) == (2, {"100%": 1})
    changed = Obfuscator(tiny, seed=1).obfuscate("gamma " * 40, epsilon=0.1)
    assert changed.outcome is DocumentOutcome.OBFUSCATED
    assert changed.certificate.tally.returned < 20


@pytest.mark.parametrize(
    ("texts", "hint"),
    [
        ({"a": "b"}, "with its values"),
        ("text", "call obfuscate"),
        (b"text", "call obfuscate"),
        (type("Frame", (), {"columns": ["text"]})(), "call textveil.pandas.obfuscate or textveil.polars.obfuscate"),
        (3, "Got int instead"),
        (None, "Got NoneType instead"),
        (np.array("text"), "Got ndarray instead"),
    ],
)
def test_what_is_not_a_list_of_texts(tiny, texts, hint):
    with pytest.raises(ParameterError, match=f"`texts` must be several texts.*{hint}"):
        Obfuscator(tiny).obfuscate_all(texts, epsilon=1)


@pytest.mark.parametrize(
    "contain",
    [
        list,
        tuple,
        iter,
        np.array,
        pandas.Series,
        polars.Series,
        pyarrow.array,
        lambda texts: dict.fromkeys(texts).keys(),
    ],
)
def test_several_texts_may_be_in_any_container_and_a_single_call_says_where_they_go(tiny, contain):
    texts = ["alpha beta", "gamma"]
    done = Obfuscator(tiny, seed=1).obfuscate_all(contain(texts), epsilon=5)
    assert [result.text for result in done] == [
        result.text for result in Obfuscator(tiny, seed=1).obfuscate_all(texts, epsilon=5)
    ]
    with pytest.raises(ParameterError, match=r"A text must be a string.*For several texts, call Obf.*obfuscate_all"):
        textveil.obfuscate(contain(texts), bundle=tiny, epsilon=5)


def test_neither_a_result_nor_an_obfuscator_reveals_a_text_when_it_is_logged(tiny):
    obfuscator = Obfuscator(tiny, seed=1)
    result = obfuscator.obfuscate("the alpha", epsilon=5)
    assert repr(result) == "Obfuscation(obfuscated, budget 5; words: 1 perturbed, 1 kept_stopword)"
    assert repr(obfuscator) == "Obfuscator('tiny', words, uniform, madlib, profile 'strict')"


def test_a_result_as_json(tiny):
    result = Obfuscator(tiny, seed=1).obfuscate("the alpha", epsilon=5)
    values = json.loads(json.dumps(result.as_dict()))
    assert values["text"] == result.text
    assert values["outcome"] == "obfuscated"
    assert values["chunks"][0] == {
        "chunk": "the",
        "scores": [1.0],
        "share": 0.0,
        "outcome": "kept_stopword",
        "replacement": None,
    }
    assert values["certificate"] == result.certificate.as_dict()


def test_a_file_from_python(tiny, tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("id,body\n1,alpha beta\n2,the\n")
    seen = []
    report = Obfuscator(tiny, seed=1).obfuscate_file(
        source,
        target,
        epsilon=0.01,
        column="body",
        outcome_column="what",
        certificate=tmp_path / "c.json",
        progress=lambda *done: seen.append(done),
    )
    assert [line.split(",")[-1] for line in target.read_text().splitlines()] == ["what", "obfuscated", "only_stopwords"]
    assert (report.documents, seen[-1][1]) == (2, 2)
    assert Certificate.load(tmp_path / "c.json").as_dict() == report.certificate.as_dict()
    with pytest.raises(OutputExistsError, match="exists"):
        Obfuscator(tiny).obfuscate_file(str(source), str(target), epsilon=5, column="body")


@pytest.mark.parametrize("distribution", ["uniform", "yake"])
def test_fluent_writes_what_follows_in_the_language_with_every_distribution(tiny_with_prior, distribution):
    """Shares come first, so a distribution that reads the whole text works, too."""
    entries = tiny_with_prior.vectors("words").entries
    text = " ".join([entries[3]] * 60)
    options = {"mechanism": "fluent", "distribution": distribution, "decomposition": "words", "seed": 5}
    (result,) = Obfuscator(tiny_with_prior, **options).obfuscate_all([text], epsilon_per_word=0.01)
    written = [entries.index(chunk.replacement) for chunk in result.chunks]
    following = np.mean([after == before + 1 for before, after in pairwise(written)])
    assert following > 0.6
    assert result.certificate.terms.mechanism["model"]["name"] == "prior"


def test_fluent_knows_kept_stopwords_and_nothing_after(tiny_with_prior):
    obfuscator = Obfuscator(tiny_with_prior, mechanism="fluent", decomposition="words", seed=5)
    texts = [f"the alpha and {word}" for word in ("beta", "gamma")]
    first, second = (next(obfuscator.obfuscate_all([text], epsilon=1, first_document=0)) for text in texts)
    assert first.chunks[1].replacement == second.chunks[1].replacement


@pytest.mark.parametrize("mechanism", ["exponential", "fluent", "mahalanobis"])
def test_the_same_seed_gives_the_same_texts_for_every_batch_size(tiny_with_prior, mechanism):
    texts = [" ".join(["alpha", "beta", "xyzzy", "the"][: 1 + n % 4] * (1 + n % 7)) for n in range(30)]
    obfuscator = Obfuscator(tiny_with_prior, mechanism=mechanism, decomposition="words", seed=5)
    found = [
        [r.text for r in obfuscator.obfuscate_all(texts, epsilon=9, batch_size=size, first_document=0)]
        for size in (1, 7, 30)
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("mechanism", ["vickrey", "gumbel"])
def test_a_mechanism_without_a_guarantee_is_refused_outside_the_profile_paper(tiny, mechanism):
    for profile in ("strict", "proven"):
        with pytest.raises(ProfileError, match=rf"'{mechanism}' has no guarantee.*`profile='paper'`"):
            Obfuscator(tiny, mechanism=mechanism, profile=profile)
    result = Obfuscator(tiny, mechanism=mechanism, profile="paper", seed=1).obfuscate("alpha beta", epsilon=5)
    assert result.certificate.terms.mechanism["guarantee"] == "none"


def test_the_distances_of_a_certificate_are_those_of_the_projection(tiny):
    whole, few = (
        Obfuscator(tiny, mechanism="madlib", mechanism_options=options).terms.distance["pairs"]["0.5"]
        for options in ({}, {"dimensions": 3})
    )
    assert few < 0.8 * whole


def test_a_bundle_without_a_language_model_names_the_command_that_builds_one(tiny):
    with pytest.raises(BundleError, match="textveil prepare prior CORPUS --bundle BUNDLE --output NEW"):
        Obfuscator(tiny, mechanism="fluent")


def test_a_plan_is_what_a_text_is_obfuscated_by(tiny):
    obfuscator = Obfuscator(tiny, decomposition="words", largest_share=math.inf, seed=1)
    budget = Budget(epsilon_per_word=2.0, length="own")
    plan, request = obfuscator.plan("The alpha, xyzzy", budget)
    result = obfuscator.obfuscate("The alpha, xyzzy", epsilon_per_word=2.0)
    assert [(planned.chunk, planned.share, planned.outcome) for planned in plan.chunks] == [
        (chunk.chunk, chunk.share, chunk.outcome) for chunk in result.chunks
    ]
    assert request.rows.tolist() == [tiny.vectors("words").find("alpha"), -1]
    assert request.shares.tolist() == [2.0, 2.0]


def test_a_largest_share_below_the_budget_limits_the_stated_deniability(tiny):
    obfuscator = Obfuscator(tiny, decomposition="words", mechanism="exponential", largest_share=3.0)
    obfuscator.add_deniability(Budget(epsilon=2.0))
    assert [at["share"] for at in obfuscator.terms.deniability["shares"]] == [2.0]
    obfuscator.add_deniability(Budget(epsilon=60.0))
    assert [at["share"] for at in obfuscator.terms.deniability["shares"]] == [3.0]


@pytest.mark.parametrize(
    "options", [{"profile": "paper"}, {"profile": "paper", "mechanism": "vickrey"}], ids=["in_clear", "no_guarantee"]
)
def test_a_budget_per_document_needs_a_bound(tiny, tmp_path, options):
    limited = Ledger(tmp_path / "spent.db", budget_per_document=5)
    with pytest.raises(ProfileError, match="Neither has a bound to limit"):
        Obfuscator(tiny, ledger=limited, **options)
    Obfuscator(tiny, ledger=Ledger(tmp_path / "other.db"), **options)


def test_deniability_is_not_stated_for_drafts(tiny):
    with pytest.raises(ParameterError, match="not known for texts that are drafted first"):
        Obfuscator(tiny, profile="proven", draft_share=0.2).add_deniability(Budget(5.0))


def test_a_ledger_charges_a_drafted_text_its_whole_budget(tiny, tmp_path):
    """What is spent of it depends on the draft, and a refusal must not."""
    ledger = Ledger(tmp_path / "spent.db")
    drafted = Obfuscator(tiny, profile="proven", draft_share=0.2, largest_share=1.0, ledger=ledger)
    drafted.obfuscate("alpha beta", epsilon=6)
    assert [entry.epsilon for entry in ledger.find("alpha beta")] == [6.0]

import math

import pytest

from textveil.budget import Budget
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.output import Writer, finish_all

WRITER = Writer("keep", cleans_gaps=True, keep_emoji=False)


@pytest.fixture
def end(tiny):
    """Finishes a text with given choices of the mechanism."""
    obfuscator = Obfuscator(tiny, form="keep", largest_share=math.inf)

    def end(text, *chosen, missing=False):
        plan, _ = obfuscator.plan(text, Budget(6.0))
        return next(
            finish_all([plan], [chosen], writer=WRITER, terms=obfuscator.terms, budget=Budget(6.0), missing=[missing])
        )

    return end


def test_choices_are_written_described_and_counted(end):
    result = end("The Alpha, xyzzy!", "green_tea", "beta")
    assert (result.text, result.outcome) == ("The green tea, beta!", DocumentOutcome.OBFUSCATED)
    assert [(chunk.original, chunk.replacement) for chunk in result.chunks] == [
        ("The", None),
        ("Alpha", "green tea"),
        ("xyzzy", "beta"),
    ]
    tally = result.certificate.tally
    assert tally.words == {Outcome.KEPT_STOPWORD: 1, Outcome.PERTURBED: 1, Outcome.DRAWN: 1}
    assert (tally.returned, tally.largest_spent, tally.largest_chunk) == (0, 6.0, 3.0)


def test_words_that_come_back_are_counted(end):
    result = end("alpha beta", "alpha", "gamma")
    assert (result.outcome, result.certificate.tally.returned) == (DocumentOutcome.OBFUSCATED, 1)
    assert end("alpha beta", "alpha", "beta").outcome is DocumentOutcome.RETURNED


def test_texts_without_a_choice(end):
    assert end("the of").outcome is DocumentOutcome.ONLY_STOPWORDS
    assert end("").outcome is DocumentOutcome.NO_WORDS
    assert end("", missing=True).outcome is DocumentOutcome.MISSING


@pytest.mark.parametrize("form", ["keep", "plain", "bare"])
def test_documents_with_one_plan_have_results_of_their_own(tiny, form):
    obfuscator = Obfuscator(tiny, form="keep", largest_share=math.inf)
    plans = [obfuscator.plan(text, Budget(6.0))[0] for text in ("the alpha beta", "alpha")]
    writer = Writer(form, cleans_gaps=True, keep_emoji=False)
    settings = {"writer": writer, "terms": obfuscator.terms, "budget": Budget(6.0)}
    given = [(plans[0], ["alpha", "gamma"]), (plans[1], ["alpha"]), (plans[0], ["delta", "beta"])]
    results = list(finish_all(*zip(*given, strict=True), missing=[False] * 3, **settings))
    assert results == [next(finish_all([plan], [chosen], missing=[False], **settings)) for plan, chosen in given]
    assert results[0].chunks[0].replacement is None
    results[0].certificate.tally.words[Outcome.PERTURBED] += 5
    results[0].certificate.tally.documents.clear()
    assert results[2].certificate.tally.words == {Outcome.KEPT_STOPWORD: 1, Outcome.PERTURBED: 2}
    assert results[2].certificate.tally.documents == {DocumentOutcome.OBFUSCATED: 1}


@pytest.mark.parametrize(
    ("text", "hardly"),
    [
        ("The tea was lovely, and we met Zbigniew in Szczecin.", 0),
        ("Dear Zbigniew,", 0),  # a name
        ("Call +1 (555) 123-4567 or mail bo@example.org.", 0),  # codes
        ("", 0),
        ("Ich habe gestern mit meiner Schwester telefoniert, weil sie krank war.", 1),
        ("Mi hermana y yo fuimos ayer al mercado para comprar manzanas.", 1),
        ("总统昨天说政府将采取新的措施。", 1),
    ],
)
@pytest.mark.parametrize("profile", ["strict", "proven"])
def test_texts_that_are_hardly_english_are_counted(text, hardly, profile):
    obfuscator = Obfuscator(decomposition="words", mechanism="madlib", profile=profile)
    result = obfuscator.obfuscate(text, epsilon=10)
    assert result.certificate.tally.hardly_english == hardly
    assert "hardly_english" not in result.certificate.to_json()  # it is for the owner of the text

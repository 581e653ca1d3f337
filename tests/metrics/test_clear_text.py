import csv
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally, name_band
from textveil.errors import InputError, ParameterError, UnknownNameError
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.clear_text import REASONS, ClearText, is_returned
from textveil.lab.metrics.uncertainty import describe_few
from textveil.lab.metrics.verification import check_unchanged_words
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.results import ObfuscatedChunk, Obfuscation
from textveil.text.documents import Chunk

TEXTS = ["The soup was cold, dear Grzybowski.", "Don't give the soup to Grzybowski!"]


def obfuscate(epsilon, texts=TEXTS, **options):
    obfuscator = Obfuscator(seed=1, **options)
    results = list(obfuscator.obfuscate_all(texts, epsilon=epsilon))
    tally = Tally.over(result.certificate.tally for result in results)
    dataset = Dataset(texts)
    certificate = Certificate(obfuscator.terms, Budget(epsilon), tally)
    return Case(dataset, dataset.pair([result.text for result in results]), certificate, results)


def test_words_by_reason():
    case = obfuscate(5000, profile="paper")
    found = ClearText(words=5).measure(case)
    counts = case.certificate.as_dict()["words"]
    total = sum(counts.values())
    assert counts["kept_unknown"] == 2
    assert found.values["kept_unknown"] == found.values["released"] == pytest.approx(2 / total)
    assert found.values["kept_stopword"] == pytest.approx(counts["kept_stopword"] / total)
    assert found.values["returned"] == pytest.approx(counts["perturbed"] / total)  # with so much budget
    assert found.details["words"]["kept_unknown"] == ["grzybowski"]
    assert found.details["words"]["returned"][0] == "soup"
    assert (found.values["unchanged"], found.values["identical"]) == (1, 1)
    assert "Grzybowski" not in found.line


def test_a_small_budget_returns_no_word():
    found = ClearText(words=5).measure(obfuscate(0.01))
    assert found.values["returned"] == found.values["released"] == 0
    assert "kept_unknown" not in found.details["words"]
    assert "not in the vocabulary" not in found.line


def test_counts_alone_come_from_the_certificate():
    case = obfuscate(5000, profile="paper")
    alone, with_chunks = ClearText().measure(replace(case, obfuscations=None)), ClearText().measure(case)
    assert alone.values == {name: with_chunks.values[name] for name in alone.values}
    assert with_chunks.values.keys() - alone.values.keys() == {"returned_p95", "returned_max"}
    assert alone.details["words"] == {}
    assert "worst_rows" not in alone.details


@pytest.mark.parametrize(
    ("decomposition", "text", "returned"),
    [("words", "Soup", True), ("pmi", "box office", True), ("pmi", "don't", True)],
)
def test_a_returned_chunk_can_have_several_words(decomposition, text, returned):
    obfuscator = Obfuscator(seed=1, decomposition=decomposition, stopwords="perturb", largest_share=math.inf)
    (chunk,) = obfuscator.obfuscate(text, epsilon=9000).chunks
    assert is_returned(chunk) is returned
    (other,) = obfuscator.obfuscate(text, epsilon=0.001).chunks
    assert not is_returned(other)


def test_a_certificate_without_words():
    case = obfuscate(50)
    empty = replace(case.certificate, tally=Tally())
    with pytest.raises(InputError, match="counts no words"):
        ClearText().measure(replace(case, certificate=empty))


def test_wrong_options():
    with pytest.raises(ParameterError, match="`words` of clear_text must be a whole number of at least 0"):
        ClearText(words=-1)
    with pytest.raises(UnknownNameError, match="Did you mean 'words'"):
        ClearText(word=3)


def make_case(returned, *, words=5, share=10.0, **options):
    """A case of documents with some perturbed words each, of which the given numbers returned."""
    terms = Obfuscator(seed=1, **options).terms
    results = []
    for number in returned:
        chunks = tuple(
            ObfuscatedChunk(
                Chunk(word, word + 1), "soup", (1.0,), share, Outcome.PERTURBED, "Soup" if word < number else "tea"
            )
            for word in range(words)
        )
        tally = Tally(Counter({Outcome.PERTURBED: words}), returned=number)
        tally.return_bands[name_band(number, words)] += 1
        text = " ".join(chunk.replacement for chunk in chunks)
        results.append(
            Obfuscation(text, DocumentOutcome.OBFUSCATED, chunks, Certificate(terms, Budget(words * share), tally))
        )
    dataset = Dataset(["", *(["soup " * words] * len(results))])  # the first row has no word and is skipped
    total = Tally.over(result.certificate.tally for result in results)
    certificate = Certificate(terms, Budget(words * share), total)
    return Case(dataset, dataset.pair(["", *(result.text for result in results)]), certificate, results)


def test_the_worst_documents_are_reported():
    found = ClearText().measure(make_case([0, 1, 5, 0, 4, 0, 0, 0, 0, 0]))
    assert found.values["returned"] == pytest.approx(10 / 50)
    assert found.values["returned_max"] == 1
    assert found.values["returned_p95"] == pytest.approx(0.8 + 0.2 * 0.55)  # at position 8.55 of 0 to 9
    assert (found.values["documents_verbatim"], found.values["documents_80"]) == (0.1, 0.2)
    assert found.line.endswith(
        "20.0% of the replaced words returned. In 1 of 10 documents all of them did, in 2 at least 80%."
    )
    assert found.intervals["documents_80"].low < 0.2 < found.intervals["documents_80"].high
    assert "chance" not in found.line
    assert found.details["worst_rows"] == [4, 6, 3]  # from 1, with the skipped row


def test_at_most_ten_worst_rows_are_listed_and_never_a_text():
    found = ClearText().measure(make_case([1] * 12 + [2]))
    assert found.details["worst_rows"] == [14, *range(2, 11)]
    assert "soup" not in json.dumps(found.as_dict()).lower()


def test_documents_that_return_are_counted_without_chunks():
    case = make_case([0, 1, 5, 0, 4, 0, 0, 0, 0, 0])
    alone = ClearText().measure(replace(case, obfuscations=None))
    assert alone.values["returned"] == pytest.approx(10 / 50)
    assert (alone.values["documents_verbatim"], alone.values["documents_80"]) == (0.1, 0.2)
    assert alone.line == ClearText().measure(case).line
    assert "worst_rows" not in alone.details


def test_a_replay_is_told_apart_from_the_file():
    case = make_case([5, 0])
    replayed = replace(case, obfuscations=make_case([0, 1]).obfuscations)
    found = ClearText().measure(replayed)
    assert found.values["returned"] == pytest.approx(1 / 10)
    assert "In the file itself: 50.0% of the replaced words returned." in found.line
    assert "With new noise: 10.0% of the replaced words returned." in found.line
    assert found.details["of_file"]["documents"] == {"perturbed": 2, "verbatim": 1, "80": 1}
    assert "With new noise" not in ClearText().measure(case).line


def test_a_text_of_stopwords_has_no_perturbed_words():
    found = ClearText().measure(obfuscate(5, texts=["the and of", "it was"]))
    assert found.values["returned"] == 0


def test_the_texts_alone_show_unchanged_words():
    texts = ["The soup was cold.", "The tea was hot, dear Ann.", "Nothing remained at all."] * 20
    dataset = Dataset(texts)
    found = ClearText().measure(
        Case(dataset, dataset.pair(["the soup was fine", "The tea was hot, dear Ann.", "x"] * 20))
    )
    assert found.values == {"unchanged": pytest.approx(9 / 14), "identical": pytest.approx(1 / 3)}
    for name in ("unchanged", "identical"):
        low, high = found.intervals[name]
        assert low < found.values[name] < high
    assert found.caveats == ()


def test_identical_texts_are_unchanged_whatever_the_certificate_says():
    case = obfuscate(0.01)
    released = replace(case, obfuscated=case.dataset.pair(TEXTS), obfuscations=None)
    found = ClearText().measure(released)
    assert found.values["unchanged"] == found.values["identical"] == 1
    assert found.values["kept_stopword"] < 0.6
    few, caveat = found.caveats
    assert few == "Only 2 texts: too few for a conclusion, which needs at least 50."
    assert caveat.startswith("100.0% of the words are unchanged; by the certificate it is ")
    assert caveat.endswith("%. The certificate may belong to other texts.")
    assert ClearText().measure(case).caveats == (few,)


def test_the_caveat_is_the_check_of_the_certificate():
    case = obfuscate(0.01)
    released = replace(case, obfuscated=case.dataset.pair(TEXTS))
    few = describe_few(len(TEXTS))
    assert len(ClearText().measure(released).caveats) == 2  # also if the chunks are those of a replay
    stated = check_unchanged_words(case.certificate, 2, 1.0)
    assert stated.passed is False
    assert ClearText().measure(released).caveats[1].startswith(stated.finding)
    twice = replace(case.certificate, tally=Tally.over([case.certificate.tally] * 2))
    assert ClearText().measure(replace(released, certificate=twice, obfuscations=None)).caveats == tuple(
        few
    )  # two columns


def test_a_word_that_two_collocations_share_is_no_mismatch():
    with (Path(__file__).parents[2] / "examples" / "reviews.csv").open(encoding="utf-8", newline="") as lines:
        text = next(csv.DictReader(lines))["text"]
    settings = {"decomposition": "pmi", "mechanism": "madlib", "stopwords": "perturb"}
    case = obfuscate(900, [text], largest_share=math.inf, **settings)
    found = ClearText().measure(case)
    explained = sum(found.values[reason] for reason in REASONS)
    assert found.values["unchanged"] > explained + 0.05
    assert found.caveats == tuple(describe_few(1))


def test_words_by_reason_have_intervals_if_chunks_are_known():
    texts = [f"{'The soup and ' * (number % 3)} bread number {number} was bad" for number in range(60)]
    case = obfuscate(90, texts=texts)
    found = ClearText().measure(case)
    for reason in ("kept_stopword", "returned"):
        assert found.intervals[reason].low <= found.values[reason] <= found.intervals[reason].high
    assert found.intervals["kept_unknown"] == pytest.approx((0, 0.06), abs=0.001)  # there are none in 60 texts
    assert ClearText().measure(replace(case, obfuscations=None)).intervals.keys() == {"unchanged", "identical"}


def test_a_certificate_of_one_text_explains_nothing_about_the_others():
    case = obfuscate(40)
    found = ClearText().measure(replace(case, certificate=case.obfuscations[0].certificate, obfuscations=None))
    assert found.values.keys() == {"unchanged", "identical"}
    assert found.line.endswith("The certificate covers 1 of 2 texts, so it explains nothing here.")

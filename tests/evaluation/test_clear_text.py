from dataclasses import replace

import pytest

from textveil.errors import InputError, ParameterError, UnknownNameError
from textveil.evaluation import Dataset
from textveil.evaluation.base import Case
from textveil.evaluation.clear_text import ClearText, is_returned
from textveil.obfuscation import Obfuscator
from textveil.privacy.certificate import Certificate, Tally

TEXTS = ["The soup was cold, dear Grzybowski.", "Don't give the soup to Grzybowski!"]


def obfuscate(epsilon, **options):
    obfuscator = Obfuscator(seed=1, **options)
    results = list(obfuscator.obfuscate_all(TEXTS, epsilon=epsilon))
    tally = Tally.over(result.certificate.tally for result in results)
    dataset = Dataset(TEXTS)
    certificate = Certificate(obfuscator.terms, epsilon, tally)
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
    assert found.line.startswith("100.0% of the words reach the output unchanged: ")
    assert "Grzybowski" not in found.line


def test_a_small_budget_returns_no_word():
    found = ClearText(words=5).measure(obfuscate(0.01))
    assert found.values["returned"] == found.values["released"] == 0
    assert "kept_unknown" not in found.details["words"]
    assert "not in the vocabulary" not in found.line


def test_counts_alone_come_from_the_certificate():
    case = obfuscate(5000, profile="paper")
    found = ClearText().measure(replace(case, obfuscations=None))
    assert "returned" not in found.values
    assert found.values["kept_unknown"] == ClearText().measure(case).values["kept_unknown"]
    assert found.details["words"] == {}


@pytest.mark.parametrize(
    ("decomposition", "text", "returned"),
    [("words", "Soup", True), ("pmi", "box office", True), ("pmi", "don't", True)],
)
def test_a_returned_chunk_can_have_several_words(decomposition, text, returned):
    obfuscator = Obfuscator(seed=1, decomposition=decomposition, stopwords="perturb")
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

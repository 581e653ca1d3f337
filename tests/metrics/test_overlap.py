import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.overlap import Overlap, compare_words, rouge_l
from textveil.text.stopwords import ENGLISH
from textveil.text.words import find_words

WORDS = st.lists(st.sampled_from("the a red wine beer".split()), max_size=12)


def measure(pairs, folder=None):
    dataset = Dataset([pair[0] for pair in pairs], folder=folder)
    return Overlap().measure(Case(dataset, dataset.pair([pair[1] for pair in pairs])))


def plain_lcs(first, second):
    """The textbook table of the longest common subsequence."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(WORDS, WORDS)
def test_rouge_l_is_the_f1_of_recall_and_precision(first, second):
    common = plain_lcs(first, second)
    if not common:
        assert rouge_l(first, second) == 0
    else:
        recall, precision = common / len(first), common / len(second)
        assert rouge_l(first, second) == pytest.approx(2 * recall * precision / (recall + precision))


def test_all_values_by_a_plain_computation(rows, obfuscations):
    pairs = list(zip(rows[0], [result.text for result in obfuscations], strict=True))
    counts, rouge, unrelated = [], [], []
    for number, (original, obfuscated) in enumerate(pairs):
        first, second, other = map(find_words, (original, obfuscated, pairs[(number + 1) % len(pairs)][0]))
        content, kept = ([word for word in words if word not in ENGLISH] for words in (first, second))
        counts.append((plain_lcs(first, second), len(first), plain_lcs(content, kept), len(content)))
        rouge.append(2 * plain_lcs(first, second) / (len(first) + len(second)))
        unrelated.append(2 * plain_lcs(other, second) / (len(other) + len(second)))
    same, words, content, contents = np.sum(counts, axis=0)
    found = measure(pairs)
    expected = {"unchanged": same / words, "unchanged_content": content / contents, "rouge_l": np.mean(rouge)}
    assert found.values == pytest.approx({**expected, "unrelated": np.mean(unrelated)})
    for name, column in (("rouge_l", rouge), ("unrelated", unrelated)):
        error = 1.96 * np.std(column) / np.sqrt(len(column))
        assert found.intervals[name] == pytest.approx((np.mean(column) - error, np.mean(column) + error), abs=0.02)
    for name in ("unchanged", "unchanged_content"):
        assert found.intervals[name].low < found.values[name] < found.intervals[name].high


def test_identical_and_empty_texts():
    same = measure([("The soup was cold.", "the SOUP, was cold")] * 2)
    assert (same.values["unchanged"], same.values["unchanged_content"], same.values["rouge_l"]) == (1, 1, 1)
    gone = measure([("The soup was cold.", ""), ("The wine was red.", "")])
    assert set(gone.values.values()) == {0}


def test_words_in_another_order_are_not_unchanged():
    assert compare_words(["red", "wine"], ["wine", "red"], [])[:3] == [1, 2, 0.5]


def test_a_text_of_stopwords_has_no_content():
    found = measure([("It was what it was.", "it was"), ("The soup was cold.", "soup")])
    assert found.values["unchanged_content"] == 0.5  # of the second pair alone
    alone = measure([("It was what it was.", "it was"), ("This is it.", "it")])
    assert "unchanged_content" not in alone.values


def test_a_single_text_has_no_unrelated_original():
    found = measure([("The soup was cold.", "soup")])
    assert "unrelated" not in found.values
    assert found.intervals == {}
    assert found.caveats == ("Only 1 texts: too few for a conclusion, which needs at least 50.",)


def test_scores_are_cached_without_texts(tmp_path, monkeypatch):
    pairs = [("The soup was cold.", "the soup was warm"), ("The wine was red.", "the beer was red")]
    first = measure(pairs, tmp_path)
    assert not any(b"soup" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    monkeypatch.setattr("textveil.lab.metrics.overlap.compare_words", lambda *_: pytest.fail("compared again"))
    assert measure(pairs, tmp_path) == first
    assert json.dumps(first.as_dict(), allow_nan=False)

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.lab.metrics import Case, Dataset
from textveil.lab.metrics.overlap import LONGEST, Alignment, count_common, count_unchanged
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.text.words import find_words

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def align(originals, obfuscated, folder=None):
    dataset = Dataset(originals, folder=folder)
    return Alignment.of(Case(dataset, dataset.pair(obfuscated)))


@given(WORDS, WORDS)
def test_it_is_the_longest_common_subsequence(first, second):
    table = {}
    for i in range(len(first) + 1):
        for j in range(len(second) + 1):
            if i == 0 or j == 0:
                table[i, j] = 0
            elif first[i - 1] == second[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    assert count_common(first, second) == table[len(first), len(second)]
    matched = sum(block.size for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks())
    assert count_common(first, second) >= matched


def test_order_matters():
    assert count_common("a b c".split(), "c b a".split()) == 1
    assert count_common("a a a".split(), "a".split()) == 1
    assert count_common([], "a".split()) == 0


@pytest.mark.parametrize(("profile", "epsilon"), [("strict", 1), ("strict", 12), ("paper", 12)])
def test_it_agrees_with_what_the_obfuscator_knows(profile, epsilon):
    text = " ".join(
        "The soup was cold, but the waiter in the old restaurant was friendly and brought fresh bread to our table "
        "near the window, where we could see the river and the lights of the city after a long rainy day."
        for _ in range(10)
    )
    result = Obfuscator(seed=1, profile=profile).obfuscate(text, epsilon_per_word=epsilon)
    tally = result.certificate.tally
    known = tally.returned + sum(count for outcome, count in tally.words.items() if outcome.in_clear)
    found = count_unchanged(find_words(text), find_words(result.text))
    assert known <= found <= known + 0.02 * tally.words.total()


def test_case_and_punctuation_do_not_matter():
    found = align(["The soup -- was COLD!"], ["the Soup was cold"])
    assert (found.share.value, found.identical) == (1, 1)


def test_the_share_counts_words_and_has_an_interval():
    found = align(["one two three", "four"] * 20, ["one two", "five"] * 20)
    assert found.share.value == pytest.approx(2 / 4)
    low, high = found.share.interval
    assert low < 0.5 < high
    assert found.identical == 0


def test_an_empty_text_has_no_unchanged_words():
    assert align(["one two"], [""]).share.value == 0


def test_very_long_texts_are_aligned_in_parts():
    generator = SeededRandomness(1).stream(0)
    numbers = generator.integers(3000, size=3 * LONGEST)
    words = [str(number) for number in numbers]
    changed = [word if keep else "x" for word, keep in zip(words, generator.random(len(words)) < 0.6, strict=True)]
    assert count_unchanged(words, changed) == sum(word != "x" for word in changed)
    assert count_unchanged(words, words) == len(words)


def test_numbers_are_cached_without_text(tmp_path, monkeypatch):
    first = align(["soup and bread"], ["soup and tea"], tmp_path)
    monkeypatch.setattr("textveil.lab.metrics.overlap.count_unchanged", None)
    assert (
        align(["soup and bread"], ["soup and tea"], tmp_path).share.value == first.share.value == pytest.approx(2 / 3)
    )
    assert not any(b"soup" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())

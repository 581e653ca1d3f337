import numpy as np
import pytest

from textveil.errors import ParameterError, ResourceError
from textveil.evaluation import Dataset
from textveil.evaluation.base import Case
from textveil.evaluation.linkage import (
    Linkage,
    ShapeAttacker,
    Success,
    WordAttacker,
    find_strongest,
    rank,
)
from textveil.evaluation.ranking import count_above
from textveil.evaluation.texts import Texts
from textveil.language.words import find_words
from textveil.randomness import SeededRandomness

CHEAP = {"attackers": ["words", "shape"]}


def measure(metric, originals, obfuscated, folder=None, **classes):
    dataset = Dataset(originals, folder=folder, **classes)
    return metric.measure(Case(dataset, dataset.pair(obfuscated)))


def make_texts(size, words=8):
    """Texts of random words, which share no punctuation."""
    generator = SeededRandomness(3).stream(0)
    return [" ".join(f"w{word}" for word in generator.integers(0, 200, words)) for _ in range(size)]


def test_ranks_agree_with_sklearn_on_random_scores():
    from sklearn.metrics import roc_auc_score, top_k_accuracy_score

    scores = SeededRandomness(1).stream(0).standard_normal((40, 40))
    found = Success.over(count_above(scores, np.arange(40)), 40)
    aucs = [roc_auc_score(np.arange(40) == row, scores[row]) for row in range(40)]
    assert found.values["auc"] == pytest.approx(np.mean(aucs))
    for guesses in (1, 10):
        expected = top_k_accuracy_score(np.arange(40), scores, k=guesses)
        assert found.values[f"top_{guesses}"] == pytest.approx(expected)
    assert found.chance == {"top_1": 1 / 40, "top_10": 10 / 40, "auc": 0.5}


def test_ties_have_the_success_of_random_guesses():
    same = Success.over(count_above(np.zeros((20, 20)), np.arange(20)), 20)
    assert same.values == {"top_1": pytest.approx(1 / 20), "top_10": pytest.approx(10 / 20), "auc": pytest.approx(0.5)}
    # Two originals are better and one other is as good: the second of ten guesses is free for one of two.
    (row,) = count_above(np.array([[0.5, 0.9, 0.9, 0.5, 0.1]]), np.array([0]))
    assert row.tolist() == [2, 1]
    assert Success.over(row[None], 5).values == {"top_1": 0, "auc": pytest.approx(1 - 2.5 / 4)}


def test_the_word_attacker_has_the_cosine_of_tf_idf():
    originals = ["red wine red", "red beer", "cold soup, cold wine"]
    obfuscated = "red soup unknown"
    counts = [find_words(text) for text in originals]
    vocabulary = sorted({word for words in counts for word in words})
    idf = {word: np.log(4 / (1 + sum(word in words for words in counts))) + 1 for word in vocabulary}

    def weigh(words):
        row = [(1 + np.log(words.count(word))) * idf[word] if word in words else 0 for word in vocabulary]
        return np.array(row) / np.linalg.norm(row)

    expected = [weigh(find_words(obfuscated)) @ weigh(words) for words in counts]
    (found,) = WordAttacker(originals).compare(Texts([obfuscated]), np.array([0]))
    assert found == pytest.approx(expected)


def test_the_shape_attacker_reads_no_word():
    originals = ["One, two; three.", "One two three", "Eins, zwei; drei. Vier!"]
    attacker = ShapeAttacker(originals)
    found = attacker.compare(Texts(["a, b; c.", "a b c", "x, y; z. w!", ""]), np.arange(4))
    assert found[:3].argmax(axis=1).tolist() == [0, 1, 2]
    assert found.diagonal()[:3] == pytest.approx([1, 1, 1])
    assert ShapeAttacker.find_features("a, b; c.") == ShapeAttacker.find_features("One, two; three.")
    # Without punctuation only the difference in lengths is left: two words instead of three.
    assert attacker.compare(Texts(["a b"]), np.array([0]))[0, 1] == pytest.approx(1 - 1 / 3)


def test_unchanged_texts_are_all_linked_and_random_ones_by_chance():
    originals = make_texts(120)
    same = measure(Linkage(**CHEAP), originals, originals)
    assert (same.values["top_1"], same.values["top_10"], same.values["auc"]) == (1, 1, 1)
    assert same.values["chance_top_1"] == pytest.approx(1 / 120)
    assert "Chance is 0.83% (0.00% to 2.46%)." in same.line
    other = measure(Linkage(attackers=["words"]), originals, make_texts(240)[120:])
    assert other.values["top_1"] < 0.05
    assert other.values["auc"] == pytest.approx(0.5, abs=0.1)
    assert "This cannot be told from chance, 0.83% (0.00% to 2.46%)." in other.line
    assert other.intervals["auc"].low < 0.5 < other.intervals["auc"].high


def test_removed_texts_are_linked_by_chance():
    found = measure(Linkage(**CHEAP), make_texts(50), [""] * 50)
    assert found.values["top_1"] == pytest.approx(1 / 50)
    assert found.values["auc"] == pytest.approx(0.5)


def test_the_strongest_attacker_is_reported():
    originals = [f"{'a, ' * (number % 7)}{'b; ' * (number // 7)}end" for number in range(49)]
    obfuscated = [text.replace("a", "x").replace("b", "y").replace("end", "z") for text in originals]
    found = measure(Linkage(**CHEAP), originals, obfuscated)
    assert found.details["attackers"]["shape"]["top_1"] > found.details["attackers"]["words"]["top_1"]
    assert found.values["top_1"] == found.details["attackers"]["shape"]["top_1"]
    assert found.line.startswith("An attacker who compares punctuation and lengths with 49 originals")


def test_the_attribute_is_inferred_from_other_originals_alone():
    # Every text has words of its own; only the words of its author are shared.
    authors = ["anna", "ben"] * 20
    originals = [f"{author} own{number} too{number}" for number, author in enumerate(authors)]
    hidden = [text.split()[0] for text in originals]
    found = measure(Linkage(attackers=["words"]), originals, hidden, attribute=authors)
    assert found.values["attribute_top_1"] == 1
    assert found.values["attribute_chance_top_1"] == 0.5
    assert "attribute_top_10" not in found.values  # ten guesses name every author
    # Without the shared word, only the own original matches, which is left out.
    bare = [text.partition(" ")[2] for text in originals]
    nothing = measure(Linkage(attackers=["words"]), bare, bare, attribute=authors)
    assert nothing.values["top_1"] == 1
    assert nothing.values["attribute_top_1"] == pytest.approx(0.5)
    assert "This cannot be told from chance, 50.00% (" in nothing.line


def test_class_ranks_by_hand():
    similarities = np.array([[0.9, 0.2, 0.4, 0.5]])
    codes = np.array([0, 0, 1, 1])
    # Class 0 without the own original has 0.2, class 1 has 0.45.
    assert rank(similarities, np.array([0]), codes).tolist() == [[0, 0, 1, 0]]
    assert rank(similarities, np.array([0]), None).tolist() == [[0, 0]]
    # A class without other originals is never named.
    assert rank(similarities, np.array([0]), np.array([0, 1, 1, 1])).tolist() == [[0, 0, 1, 0]]


def test_every_class_counts_the_same():
    # Nine texts of the first class are right, the only one of the second is wrong.
    ranks = np.array([[0, 0]] * 9 + [[1, 0]], dtype=float)
    found = Success.over(ranks, 2, codes=np.array([0] * 9 + [1]))
    assert found.values["top_1"] == pytest.approx(0.5)


def test_a_sample_of_the_texts():
    originals = make_texts(60)
    found = measure(Linkage(sample=20, **CHEAP), originals, originals, attribute=["a", "b"] * 30)
    assert found.details["texts"] == 20
    assert found.values["chance_top_1"] == pytest.approx(1 / 20)
    assert found.values["top_1"] == 1
    assert found.caveats == ("Only 20 texts: too few for a conclusion, which needs at least 50.",)


def test_the_encoder_links_texts_of_the_same_meaning(minilm):
    originals = ["The soup was cold.", "Parliament passed the bill.", "The engine of my car is loud."]
    hidden = ["A chilly broth", "Lawmakers approved legislation", "A noisy automobile motor"]
    found = measure(Linkage(attackers=["encoder"]), originals, hidden)
    assert found.values["top_1"] == 1
    assert "sentence embeddings" in found.line
    assert minilm.name in found.description


def test_embeddings_are_shared_with_similarity(make_encoder, monkeypatch):
    from textveil.evaluation.similarity import Similarity
    from textveil.models.encoders import SentenceEncoder

    folder, calls = make_encoder(), []
    embed = SentenceEncoder.embed
    monkeypatch.setattr(
        SentenceEncoder, "embed", lambda self, texts, **how: calls.append(len(texts)) or embed(self, texts, **how)
    )
    dataset = Dataset(make_texts(5))
    case = Case(dataset, dataset.pair(make_texts(10)[5:]))
    Similarity(models=[folder]).measure(case)
    assert sum(calls) == 10
    Linkage(attackers=["encoder"], model=folder).measure(case)
    assert sum(calls) == 10


def test_ranks_are_cached(tmp_path, monkeypatch):
    originals, authors = make_texts(20), ["a", "b"] * 10
    first = measure(Linkage(**CHEAP), originals, originals, tmp_path, attribute=authors)
    changed = measure(Linkage(**CHEAP), originals, originals, tmp_path, attribute=authors[:10] + authors[:10][::-1])
    before, after = (found.details["attribute_attackers"]["words"]["auc"] for found in (first, changed))
    assert before != after  # other classes have other ranks
    monkeypatch.setattr("textveil.evaluation.linkage.rank", lambda *_: pytest.fail("ranked again"))
    assert measure(Linkage(**CHEAP), originals, originals, tmp_path, attribute=authors) == first


def test_certain_success_is_not_chance():
    originals = make_texts(60)
    found = measure(Linkage(**CHEAP), originals, originals)
    assert found.intervals["top_1"] == pytest.approx((0.94, 1), abs=0.001)  # all of 60 texts are found
    assert "cannot be told from chance" not in found.line
    assert found.intervals["chance_top_1"].high < 0.06


def test_two_texts_and_one():
    assert measure(Linkage(**CHEAP), ["red wine", "cold soup"], ["red", "soup"]).values["top_1"] == 1
    alone = measure(Linkage(**CHEAP), ["red wine"], ["red"])
    assert alone.values["top_1"] == alone.values["chance_top_1"] == 1
    assert "cannot be told from chance" in alone.line


def test_progress_names_the_attackers():
    seen = []
    dataset = Dataset(make_texts(5))
    Linkage(**CHEAP).measure(Case(dataset, dataset.pair(make_texts(5)), progress=lambda *step: seen.append(step[0])))
    assert seen == ["linkage, words", "linkage, shape"]


@pytest.mark.parametrize("attackers", [[], "words", ["words", "magic"], 3])
def test_wrong_attackers(attackers):
    with pytest.raises(ParameterError, match="`attackers` of linkage must be a list of some of: words, shape, encoder"):
        Linkage(attackers=attackers)


def test_an_encoder_that_is_not_there_is_only_needed_for_its_attacker():
    with pytest.raises(ResourceError, match="no model 'nowhere'"):
        Linkage(model="nowhere")
    assert Linkage(model="nowhere", **CHEAP).model_used is None


def test_by_default_an_encoder_that_is_not_there_is_left_out(monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_ALL_MINILM_L6_V2", str(tmp_path))
    metric = Linkage()
    assert metric.attackers == ["words", "shape"]
    assert metric.as_dict()["options"]["attackers"] == ["words", "shape"]
    assert measure(metric, make_texts(5), make_texts(5)).values["top_1"] == 1
    with pytest.raises(ResourceError, match="ALL_MINILM_L6_V2"):
        Linkage(attackers=["encoder"])


def test_by_default_an_encoder_that_is_there_is_used(minilm):
    assert Linkage().attackers == ["words", "shape", "encoder"]
    assert Linkage().identity != Linkage(**CHEAP).identity


def test_the_attacker_with_the_highest_success_is_the_strongest():
    def make(top_1, auc):
        return Success({"top_1": top_1, "auc": auc}, {}, {}, {}, 9)

    assert find_strongest({"a": make(0.1, 0.9), "b": make(0.2, 0.6)})[0] == "b"
    assert find_strongest({"a": make(0.1, 0.9), "b": make(0.1, 0.6)})[0] == "a"

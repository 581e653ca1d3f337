import numpy as np
import pytest

from textveil.errors import ParameterError, ResourceError
from textveil.lab.attacks.linkage import Linkage, ShapeAttacker, WordAttacker, rank
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.dataset import Texts
from textveil.randomness import SeededRandomness
from textveil.text.words import find_words

CHEAP = {"attackers": ["words", "shape"]}


def measure(metric, originals, obfuscated, folder=None, **classes):
    dataset = Dataset(originals, folder=folder, **classes)
    return metric.measure(Case(dataset, dataset.pair(obfuscated)))


def make_texts(size, words=8):
    """Texts of random words, which share no punctuation."""
    generator = SeededRandomness(3).stream(0)
    return [" ".join(f"w{word}" for word in generator.integers(0, 200, words)) for _ in range(size)]


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
    assert same.values["chance_top_1"] == pytest.approx(1 / 120, rel=0.5)
    assert same.values["chance_auc"] == pytest.approx(0.5, abs=0.03)
    other = measure(Linkage(attackers=["words"]), originals, make_texts(240)[120:])
    assert other.values["top_1"] < 0.05
    assert other.values["auc"] == pytest.approx(0.5, abs=0.1)
    assert other.intervals["chance_auc"].low < other.values["auc"] < other.intervals["chance_auc"].high
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


def test_the_attribute_is_inferred_from_other_originals_alone():
    # Every text has words of its own; only the words of its author are shared.
    authors = ["anna", "ben"] * 20
    originals = [f"{author} own{number} too{number}" for number, author in enumerate(authors)]
    hidden = [text.split()[0] for text in originals]
    found = measure(Linkage(attackers=["words"]), originals, hidden, attribute=authors)
    assert found.values["attribute_top_1"] == 1
    assert found.values["attribute_chance_top_1"] == pytest.approx(0.5, abs=0.03)
    assert found.values["attribute_chance_auc"] == pytest.approx(0.5, abs=0.03)
    assert "attribute_top_10" not in found.values  # ten guesses name every author
    # Without the shared word, only the own original matches, which is left out.
    bare = [text.partition(" ")[2] for text in originals]
    nothing = measure(Linkage(attackers=["words"]), bare, bare, attribute=authors)
    assert nothing.values["top_1"] == 1
    assert nothing.values["attribute_top_1"] == pytest.approx(0.5)


def find_classes(similarities, codes):
    """The success in finding the class of the first original, without permutations."""
    found, _ = rank(np.array(similarities), np.array([0]), np.array(codes), np.empty((0, 4), dtype=int))
    return found[0, 3:].tolist()


def test_class_ranks_by_hand():
    # Class 0 without the own original has 0.2, class 1 has 0.45.
    assert find_classes([[0.9, 0.2, 0.4, 0.5]], [0, 0, 1, 1]) == [0, 1, 0]
    assert find_classes([[0.9, 0.6, 0.4, 0.5]], [0, 0, 1, 1]) == [1, 1, 1]
    # A class without other originals is never named.
    assert find_classes([[0.9, 0.2, 0.4, 0.5]], [0, 1, 1, 1]) == [0, 1, 0]


def test_permuted_originals_are_ranked_like_right_ones():
    similarities = SeededRandomness(4).stream(0).standard_normal((6, 6))
    codes, orders = np.array([0, 0, 0, 1, 1, 2]), np.array([[0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4]])
    found, permuted = rank(similarities, np.arange(6), codes, orders)
    weights = np.array([1 / 3] * 3 + [1 / 2] * 2 + [1])
    assert permuted[0] == pytest.approx([*found[:, :3].sum(axis=0), *(found[:, 3:] * weights[:, None]).sum(axis=0)])
    above = [(similarities[row] > similarities[row, orders[1, row]]).sum() for row in range(6)]
    assert permuted[1, 0] == sum(count == 0 for count in above)
    assert permuted[1, 2] == pytest.approx(sum(1 - count / 5 for count in above))


def test_a_sample_of_the_texts():
    originals = make_texts(60)
    found = measure(Linkage(sample=20, **CHEAP), originals, originals, attribute=["a", "b"] * 30)
    assert found.details["texts"] == 20
    assert found.values["chance_top_1"] == pytest.approx(1 / 20, rel=0.5)
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
    from textveil.lab.metrics.similarity import Similarity
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
    monkeypatch.setattr("textveil.lab.attacks.linkage.rank", lambda *_: pytest.fail("ranked again"))
    assert measure(Linkage(**CHEAP), originals, originals, tmp_path, attribute=authors) == first


def test_certain_success_is_not_chance():
    originals = make_texts(60)
    found = measure(Linkage(**CHEAP), originals, originals)
    assert found.intervals["top_1"] == pytest.approx((0.94, 1), abs=0.001)  # all of 60 texts are found
    assert found.intervals["chance_top_1"].high < 0.06


def test_two_texts_and_one():
    assert measure(Linkage(**CHEAP), ["red wine", "cold soup"], ["red", "soup"]).values["top_1"] == 1
    alone = measure(Linkage(**CHEAP), ["red wine"], ["red"])
    assert alone.values["top_1"] == alone.values["chance_top_1"] == 1
    assert "cannot be told" in alone.line


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

"""The tables give the same tags as NLTK, for models that NLTK trains here."""

import io
import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nltk.tag import BigramTagger, DefaultTagger, UnigramTagger
from nltk.tag.perceptron import PerceptronTagger as NltkTagger

from scripts.train_pos_models import save
from textveil.errors import InputError
from textveil.text.tagging import PerceptronTagger, PhraseTagger, load_phrase_tagger

WORDS = "the old man saw a dog in 1999 or 25 of it running s t don ß 3rd _x".split()
TAGS = ["CD", "DT", "IN", "NN", "VB"]


@pytest.fixture(scope="module")
def trained():
    generator = random.Random(3)
    usual = {word: generator.choice(TAGS) for word in WORDS}
    sentences = []
    for _ in range(400):
        words = [generator.choice(WORDS) for _ in range(generator.randrange(1, 15))]
        tags = [usual[word] if generator.random() < 0.8 else generator.choice(TAGS) for word in words]
        sentences.append(list(zip(words, tags, strict=True)))
    random.seed(5)
    nltk = NltkTagger(load=False)
    nltk.train(sentences, nr_iter=3)
    for weights in nltk.model.weights.values():  # such sums are exact, so that rounding decides no tag
        weights.update({tag: round(weight * 8) / 8 for tag, weight in weights.items()})
    nltk.tagdict["running"] = "VB"
    return nltk


def tag_with_nltk(nltk, sentences):
    return [tag for words in sentences for _, tag in nltk.tag(list(words))]


@given(sentences=st.lists(st.lists(st.sampled_from([*WORDS, "unseen", "2024"]), min_size=1, max_size=20), max_size=8))
@example(sentences=[["don", "2024", "unseen", "of", "t"]])  # NLTK decides this one by rounding
def test_tags_are_those_of_nltk(trained, sentences):
    tagger = PerceptronTagger.of(*trained.encode_json_obj())
    found = tagger.tag([word for words in sentences for word in words], list(map(len, sentences)))
    assert [tagger.tags[number] for number in found] == tag_with_nltk(trained, sentences)


def test_tags_are_those_of_nltk_over_many_groups(trained, monkeypatch):
    monkeypatch.setattr("textveil.text.tagging._GROUP", 50)
    generator = random.Random(9)
    sentences = [[generator.choice(WORDS) for _ in range(generator.randrange(1, 60))] for _ in range(200)]
    tagger = PerceptronTagger.of(*trained.encode_json_obj())
    found = tagger.tag([word for words in sentences for word in words], list(map(len, sentences)))
    assert [tagger.tags[number] for number in found] == tag_with_nltk(trained, sentences)


def test_phrases_are_those_of_nltks_bigram_tagger(trained):
    generator = random.Random(4)
    chunk_tags = ["B-NP", "I-NP", "O"]
    pairs = [[(generator.choice(TAGS), generator.choice(chunk_tags)) for _ in range(10)] for _ in range(50)]
    chunker = BigramTagger(pairs, backoff=UnigramTagger(pairs, backoff=DefaultTagger("O")))
    tagger = PerceptronTagger.of(*trained.encode_json_obj())
    rows = [[chunker.tag_one(["", tag], 1, [before]) for tag in tagger.tags] for before in chunk_tags]
    rows.append([chunker.tag_one([tag], 0, []) for tag in tagger.tags])
    table = np.array([[chunk_tags.index(tag) for tag in row] for row in rows])
    phrases = PhraseTagger(tagger, tuple(chunk_tags), table)
    sentences = [[generator.choice(WORDS) for _ in range(generator.randrange(1, 30))] for _ in range(40)]
    _, found = phrases.tag([word for words in sentences for word in words], list(map(len, sentences)))
    expected = []
    for words in sentences:
        expected += [chunk for _, chunk in chunker.tag([tag for _, tag in trained.tag(words)])]
    assert [phrases.chunk_tags[number] for number in found] == expected


def test_a_phrase_begins_at_a_begin_tag_a_new_kind_or_a_new_sentence(trained):
    tagger = PerceptronTagger.of(*trained.encode_json_obj())
    tags = ("B-NP", "I-NP", "I-VP", "O")
    table = np.zeros((5, len(tagger.tags)), dtype=np.int64)
    phrases = PhraseTagger(tagger, tags, table)
    given_tags = np.array([0, 1, 1, 2, 1, 3, 3, 1, 1, 1])
    object.__setattr__(phrases, "tag", lambda words, lengths: (None, given_tags))
    begins = phrases.begin_phrases([""] * 10, [8, 2])
    assert begins.tolist() == [True, False, False, True, True, True, True, True, True, False]


def test_tables_are_read_as_they_were_written(trained, tmp_path):
    tagger = PerceptronTagger.of(*trained.encode_json_obj())
    phrases = PhraseTagger(tagger, ("B-NP", "O"), np.zeros((3, len(tagger.tags)), dtype=np.int64))
    stream = io.BytesIO()
    save(phrases, stream)
    path = tmp_path / "tables.npz"
    path.write_bytes(stream.getvalue())
    again = PhraseTagger.load(path)
    assert again.tagger.tags == tagger.tags
    assert again.tagger.features == tagger.features
    assert (again.tagger.weights == tagger.weights).all()
    assert again.tagger.fixed == tagger.fixed
    assert (again.table == phrases.table).all()
    path.write_bytes(stream.getvalue()[:-100])
    with pytest.raises(InputError, match="does not contain the tables of a tagger"):
        PhraseTagger.load(path)


def test_a_tag_without_a_column_is_outside_all_phrases(trained):
    ours = load_phrase_tagger("textveil")
    other = PerceptronTagger.of({"bias": {"XX": 1.0}}, {}, ["XX", "NN"])
    table = ours.with_tagger(other).table
    assert set(table[:, other.tags.index("XX")].tolist()) == {ours.chunk_tags.index("O")}
    assert (table[:, other.tags.index("NN")] == ours.table[:, ours.tagger.tags.index("NN")]).all()


def test_a_folder_without_nltks_tagger_is_refused(tmp_path):
    with pytest.raises(InputError, match="textveil resources install nltk-tagger --force"):
        PerceptronTagger.load_nltk(tmp_path)

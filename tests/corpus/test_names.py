"""What is taken for a person's name, with the real spaCy model."""

import json

import pytest

from textveil.errors import InputError
from textveil.execution.local import LocalExecutor
from textveil.lab.corpus.entry_filters import REACH, Names, Use, _Sampler, find_names, uses_capitals
from textveil.lab.corpus.inputs import Corpus, FileBlock
from textveil.lab.corpus.preparation import PrepareJob
from textveil.lab.corpus.resumption import Reading
from textveil.lab.corpus.settings import Labels, Selection, Training, VectorOptions
from textveil.lab.corpus.wordnet import read_meanings
from textveil.resources import find

REVIEWS = [
    "We saw the film last night, and Robert Redford was wonderful in it.",
    "My friend told me that Robert Redford and Meryl Streep never looked better.",
    "I think that Meryl Streep is the best actress in Hollywood today.",
    "They live in Paris now, and the film was made in Paris by an American crew.",
    "It is said that Mr. Redford bought a house in Paris with his friend Susan Miller.",
    "The director, Susan Miller, told us how the story was written.",
] * 5
ENTRIES = "film robert redford meryl_streep paris american hollywood susan_miller the_best best house story".split()


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "reviews.txt"
    path.write_text("\n".join(REVIEWS), encoding="utf-8")
    return path


@pytest.fixture
def look(corpus, tmp_path):
    """Finds the names of the reviews."""

    def look_for(entries=ENTRIES, wordnet=None):
        reading = Reading(Corpus.find([corpus]), LocalExecutor())
        return find_names(reading, tmp_path / "names", entries, model=find("spacy-en"), wordnet=wordnet)

    return look_for


@pytest.fixture(scope="module")
def meanings():
    return read_meanings(find("wordnet"))


@pytest.mark.parametrize("resource", [None, "wordnet"])
def test_people_are_distinguished_from_places_and_things(look, resource):
    names = look(wordnet=resource and find(resource))
    assert names.choose(ENTRIES) == ["robert", "redford", "meryl_streep", "susan_miller"]
    assert Use(*names.capitals["paris"]) == Use(title=15)
    assert Use(*names.capitals["film"]) == Use(lower=10)
    assert Use(*names.capitals["redford"]).addressed == 5


def test_spacy_reads_only_what_capitals_and_wordnet_leave_open(look, tmp_path):
    look(["redford", "paris", "film"], wordnet=find("wordnet"))
    assert json.loads((tmp_path / "names" / "rates.json").read_text()).keys() == {"paris"}
    look(["redford", "paris", "film"])  # the passages are others now
    assert json.loads((tmp_path / "names" / "rates.json").read_text()).keys() == {"paris", "redford"}
    assert look(["redford", "paris", "film"]).people["redford"][0] == 15


def test_finished_blocks_are_not_read_again(look, tmp_path, monkeypatch):
    first = look()
    monkeypatch.setattr(FileBlock, "read", lambda block: 1 / 0)
    assert look() == first
    (tmp_path / "names" / "people" / "000000-000000.json").write_text("{")
    with pytest.raises(InputError, match="`overwrite=True` to start over"):
        look()


def test_other_entries_are_counted_again(look):
    assert "house" not in look(["redford"]).capitals
    assert Use(*look(["house"]).capitals["house"]) == Use(lower=5)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("We met Amy there. She left.", True),
        ("We met amy there. she left.", False),
        ("so we met Amy there", False),
        ("Then i met Amy there.", False),
        ("He wrote i.e., and left.", True),
        ("WE MET AMY THERE, AND SHE LEFT!", False),
        ("We Met Amy There And She Left", False),
        ("", False),
    ],
)
def test_capitals_are_counted_in_texts_that_use_them_as_in_print(text, printed):
    assert uses_capitals(text, text.split()[1:]) == printed


@pytest.mark.parametrize(
    ("people", "capital", "is_name"),
    [
        (50, 50, True),
        (49, 69, False),
        (25, 70, True),
        (24, 89, False),
        (10, 90, True),
        (9, 94, False),
        (4, 95, True),
        (3, 100, False),
        (100, 49, False),
    ],
)
def test_the_rules_for_a_word(people, capital, is_name):
    names = Names({"bob": Use(100 - capital, capital)}, {"bob": (100, people)})
    assert names.is_name("bob") == is_name
    assert names.choose(["bob", "dear_bob", "bobsled"]) == (["bob", "dear_bob"] if is_name else [])


def test_an_expression_may_be_a_name_though_its_words_are_not():
    names = Names(
        {"jack": Use(60, 40), "black": Use(95, 5)}, {"jack_black": (10, 5), "jack": (10, 4), "pitch_black": (9, 4)}
    )
    assert names.choose(["jack", "black", "jack_black", "pitch_black"]) == ["jack_black"]


def test_a_stopword_is_not_a_name():
    assert not Names({"i": Use(0, 9)}, {"i": (9, 9)}).is_name("i")


def test_a_word_hardly_ever_in_lowercase_is_written_only_if_wordnet_knows_another_meaning(meanings):
    use = {word: Use(5, 95) for word in ("elfride", "redford", "boston", "monday", "germans", "china")}
    names = Names({**use, "dvd": Use(5, 15, 80), "blog": Use(95, 5), "mikey": Use(50, 50)}, {}, meanings)
    assert names.choose([*use, "dvd", "blog", "mikey"]) == ["elfride", "redford"]


def test_spacy_and_forms_of_address_decide_about_words_with_several_meanings(meanings):
    words = ["boston", "jackson", "florence", "grace", "hope", "bill", "mikey"]
    uses = [Use(1, 99), Use(1, 99, 0, 5), Use(1, 99), Use(70, 30), Use(97, 3), Use(35, 65), Use(50, 50)]
    people = [5, 0, 40, 50, 50, 55, 20]
    names = Names(
        dict(zip(words, uses, strict=True)),
        {word: (100, share) for word, share in zip(words, people, strict=True)},
        meanings,
    )
    assert names.choose(words) == ["jackson", "florence", "bill", "mikey"]


def test_a_person_in_wordnet_outweighs_a_meaning_in_lowercase_if_the_word_is_nearly_always_capitalized(meanings):
    names = Names({"god": Use(14, 86), "bush": Use(5, 95), "china": Use(5, 95)}, {}, meanings)
    assert names.choose(["god", "bush", "china"]) == ["bush"]


def test_a_word_that_often_follows_forms_of_address_is_a_name(meanings):
    uses = {
        "weld": Use(50, 50, 0, 45),
        "gibbons": Use(3, 97, 0, 7),
        "regina": Use(3, 97, 0, 4),
        "usa": Use(0, 3, 99, 3),
    }
    assert Names(uses, {}, meanings).choose(uses) == ["weld", "gibbons", "regina"]


def test_expressions_that_wordnet_knows_are_written_though_a_word_is_a_name(meanings):
    words = {word: Use(0, 99) for word in ("york", "louis", "francisco", "jack", "einstein", "albert")}
    names = Names(words, dict.fromkeys(words, (10, 10)), meanings)
    entries = ["york", "new_york", "in_new_york_city", "san_francisco", "jack_of_all_trades"]
    assert names.choose([*entries, "duke_of_york", "albert_einstein", "jack_said"]) == [
        "york",
        "duke_of_york",
        "albert_einstein",
        "jack_said",
    ]


def test_passages_are_chosen_at_their_rate_and_do_not_overlap():
    text = " ".join(f"word{number} Anna and Bert" for number in range(1000))
    sampler = _Sampler("block", {"anna": 0.01})
    passages = sampler.choose(text)
    assert 8 <= len(passages) <= 11
    assert all(" Anna " in passage and passage in text for passage in passages)
    assert all(len(passage) <= 2 * REACH + len("Anna") for passage in passages)
    assert _Sampler("block", {"anna": 0.01}).choose(text) == passages
    assert _Sampler("block", {"anna": 1.0}).choose(text) == [text]
    assert _Sampler("block", {"carl": 1.0}).choose(text) == []


def test_a_bundle_never_writes_names(corpus, tmp_path):
    job = PrepareJob(
        Corpus.find([corpus]),
        tmp_path / "bundle",
        Labels("tiny"),
        selection=Selection(min_entry_count=2, min_documents=1),
        vectors=VectorOptions(training=Training(dimensions=8, epochs=1)),
        decompositions=("words",),
        names_model=find("spacy-en"),
    )
    bundle = job.run(LocalExecutor())
    writable = {bundle.vectors("words").entries[row] for row in bundle.vectors("words").writable}
    assert {"paris", "film", "actress"} <= writable
    assert writable.isdisjoint({"redford", "meryl", "streep", "susan", "miller"})
    assert "redford" in bundle.vectors("words")
    said = json.loads((bundle.folder / "bundle.json").read_text())["parameters"]["names"]
    assert said["model"].startswith("core_web_sm")
    assert "/" not in said["model"]


def test_a_model_that_cannot_be_loaded_is_refused(corpus, tmp_path):
    (tmp_path / "model").mkdir()
    job = PrepareJob(Corpus.find([corpus]), tmp_path / "bundle", Labels("tiny"), names_model=tmp_path / "model")
    with pytest.raises(InputError, match="'model' cannot be loaded.*textveil resources install spacy-en"):
        job.run(LocalExecutor())
    assert not (tmp_path / "bundle.partial").exists()

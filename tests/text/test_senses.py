import math
import os
import random
import shutil

import pytest

from tests.decomposition.plain import read_wordnet
from textveil.errors import ResourceError
from textveil.resources import find
from textveil.text.senses import CORPORA, Senses, read_contents

FORMS = (
    "was better best children mice men women axes flies dying lied bases hot_dogs new_york o'brien 's a i u.s. as "
    "his thieves boxes buzzes churches dishes quickly running ran faster fastest good well xyzzy 1999 _ café"
).split()


@pytest.fixture(scope="module")
def folders():
    try:
        return find("wordnet"), find("wordnet-ic")
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def senses(folders):
    return Senses(*folders)


def test_senses_are_those_of_nltk_in_its_order(folders, senses):
    reader = read_wordnet(folders[0])
    entries = sorted(senses._load("n")._index) + sorted(senses._load("v")._index) + sorted(senses._load("a")._index)
    for word in FORMS + random.Random(7).sample(entries, 1500):
        synsets = reader.synsets(word)
        assert [sense.gloss for sense in senses.find(word, None)] == [
            frozenset(synset.definition().split()) for synset in synsets
        ]
        for part in "nv":
            found = [frozenset(synset.definition().split()) for synset in synsets if synset.pos() == part]
            assert [sense.gloss for sense in senses.find(word, part)] == found


def test_only_nouns_and_verbs_have_information_content(senses):
    assert all(sense.content is not None for part in "nv" for sense in senses.find("run", part))
    assert {sense.content for part in "ar" for sense in senses.find("well", part)} == {None}


def write_counts(folder, lines):
    for corpus in CORPORA:
        chosen = lines.get(corpus, ["1n 8 ROOT", "3v 4 ROOT"])
        (folder / f"ic-{corpus}.dat").write_text("\n".join(["wnver::x", *chosen]) + "\n")
    return [folder / f"ic-{corpus}.dat" for corpus in CORPORA]


def test_information_content_matches_a_calculation_by_hand(tmp_path):
    files = write_counts(
        tmp_path,
        {"bnc": ["1n 6 ROOT", "2n 2 ROOT", "5n 2", "3v 4 ROOT"], "brown": ["1n 8 ROOT", "5n 4", "6n 1", "7n 0"]},
    )
    contents = read_contents(files)
    assert contents["n"][5] == pytest.approx((math.log(4) + math.log(2)) / 2)  # the mean of two corpora
    assert contents["n"][6] == pytest.approx(math.log(8))
    assert 7 not in contents["n"]
    assert contents["v"] == {3: 0}


def test_a_sense_that_is_in_no_corpus_counts_as_the_rarest(folders, tmp_path):
    write_counts(tmp_path, {"semcor": ["1740n 8 ROOT", "1930n 2"]})
    (sense,) = Senses(folders[0], tmp_path).find("aardvark", "n")
    assert sense.content == pytest.approx(math.log(4))


@pytest.mark.parametrize("line", ["not a number", "9n nothing", "5n 3"])
def test_a_damaged_file_of_counts_is_reported(folders, tmp_path, line):
    write_counts(tmp_path, {"semcor": [line]})
    with pytest.raises(ResourceError, match="textveil resources install wordnet-ic --force"):
        Senses(folders[0], tmp_path).find("film", "n")


@pytest.mark.parametrize(
    ("file", "content"), [("data.noun", b"00001740 x\n"), ("index.noun", b"film n many\n"), ("noun.exc", b"\n")]
)
def test_a_damaged_file_of_wordnet_is_reported(folders, tmp_path, file, content):
    folder = shutil.copytree(folders[0], tmp_path / "wordnet", copy_function=os.symlink)
    (folder / file).unlink()
    (folder / file).write_bytes(content)
    write_counts(tmp_path, {})
    with pytest.raises(ResourceError, match="textveil resources install wordnet --force"):
        Senses(folder, tmp_path).find("film", "n")


def test_the_hash_tells_files_apart(folders, senses, tmp_path):
    write_counts(tmp_path, {})
    assert senses.sha256 != Senses(folders[0], tmp_path).sha256

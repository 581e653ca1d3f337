import json
import subprocess
import sys
from pathlib import Path

import pytest

from textveil.errors import InputError, OutputError, ParameterError
from textveil.methods.distribution.base import Distributor
from textveil.methods.distribution.caching import CachedDistributor
from textveil.text.documents import Document


class Counting(Distributor):
    """Scores the letters of words, none for short ones, and counts what it was asked."""

    name = "counting"
    invert = True

    def __init__(self, label="counting (model 1)", package="1.0"):
        super().__init__()
        self.asked = []
        self._label = label
        self._package = package

    @property
    def description(self):
        return self._label

    @property
    def versions(self):
        return {"package": self._package}

    def score(self, documents):
        self.asked += [document.text for document in documents]
        return [[len(word) / 7 if len(word) > 1 else None for word in document.words] for document in documents]


def parse(*texts):
    return list(map(Document.parse, texts))


DOCUMENTS = parse("a naïve secret", "", "Another Secret", "a naïve secret", "\ud800 lone surrogate")
EXPECTED = Counting().score(DOCUMENTS)


def test_a_document_is_scored_once():
    counting = Counting()
    cached = CachedDistributor(counting)
    assert cached.score(DOCUMENTS) == EXPECTED
    assert cached.score(DOCUMENTS[::-1]) == EXPECTED[::-1]
    assert len(counting.asked) == 4
    assert cached.score(parse("A naïve secret")) == [[None, 5 / 7, 6 / 7]]  # another text, if only by its case
    assert len(counting.asked) == 5


def test_it_is_as_the_distributor_itself():
    cached = CachedDistributor(Counting())
    assert (cached.name, cached.description, cached.invert) == ("counting", "counting (model 1)", True)
    assert (cached.data_independent, cached.versions) == (False, {"package": "1.0"})
    with pytest.raises(ParameterError, match="cached already"):
        CachedDistributor(cached)


def test_scores_are_kept_in_a_folder(tmp_path):
    CachedDistributor(Counting(), tmp_path).score(DOCUMENTS)
    again = Counting()
    assert CachedDistributor(again, tmp_path).score(DOCUMENTS) == EXPECTED
    assert again.asked == []


def test_what_another_writes_meanwhile_is_found(tmp_path):
    first, second = Counting(), Counting()
    one, two = CachedDistributor(first, tmp_path), CachedDistributor(second, tmp_path)
    one.score(DOCUMENTS)
    assert two.score(DOCUMENTS) == EXPECTED
    assert second.asked == []


@pytest.mark.parametrize("other", [Counting("counting (model 2)"), Counting(package="1.1")])
def test_another_model_or_version_has_other_scores(tmp_path, other):
    CachedDistributor(Counting(), tmp_path).score(DOCUMENTS)
    CachedDistributor(other, tmp_path).score(DOCUMENTS)
    assert len(other.asked) == 4
    assert len(list(tmp_path.glob("*/identity.json"))) == 2


def test_no_text_is_written(tmp_path):
    CachedDistributor(Counting(), tmp_path).score(DOCUMENTS)
    for path in tmp_path.rglob("*"):
        assert "secret" not in path.name
        if path.is_file():
            assert b"secret" not in path.read_bytes().lower()


def test_the_folder_says_whose_scores_they_are(tmp_path):
    cached = CachedDistributor(Counting(), tmp_path)
    (path,) = tmp_path.glob("*/identity.json")
    assert json.loads(path.read_text()) == cached.identity
    assert cached.identity["distributor"] == "counting (model 1)"
    assert set(cached.identity["versions"]) == {"textveil", "package"}


def test_what_a_killed_process_leaves_is_not_read(tmp_path):
    CachedDistributor(Counting(), tmp_path).score(DOCUMENTS)
    (path,) = tmp_path.rglob("*.npz")
    path.with_name(f".{path.name}.0123abcd.unfinished").write_bytes(path.read_bytes()[:50])
    again = Counting()
    assert CachedDistributor(again, tmp_path).score(DOCUMENTS) == EXPECTED
    assert again.asked == []


@pytest.mark.parametrize("damage", [lambda content: content[:-30], lambda _: b"", lambda _: b"\x80\x04N."])
def test_a_damaged_file(tmp_path, damage):
    CachedDistributor(Counting(), tmp_path).score(DOCUMENTS)
    (path,) = tmp_path.rglob("*.npz")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=f"{path.name}.* is damaged .*Remove it"):
        CachedDistributor(Counting(), tmp_path).score(DOCUMENTS)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Cannot write"):
        CachedDistributor(Counting(), tmp_path / "file")


WORK = """
import sys
from pathlib import Path
from tests.distribution.test_caching import Counting, CachedDistributor, parse
cached = CachedDistributor(Counting(), Path(sys.argv[1]))
for number in range(40):
    cached.score(parse(f"document {number}", f"document {number + int(sys.argv[2])}"))
"""


def test_several_processes_share_a_folder(tmp_path):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", WORK, str(tmp_path)]
    running = [subprocess.Popen([*command, str(number)], cwd=root) for number in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    again = Counting()
    documents = parse(*(f"document {number}" for number in range(42)))
    assert CachedDistributor(again, tmp_path).score(documents) == Counting().score(documents)
    assert again.asked == []

"""The bundle that ships with textveil: its size, origin, vocabularies and exclusions."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from textveil import bundles
from textveil.budget import LEVELS
from textveil.bundles import bundle as bundle_module
from textveil.bundles.building import build_bundle
from textveil.bundles.bundle import MANIFEST, Bundle, Manifest
from textveil.bundles.vector_files import write_vectors
from textveil.bundles.vectors import UNKNOWN
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.mechanisms.base import Request
from textveil.methods.mechanisms.madlib import Madlib
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.storage import computed as figures
from textveil.text.documents import spoken
from textveil.text.words import WORD

NAMES = (
    "spielberg pesci meryl streep hitchcock redford ustinov maggie isabel robert de_niro james_bond john susan peter "
    "scorsese kubrick hepburn bogart chaplin elizabeth margaret"
).split()


@pytest.fixture(scope="module")
def shipped():
    return Bundle.load("en")


def test_it_is_small_complete_and_states_its_origin(shipped):
    files = [path for path in shipped.folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 60e6
    assert len(shipped.verify()) == len(files) - 1
    assert {
        f"words/{name}" for name in ("matrix.npy", "vocabulary.txt", "excluded.txt")
    } <= shipped.manifest.files.keys()
    said = shipped.manifest.parameters
    assert said["vectors"]["source"] == "encoder"
    assert said["vectors"]["encoder"]["name"] == "all-minilm-l6-v2"
    assert said["selection"]["min_documents"] == 20
    assert said["thresholds"]["min_count"] == 40
    cited = [*said["corpus"]["files"], *said["corpus"]["background"]]
    assert len(cited) == 3
    assert all(len(file["sha256"]) == 64 and "/" not in file["name"] for file in cited)


@pytest.mark.parametrize("decomposition", list(DECOMPOSERS))
def test_every_decomposition_has_a_vocabulary_with_expressions(shipped, decomposition):
    vectors = shipped.vectors(decomposition)
    assert len(vectors) >= (60_000 if decomposition == "words" else 40_000)
    expressions = sum("_" in entry.strip("_") for entry in vectors.entries)
    assert (expressions < 1000) if decomposition == "words" else (expressions > 1000)
    counts = shipped.counts(decomposition)
    assert (np.diff(counts) <= 0).all()
    assert shipped.manifest.vectors[decomposition]["changed_neighbors"] < 0.03


@pytest.mark.parametrize("decomposition", list(DECOMPOSERS))
def test_every_decomposition_has_a_prior_a_spelling_table_and_the_same_unit(shipped, decomposition):
    assert shipped.prior(decomposition).order == 3
    assert shipped.manifest.parts[decomposition]["prior"]["min_documents"] == 20
    assert shipped.spelling(decomposition) is not None
    assert shipped.distance(decomposition)["pairs"]["0.5"] == pytest.approx(1, abs=0.01)


def test_old_words_are_known_and_never_written(shipped):
    vectors = shipped.vectors("words")
    written = {vectors.entries[row] for row in vectors.writable}
    old = {"shouldst", "thenceforward", "hath", "betwixt", "thou"}
    assert old <= set(vectors.entries)
    assert written.isdisjoint(old)
    assert {"colour", "color", "centre", "center", "boston", "london"} <= written
    assert not [word for word in written if any(letter.isdigit() for letter in word) and len(word) > 6]


@pytest.mark.parametrize("decomposition", list(DECOMPOSERS))
def test_similar_words_are_near_each_other(shipped, decomposition):
    datapath = pytest.importorskip("gensim.test.utils").datapath
    vectors = shipped.vectors(decomposition)
    judged, cosines = [], []
    for line in Path(datapath("wordsim353.tsv")).read_text(encoding="utf-8").splitlines()[1:]:
        *words, score = line.lower().split("\t")
        rows = list(map(vectors.find, words))
        if len(words) == 2 and UNKNOWN not in rows:
            one, other = vectors.matrix[rows]
            judged.append(float(score))
            cosines.append(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    assert len(judged) > 200
    assert spearmanr(judged, cosines).statistic >= 0.63


@pytest.mark.parametrize("decomposition", list(DECOMPOSERS))
def test_names_of_people_are_known_and_never_written(shipped, decomposition):
    vectors = shipped.vectors(decomposition)
    writable = {vectors.entries[row] for row in vectors.writable}
    known = [name for name in NAMES if name in vectors]
    assert len(known) >= 8
    assert not writable.intersection(NAMES)


def test_near_entries_have_similar_meanings(shipped):
    vectors = shipped.vectors("words")
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1)[:, None]

    def cosine(first: str, second: str) -> float:
        return float(unit[vectors.find(first)] @ unit[vectors.find(second)])

    for word, near, far in (("king", "queen", "banana"), ("good", "bad", "tuesday"), ("river", "stream", "actor")):
        assert cosine(word, near) > cosine(word, far) + 0.1


def test_excluded_names_are_known_and_not_writable(shipped):
    vectors = shipped.vectors("words")
    written = {spoken(vectors.entries[row]) for row in vectors.writable}
    names = set((shipped.folder / "words" / "excluded.txt").read_text(encoding="utf-8").split("\n"))
    assert len(names) > 1000
    assert not names & written
    for name in ("spielberg", "brando", "elizabeth", "hitchcock"):
        assert name in vectors
        assert name not in written


def test_writable_entries_are_words(shipped):
    vectors = shipped.vectors("words")
    for row in vectors.writable:
        written = spoken(vectors.entries[row])
        assert written == " ".join(WORD.findall(written))
        assert "_" not in written


def test_the_manifest_survives_reading_and_writing_byte_by_byte(shipped):
    path = shipped.folder / MANIFEST
    content = path.read_bytes()
    written = json.loads(Manifest.parse(content, source=path).to_json())
    stated = json.loads(content)
    assert written == stated


def test_single_words_are_replaced_by_single_words(shipped):
    vectors = shipped.vectors("words")
    several = {vectors.entries[row] for row in set(vectors.plain.tolist()) - set(vectors.writable.tolist())}
    assert several
    assert all("_" in entry for entry in several)
    assert not [vectors.entries[row] for row in vectors.writable if not vectors.entries[row].isalnum()]
    for entry in several:  # even at their own places, another entry is the nearest
        place = vectors.place(np.array([vectors.find(entry)]))
        (chosen,) = vectors.nearest(place, np.ones(1))
        assert " " not in spoken(vectors.entries[chosen])
    rows = np.repeat([vectors.find(entry) for entry in sorted(several)[:3]], 300)
    for share in (0.1, 5.0, 1000.0):
        request = Request(rows, np.full(len(rows), share), SeededRandomness(1).stream(0))
        (drawn,) = Madlib(vectors).perturb([request])
        assert not [row for row in drawn if " " in spoken(vectors.entries[row])]


@pytest.fixture
def shipped_figures(shipped, monkeypatch, tmp_path):
    """The shipped table of figures is used, and then not: a function computes them again."""
    monkeypatch.setenv("TEXTVEIL_CACHE", str(tmp_path))

    def compare(find):
        def refuse(*_):
            pytest.fail("The shipped table has no such figures. Run scripts/write_figures.py.")

        monkeypatch.setattr(shipped, "_figures", {})
        with monkeypatch.context() as patch:
            patch.setattr(bundle_module, "measure_distances", refuse)
            patch.setattr("textveil.obfuscator.find_share", refuse)
            known = find()
        monkeypatch.setattr(bundle_module, "SHIPPED", tmp_path)
        monkeypatch.setattr(shipped, "_figures", {})
        return known, find()

    return compare


def test_the_shipped_distances_are_up_to_date(shipped, shipped_figures):
    known, computed = shipped_figures(lambda: shipped.distance("words"))
    assert known.keys() == computed.keys() == {"metric", "pairs", "nearest", "center"}
    for kind in ("pairs", "nearest", "center"):
        assert known[kind] == pytest.approx(computed[kind], abs=2e-4)


@pytest.mark.parametrize("decomposition", list(DECOMPOSERS))
def test_every_shipped_decomposition_has_figures(shipped, monkeypatch, tmp_path, decomposition):
    monkeypatch.setattr(figures, "_locate", lambda _: pytest.fail("Run scripts/write_figures.py."))
    monkeypatch.setattr(shipped, "_figures", {})
    assert shipped.distance(decomposition)["pairs"]
    obfuscator = Obfuscator(shipped, decomposition=decomposition)
    high, medium, low = map(obfuscator.find_share, LEVELS.values())
    assert high < medium < low


@pytest.mark.slow
@pytest.mark.parametrize("decomposition", list(DECOMPOSERS))
def test_the_shipped_shares_are_up_to_date(shipped, shipped_figures, decomposition):
    obfuscator = Obfuscator(shipped, decomposition=decomposition)
    known, computed = shipped_figures(lambda: {level: obfuscator.find_share(rate) for level, rate in LEVELS.items()})
    assert known == pytest.approx(computed, rel=0.02)


def test_public_names_exist_and_are_listed():
    for name in bundles.__all__:
        assert getattr(bundles, name) is not None
    assert set(bundles.__all__) <= set(dir(bundles))
    assert set(bundles._LAZY) < set(bundles.__all__)


def test_names_for_building_are_those_of_their_modules():
    assert bundles.build_bundle is build_bundle
    assert bundles.write_vectors is write_vectors


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'textveil.bundles' has no attribute 'nothing'"):
        _ = bundles.nothing


def test_obfuscation_does_not_load_what_only_building_needs():
    code = (
        "import sys, textveil.obfuscator; "
        "print(*(name for name in sys.modules if name.startswith('textveil.bundles.')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    needed = "bundle entries exact_index files prior spelling vectors".split()
    assert set(shown.split()) == {f"textveil.bundles.{name}" for name in needed}

import json
import math
import mmap
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ENTRIES, EXCLUDED, random_matrix
from textveil.bundles.building import LexiconTable
from textveil.bundles.bundle import MANIFEST, Bundle
from textveil.bundles.vectors import Vectors
from textveil.errors import BundleError, ParameterError, UnknownNameError
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome


def rewrite(folder: Path, **changes) -> None:
    """Change the manifest and update the hashes of existing files."""
    import hashlib

    path = folder / MANIFEST
    values = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    for name in values["files"]:
        if (folder / name).exists():
            values["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(values), encoding="utf-8")


def test_a_bundle_returns_the_entries_and_vectors_it_was_built_from(tiny):
    vectors = tiny.vectors("words")
    assert list(vectors.entries) == ENTRIES
    np.testing.assert_array_equal(vectors.matrix, random_matrix(len(ENTRIES), 12))
    written = {vectors.entries[row] for row in vectors.writable}
    assert written == set(ENTRIES) - set(EXCLUDED) - {"green_tea", "new_york"}  # the decomposition has single words
    assert tiny.manifest.name == "tiny"
    assert tiny.manifest.vectors["words"]["writable"] == len(ENTRIES) - 2


def test_float32_is_memory_mapped(tiny):
    owner = tiny.vectors("words").matrix
    while isinstance(owner, np.ndarray):
        owner = owner.base
    assert isinstance(owner, mmap.mmap)


def test_the_hash_of_a_bundle_depends_on_its_content(make_bundle, tiny):
    assert make_bundle(excluded=EXCLUDED).hash == tiny.hash
    assert make_bundle(excluded=[]).hash != tiny.hash


def test_an_unknown_bundle_is_an_error_that_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="Choose from: en"):
        Bundle.load("no-such-bundle")


def test_a_folder_without_a_manifest_is_not_a_bundle(tmp_path):
    with pytest.raises(BundleError, match="is not a bundle"):
        Bundle.load(tmp_path)


def test_a_decomposition_without_vectors_is_an_error(tiny):
    with pytest.raises(BundleError, match="no vectors for 'pmi'. It has: words"):
        tiny.vectors("pmi")


@pytest.mark.parametrize("name", ["words/matrix.npy", "words/vocabulary.txt", "words/excluded.txt"])
def test_a_changed_file_is_detected(copied_bundle, name):
    path = copied_bundle / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    for use in (lambda bundle: bundle.vectors("words"), Bundle.verify):
        with pytest.raises(BundleError, match=f"{name}'.*is not what its manifest says"):
            use(Bundle.load(copied_bundle))


@pytest.mark.parametrize("name", ["words/matrix.npy", "words/vocabulary.txt"])
def test_a_missing_file_is_detected(copied_bundle, name):
    (copied_bundle / name).unlink()
    with pytest.raises(BundleError, match=f"file '{name}'.*cannot be read"):
        Bundle.load(copied_bundle).vectors("words")


def test_a_file_that_the_manifest_does_not_list_is_not_used(copied_bundle):
    rewrite(copied_bundle, files={"words/vocabulary.txt": ""})
    with pytest.raises(BundleError, match=r"does not list 'words/matrix\.npy'"):
        Bundle.load(copied_bundle).vectors("words")


@pytest.fixture
def with_lexicon(make_bundle):
    table = LexiconTable(["green tea", "cup of tea", "new york"], np.array([1.5, 2.5, 3.5]), {"min_count": 7})
    return make_bundle(
        lexicons={"pmi": table, "wordnet": LexiconTable(["ice cream"], license="Do.")}, decomposition="pmi"
    )


def test_a_lexicon_is_stored_with_its_scores_origin_and_license(with_lexicon):
    bundle = Bundle.load(with_lexicon.folder)
    index = bundle.lexicon("pmi")
    assert index.spelled == {"green tea", "cup of tea", "new york"}
    scores = dict(zip(["cup of tea", "green tea", "new york"], bundle.lexicon_scores("pmi").tolist(), strict=True))
    assert scores == {"cup of tea": 2.5, "green tea": 1.5, "new york": 3.5}
    assert bundle.manifest.lexicons["pmi"] == {"ngrams": 3, "min_count": 7}
    assert bundle.lexicon_scores("wordnet") is None
    assert (bundle.folder / "wordnet/lexicon_licence.txt").read_text() == "Do."
    assert "pmi/lexicon.npy" in bundle.verify()


@pytest.mark.parametrize("name", ["lexicon.npy", "lexicon_words.txt", "lexicon_scores.npy"])
def test_a_lexicon_of_another_bundle_is_detected(with_lexicon, make_bundle, tmp_path, name):
    other = make_bundle(lexicons={"pmi": LexiconTable(["red tea", "cup of tea"], np.array([1.0, 2.0]))})
    folder = shutil.copytree(with_lexicon.folder, tmp_path / "copy")
    shutil.copy(other.folder / "pmi" / name, folder / "pmi" / name)
    with pytest.raises(BundleError, match=f"pmi/{name}'.*is not what its manifest says"):
        Bundle.load(folder).lexicon("pmi")


def test_vectors_that_were_trained_with_another_lexicon_are_refused(with_lexicon, make_bundle, tmp_path):
    other = make_bundle(lexicons={"pmi": LexiconTable(["black tea", "bag of tea", "old york"])})
    folder = shutil.copytree(with_lexicon.folder, tmp_path / "copy")
    # The n-grams are the same numbers of other words.
    shutil.copy(other.folder / "pmi/lexicon_words.txt", folder / "pmi/lexicon_words.txt")
    shutil.copy(other.folder / "pmi/lexicon.npy", folder / "pmi/lexicon.npy")
    rewrite(folder)
    assert Bundle.load(folder).lexicon("pmi").spelled == {"black tea", "bag of tea", "old york"}
    with pytest.raises(BundleError, match="belong to the lexicon of another version"):
        Bundle.load(folder).vectors("pmi")


@pytest.mark.parametrize(
    ("ngrams", "words"),
    [
        ([[1, 5, 0, 0]], "a\nb\n"),  # no such word
        ([[1, 0, 0, 0]], "a\nb\n"),  # one word
        ([[1, 2, 0]], "a\nb\n"),
        ([[1, 2, 0, 2]], "a\nb\n"),  # a hole
        ([[2, 1, 0, 0], [1, 2, 0, 0]], "a\nb\n"),  # out of order
        ([[1, 2, 0, 0], [1, 2, 0, 0]], "a\nb\n"),  # twice
        ([[1, 2, 0, 0]], "a\nb c\n"),  # two words in one
        ([[1, 2, 0, 0]], "a\n\n"),
        ([[1, 2, 0, 0]], "a\na\n"),
        ([[1.0, 2.0, 0.0, 0.0]], "a\nb\n"),
    ],
)
def test_a_lexicon_that_does_not_fit_its_words(with_lexicon, tmp_path, ngrams, words):
    folder = shutil.copytree(with_lexicon.folder, tmp_path / "copy")
    kind = np.uint8 if isinstance(ngrams[0][0], int) else np.float64
    np.save(folder / "pmi/lexicon.npy", np.array(ngrams, dtype=kind))
    (folder / "pmi/lexicon_words.txt").write_text(words)
    rewrite(folder)
    with pytest.raises(BundleError, match="does not fit its words|but any x 4 is expected"):
        Bundle.load(folder).lexicon("pmi")


@pytest.mark.parametrize("ngrams", [[], ["tea"], ["a b c d e"], ["a b", "a b"]])
def test_a_lexicon_has_ngrams_of_two_to_four_words(make_bundle, ngrams):
    with pytest.raises(ParameterError, match="A lexicon needs n-grams"):
        make_bundle(lexicons={"pmi": LexiconTable(ngrams)})


class Explosive:
    """Leaves a file behind when it is unpickled."""

    def __reduce__(self):
        return (Path.touch, (Path("exploded"),))


def test_an_object_array_is_refused_and_not_unpickled(copied_bundle, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save(copied_bundle / "words/matrix.npy", np.array([Explosive()] * len(ENTRIES), dtype=object), allow_pickle=True)
    rewrite(copied_bundle)
    with pytest.raises(BundleError, match="not a plain array of numbers"):
        Bundle.load(copied_bundle).vectors("words")
    assert not Path("exploded").exists()


@pytest.mark.parametrize(
    "matrix",
    [np.ones((3, 4), np.float32), np.ones(len(ENTRIES), np.float32), np.ones((len(ENTRIES), 2), np.float64)],
    ids=["too short", "one dimension", "double precision"],
)
def test_a_matrix_that_does_not_fit_is_refused(copied_bundle, matrix):
    np.save(copied_bundle / "words/matrix.npy", matrix)
    rewrite(copied_bundle)
    with pytest.raises(BundleError, match="38 x any is expected|has type float64"):
        Bundle.load(copied_bundle).vectors("words")


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e20], ids=str)
def test_infinite_and_huge_numbers_are_refused(copied_bundle, number):
    matrix = random_matrix(len(ENTRIES), 12)
    matrix[5, 5] = number
    np.save(copied_bundle / "words/matrix.npy", matrix)
    rewrite(copied_bundle)
    with pytest.raises(BundleError, match="not finite"):
        Bundle.load(copied_bundle).vectors("words")


def test_a_truncated_matrix_is_refused(copied_bundle):
    path = copied_bundle / "words/matrix.npy"
    path.write_bytes(path.read_bytes()[:-100])
    rewrite(copied_bundle)
    with pytest.raises(BundleError, match="another size than its header says"):
        Bundle.load(copied_bundle).vectors("words")


def test_a_bundle_of_a_newer_format_asks_for_an_update(copied_bundle):
    rewrite(copied_bundle, format=99)
    with pytest.raises(BundleError, match=r"format 99.*Update textveil"):
        Bundle.load(copied_bundle)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"format": 3}', '{"format": "1"}'])
def test_an_invalid_manifest_is_refused(copied_bundle, content):
    (copied_bundle / MANIFEST).write_text(content, encoding="utf-8")
    with pytest.raises(BundleError, match=r"bundle\.json"):
        Bundle.load(copied_bundle)


@pytest.mark.parametrize("name", ["../secrets", "/etc/passwd", "words/../../x"])
def test_a_manifest_names_only_files_in_its_folder(copied_bundle, name):
    rewrite(copied_bundle, files={name: "0"})
    with pytest.raises(BundleError, match="outside its folder"):
        Bundle.load(copied_bundle)


def test_a_manifest_that_hides_the_exclusions_is_refused(copied_bundle):
    files = json.loads((copied_bundle / MANIFEST).read_text(encoding="utf-8"))["files"]
    del files["words/excluded.txt"]
    rewrite(copied_bundle, files=files)
    with pytest.raises(BundleError, match="does not fit its files: writable"):
        Bundle.load(copied_bundle).vectors("words")


def test_the_stored_spelling_of_names_stays_that_of_the_format(tiny):
    manifest, stored = tiny.manifest, json.loads((tiny.folder / MANIFEST).read_bytes())
    assert stored["format"] == 3
    assert (stored["licence"], manifest.license) == ("MIT", "MIT")
    table, stored_table = manifest.vectors["words"], stored["vectors"]["words"]
    assert table["changed_neighbors"] == stored_table["changed_neighbours"] == 0
    assert table["distance"]["center"] == stored_table["distance"]["centre"]
    assert "license" not in stored
    assert "changed_neighbors" not in stored_table
    assert "centre" not in tiny.distance("words")


def test_parameters_are_not_renamed(make_bundle):
    parameters = {"licence": "a", "license": "b", "centre": {"center": 1}}
    bundle = make_bundle(parameters=parameters)
    assert Bundle.load(bundle.folder).manifest.parameters == parameters


@pytest.mark.parametrize("version", [1, 2])
def test_a_bundle_of_an_older_format_is_to_be_prepared_anew(copied_bundle, version):
    rewrite(copied_bundle, format=version)
    with pytest.raises(BundleError, match=f"format {version}.*Prepare the bundle anew"):
        Bundle.load(copied_bundle)


def test_a_manifest_without_a_license_names_the_stored_field(copied_bundle):
    path = copied_bundle / MANIFEST
    values = json.loads(path.read_bytes())
    del values["licence"]
    path.write_text(json.dumps({**values, "license": "MIT"}), encoding="utf-8")
    with pytest.raises(BundleError, match="no valid 'licence'"):
        Bundle.load(copied_bundle)


def change_table(folder: Path, **changes) -> None:
    """Change what a manifest states about its words."""
    values = json.loads((folder / MANIFEST).read_bytes())
    rewrite(folder, vectors={"words": {**values["vectors"]["words"], **changes}})


def scale(folder: Path, factor: float) -> None:
    """Multiply the vectors of words, and renew their hash."""
    path = folder / "words/matrix.npy"
    np.save(path, np.load(path) * np.float32(factor))
    rewrite(folder)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"entries": 39}, "entries"),
        ({"dimensions": 13}, "dimensions"),
        ({"writable": 5}, "writable"),
        ({"writable": len(ENTRIES) - 4}, "writable"),
        ({"storage": "int8"}, "storage"),
        ({"distance": {"metric": "cosine"}}, "distance.metric"),
        ({"distance": {"nearest": {"0.5": 1.0}}}, "distance.nearest"),
        ({"distance": {"nearest": "far"}}, "distance.nearest"),
        ({"distance": {"centre": {}}}, "distance.centre"),
        ({"distance": {"mean": {}}}, "distance.mean"),
    ],
)
def test_a_false_field_is_named(copied_bundle, changes, field):
    Bundle.load(copied_bundle).verify()
    change_table(copied_bundle, **changes)
    with pytest.raises(BundleError, match=f"does not fit its files: {field} of 'words' should be"):
        Bundle.load(copied_bundle).verify()


@pytest.mark.parametrize("kind", ["pairs", "nearest", "centre"])
def test_every_quantile_is_computed_again(copied_bundle, kind):
    stated = json.loads((copied_bundle / MANIFEST).read_bytes())["vectors"]["words"]["distance"]
    for quantile, value in stated[kind].items():
        change_table(copied_bundle, distance={**stated, kind: {**stated[kind], quantile: value + 0.02}})
        with pytest.raises(BundleError, match=f"distance.{kind} of 'words' should be .*{value}"):
            Bundle.load(copied_bundle).verify()
    change_table(copied_bundle, distance={**stated, kind: {key: value + 1e-4 for key, value in stated[kind].items()}})
    Bundle.load(copied_bundle).verify()  # processors round differently


def test_figures_are_computed_once_for_a_bundle(copied_bundle):
    bundle, computed = Bundle.load(copied_bundle), []

    def compute():
        computed.append(len(computed))
        return {"quantiles": {"0.5": 3.2}}

    bundle.find_figures("words", "a name", compute)["quantiles"]["0.5"] = 9.0
    assert bundle.find_figures("words", "a name", compute) == {"quantiles": {"0.5": 3.2}}
    assert len(computed) == 1
    bundle.find_figures("words", "another name", compute)
    assert len(computed) == 2


def test_few_figures_are_kept_in_memory(copied_bundle, monkeypatch):
    monkeypatch.setattr("textveil.bundles.bundle.MOST_CACHED", 2)
    bundle, computed = Bundle.load(copied_bundle), []
    for name in ("one", "two", "three", "three", "one"):
        bundle.find_figures("words", name, lambda name=name: computed.append(name) or {"name": name})
    assert computed == ["one", "two", "three", "one"]


def test_distances_that_are_not_stated_are_not_compared(copied_bundle):
    change_table(copied_bundle, distance={})
    Bundle.load(copied_bundle).verify()


def test_not_a_number_is_not_json(copied_bundle):
    change_table(copied_bundle, changed_neighbours=float("nan"))
    with pytest.raises(BundleError, match="is not JSON"):
        Bundle.load(copied_bundle)


@pytest.mark.parametrize("counts", [[-1] + [5] * 37, [0] * 38, [2**62] * 38], ids=["negative", "none", "overflow"])
def test_counts_are_numbers_of_occurrences(copied_bundle, counts):
    np.save(copied_bundle / "words/counts.npy", np.array(counts, dtype=np.int64))
    files = json.loads((copied_bundle / MANIFEST).read_bytes())["files"]
    rewrite(copied_bundle, files={**files, "words/counts.npy": ""})
    with pytest.raises(BundleError, match="are not numbers of occurrences"):
        Bundle.load(copied_bundle).counts("words")


@pytest.fixture(scope="module")
def english(make_bundle):
    """The most frequent words of the shipped bundle."""
    vectors = Bundle.load("en").vectors("words")
    return make_bundle(vectors.entries[:2000], matrix=vectors.matrix[:2000])


def test_the_largest_share_follows_the_vectors_so_that_longer_ones_protect_as_well(english, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTVEIL_CACHE", str(tmp_path / "cache"))
    folder = shutil.copytree(english.folder, tmp_path / "copy")
    scale(folder, 1e6)
    normal, longer = (Obfuscator(bundle, decomposition="words", seed=1) for bundle in (english, Bundle.load(folder)))
    assert longer.largest_share == pytest.approx(normal.largest_share / 1e6, rel=0.05)
    assert longer.terms.distance == Bundle.load(folder).distance("words")
    assert longer.terms.distance["pairs"]["0.5"] > 1e5
    words = [english.vectors("words").entries[row] for row in english.vectors("words").writable[500:800]]
    result = longer.obfuscate(" ".join(words), epsilon_per_word=1000)
    returned = sum(old == chunk.replacement for old, chunk in zip(words, result.chunks, strict=True))
    # On average over the vocabulary, half of the words return. Without the cap, all of them would.
    assert returned < 200
    free = Obfuscator(Bundle.load(folder), decomposition="words", seed=1, largest_share=math.inf)
    lifted = free.obfuscate(" ".join(words), epsilon_per_word=1000)
    assert lifted.outcome is DocumentOutcome.RETURNED


def test_longer_vectors_are_measured_and_not_believed(copied_bundle, tiny):
    scale(copied_bundle, 1e6)
    longer = Bundle.load(copied_bundle)
    assert longer.manifest.vectors["words"]["distance"] == tiny.manifest.vectors["words"]["distance"]
    for kind in ("pairs", "nearest", "center"):
        expected = [1e6 * value for value in tiny.distance("words")[kind].values()]
        np.testing.assert_allclose(list(longer.distance("words")[kind].values()), expected, rtol=1e-4)
    with pytest.raises(BundleError, match="distance.pairs of 'words' should be"):
        longer.verify()


def test_two_words_with_longer_vectors_are_refused_although_no_stated_distance_changes(english, tmp_path):
    folder = shutil.copytree(english.folder, tmp_path / "copy")
    Bundle.load(folder).verify()
    matrix = np.load(folder / "words/matrix.npy")
    matrix[[1001, 1501]] *= 12
    np.save(folder / "words/matrix.npy", matrix)
    rewrite(folder)
    assert Bundle.load(folder).check_files()  # the sample of distances has neither of them
    with pytest.raises(BundleError, match=r"2 of 2,000 entries .* return at every level: lines 1,002, 1,502 of vocab"):
        Bundle.load(folder).verify()


@pytest.mark.parametrize(
    "damage",
    [
        lambda axes: axes * 2,
        lambda axes: np.where(np.eye(*axes.shape) > 0, np.nan, axes).astype(axes.dtype),
        lambda axes: np.repeat(axes[:, :1], len(axes), axis=1),
    ],
    ids=["longer", "not a number", "twice the same"],
)
def test_axes_that_are_not_orthonormal_are_refused(copied_bundle, damage):
    path = copied_bundle / "words/axes.npy"
    np.save(path, damage(np.load(path)))
    rewrite(copied_bundle)
    for use in (lambda bundle: bundle.vectors("words"), Bundle.verify):
        with pytest.raises(BundleError, match="not orthonormal"):
            use(Bundle.load(copied_bundle))


def test_axes_of_other_vectors_are_refused(copied_bundle):
    np.save(copied_bundle / "words/axes.npy", np.eye(5, dtype=np.float32))
    rewrite(copied_bundle)
    with pytest.raises(BundleError, match=r"axes\.npy.*5 x 5, but 12 x 12"):
        Bundle.load(copied_bundle).vectors("words")


def test_stored_axes_are_those_of_the_vectors(tiny):
    vectors = tiny.vectors("words")
    np.testing.assert_array_equal(vectors.axes, np.load(tiny.folder / "words/axes.npy"))
    np.testing.assert_allclose(vectors.axes, Vectors(vectors.entries, vectors.matrix).axes, atol=1e-6)


@pytest.fixture
def spelling_bundle(make_bundle, tmp_path) -> Path:
    """A copy of a bundle with a spelling table, which a test may damage."""
    words = [first + middle + end for first in "bdklmnrst" for middle in "aeiou" for end in ("nd", "nds", "nding")]
    return Path(shutil.copytree(make_bundle(words, spelling=True).folder, tmp_path / "spelling"))


def test_a_bundle_places_unknown_words_by_their_spelling(spelling_bundle):
    bundle = Bundle.load(spelling_bundle)
    spelling = bundle.spelling("words")
    assert spelling is bundle.spelling("words")
    near, far = spelling.place(["bandings", "quux"])
    np.testing.assert_array_equal(far, bundle.vectors("words").center)
    assert np.linalg.norm(near - far) > 0.1
    assert {"words/spelling.npy", "words/spelling_keys.npy", "words/spelling_scales.npy"} <= set(bundle.verify())


def test_a_bundle_without_a_spelling_table_has_none(tiny):
    assert tiny.spelling("words") is None


@pytest.mark.parametrize("name", ["spelling.npy", "spelling_keys.npy", "spelling_scales.npy"])
def test_a_changed_spelling_table_is_detected(spelling_bundle, name):
    path = spelling_bundle / "words" / name
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    for use in (lambda bundle: bundle.spelling("words"), Bundle.verify):
        with pytest.raises(BundleError, match=f"words/{name}'.*is not what its manifest says"):
            use(Bundle.load(spelling_bundle))


@pytest.mark.parametrize(
    ("name", "damage", "fault"),
    [
        ("spelling.npy", lambda rows: rows[1:], "but .* x any is expected"),
        ("spelling.npy", lambda rows: rows.astype(np.float32), "another type"),
        ("spelling.npy", lambda rows: np.tile(rows, 2), "more dimensions than the bundle has axes"),
        ("spelling.npy", lambda rows: rows[:, :3], "dimensions should be 3"),
        ("spelling_keys.npy", lambda keys: keys[::-1], "not in order"),
        ("spelling_scales.npy", lambda scales: scales * np.float32(np.nan), "not finite"),
        ("spelling_scales.npy", lambda scales: scales[1:], "is expected"),
    ],
)
def test_a_false_spelling_table_is_refused(spelling_bundle, name, damage, fault):
    path = spelling_bundle / "words" / name
    np.save(path, np.ascontiguousarray(damage(np.load(path))))
    rewrite(spelling_bundle)
    for use in (lambda bundle: bundle.spelling("words"), Bundle.verify):
        with pytest.raises(BundleError, match=fault):
            use(Bundle.load(spelling_bundle))


def test_a_spelling_table_without_stored_axes_is_refused(spelling_bundle):
    files = json.loads((spelling_bundle / MANIFEST).read_text())["files"]
    rewrite(spelling_bundle, files={name: value for name, value in files.items() if name != "words/axes.npy"})
    with pytest.raises(BundleError, match="than the bundle has axes"):
        Bundle.load(spelling_bundle).spelling("words")


def test_a_matrix_is_hashed_before_it_is_used(copied_bundle):
    assert len(Bundle(copied_bundle).vectors("words")) == len(ENTRIES)
    path = copied_bundle / "words/matrix.npy"
    content = bytearray(path.read_bytes())
    content[-4:] = np.float32(np.nan).tobytes()  # the wrong hash is reported, not the number
    path.write_bytes(content)
    with pytest.raises(BundleError, match=r"words/matrix.npy' .* the SHA-256 differs"):
        Bundle(copied_bundle).vectors("words")

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from textveil.bundles.bundle import Bundle
from textveil.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, ["bundle", *map(str, arguments)])


def test_info_describes_the_shipped_bundle():
    result = run("info")
    assert result.exit_code == 0
    for piece in (
        "en 2.0",
        "tokens",
        "64 dimensions",
        "prior with n-grams",
        "spelling table",
        "all-minilm-l6-v2",
        "int8",
    ):
        assert piece in result.stdout


def test_info_as_json():
    assert json.loads(run("info", "en", "--json").stdout)["name"] == "en"


def test_verify_confirms_the_files_or_names_a_changed_one(copied_bundle):
    said = run("verify", copied_bundle).stdout
    assert "4 files match the manifest" in said
    assert "words     vectors: computed again and equal" in said
    (copied_bundle / "words" / "vocabulary.txt").write_text("other", encoding="utf-8")
    result = run("verify", copied_bundle)
    assert result.exit_code == 1
    assert "vocabulary.txt" in result.stderr


def test_verify_names_a_false_field_and_info_shows_the_true_values(copied_bundle, tiny):
    path = copied_bundle / "bundle.json"
    values = json.loads(path.read_bytes())
    values["vectors"]["words"]["distance"]["pairs"] = dict.fromkeys(("0.05", "0.25", "0.5", "0.75", "0.95"), 77.5)
    path.write_text(json.dumps(values))
    result = run("verify", copied_bundle)
    assert result.exit_code == 1
    assert "distance.pairs of 'words' should be" in result.stderr
    said = run("info", copied_bundle).stdout
    assert "77.5" not in said
    assert f"50% {tiny.distance('words')['pairs']['0.5']:g}" in said
    assert "38 entries, 12 dimensions, 34 may be written" in said


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("tea 1 2 3\n. . . 4 5 6\nJane 7 8 9\ncup 1 1 1\ntea 0 0 0\n", encoding="utf-8")
    return path


def test_import_builds_a_bundle_that_works(tmp_path, glove):
    names = tmp_path / "names.txt"
    names.write_text("jane\nnobody\n", encoding="utf-8")  # exclusion compares written forms
    out = tmp_path / "mine"
    result = run("import", glove, "--output", out, "--exclude", names, "--license", "PDDL", "--storage", "float16")
    assert result.exit_code == 0, result.stderr
    assert "4 entries of 3 dimensions" in result.stdout
    assert "2 of them may be written" in result.stdout
    assert "0 unusable entries, 1 repeated" in result.stderr
    assert "Of the 2 entries to exclude, 0 are in the vocabulary in the same spelling" in result.stderr
    bundle = Bundle.load(out)
    assert bundle.manifest.license == "PDDL"
    unit = bundle.manifest.vectors["words"]["unit"]
    np.testing.assert_allclose(bundle.vectors("words").matrix[1] * unit, [4, 5, 6], rtol=1e-3)
    used = CliRunner().invoke(
        app, ["obfuscate", "a nice tea", "--epsilon", "9000", "--form", "keep", "--bundle", str(out)]
    )
    assert used.stdout.split()[0] == "a"
    assert set(used.stdout.split()[1:]) <= {"tea", "cup"}


def test_import_refuses_wrong_options_and_leaves_no_folder(tmp_path, glove):
    out = tmp_path / "mine"
    for arguments, code, message in [
        (["--format", "txt"], 2, "Did you mean 'text'"),
        (["--storage", "int4"], 2, "Did you mean 'int8'"),
        (["--limit", "0"], 2, "--limit must be at least 1"),
        (["--decomposition", "wrods"], 2, "Did you mean 'words'"),
        (["--exclude", tmp_path / "none"], 1, "Check the path"),
        (["--format", "binary"], 1, "Try --format text"),
    ]:
        result = run("import", glove, "--output", out, *arguments)
        assert result.exit_code == code, arguments
        assert message in result.stderr
        assert not out.exists()
    assert run("import", tmp_path / "none.txt", "--output", out).exit_code == 1
    out.mkdir()
    assert run("import", glove, "--output", out).exit_code == 2


def test_import_includes_lexicons(tmp_path, glove):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("green tea\n" * 5 + "a cup of green tea\n" * 5, encoding="utf-8")
    counts, lexicons, mine = (tmp_path / name for name in ("counts", "lexicons", "mine"))
    for command in (
        ["count", corpus, "-o", counts, "--min-count", "2", "--executor", "local", "-q"],
        ["score", counts, "-o", lexicons, "--top", "100", "--min-pmi", "0"],
    ):
        assert CliRunner().invoke(app, ["prepare", *map(str, command)]).exit_code == 0
    result = run("import", glove, "--output", mine, "--decomposition", "pmi", "--lexicons", lexicons)
    assert result.exit_code == 0, result.stderr
    bundle = Bundle.load(mine)
    assert "green tea" in bundle.lexicon("pmi").spelled
    assert bundle.lexicon_scores("llr") is not None
    assert "lexicon of" in run("info", mine).stdout
    obfuscated = CliRunner().invoke(
        app,
        ["obfuscate", "Green tea!", "-e", "9", "--decomposition", "pmi", "--bundle", str(tmp_path / "mine"), "--json"],
    )
    assert obfuscated.exit_code == 0, obfuscated.stderr
    needed = run("import", glove, "--output", tmp_path / "other", "--decomposition", "llr")
    assert needed.exit_code == 2
    assert "Set --lexicons to the output folder" in needed.stderr
    refused = run("import", glove, "--output", tmp_path / "other", "--lexicons", counts)
    assert refused.exit_code == 1
    assert "textveil prepare score" in refused.stderr


def test_list_names_the_shipped_bundles():
    line = run("list").stdout.splitlines()[0]
    assert line.startswith("en  ")
    assert line.endswith("words, pmi, llr, tscore, pos, wordnet")


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_what_is_exported(tmp_path, tiny, binary):
    from gensim.models import KeyedVectors

    path = tmp_path / "vectors"
    result = run("export", tiny.folder, "--output", path, *(["--binary"] if binary else []))
    assert result.exit_code == 0, result.stderr
    assert "38 entries of 12 dimensions" in result.stdout
    read = KeyedVectors.load_word2vec_format(str(path), binary=binary)
    assert read.index_to_key == list(tiny.vectors("words").entries)
    np.testing.assert_array_equal(read.vectors, tiny.vectors("words").matrix)
    assert run("export", tiny.folder, "--output", path).exit_code == 2
    assert run("export", tiny.folder, "--output", path, "--overwrite", "--decomposition", "pmi").exit_code == 1
    assert path.stat().st_size > 0  # the file was not replaced
    imported = run("import", path, "--output", tmp_path / "again")
    assert imported.exit_code == 0, imported.stderr


def test_diff_names_what_changed_and_nothing_else(make_bundle):
    before = make_bundle(["tea", "cup"], version="1")
    after = make_bundle(["tea", "coffee"], version="2", matrix=before.vectors("words").matrix)
    said = run("diff", before.folder, after.folder).stdout
    assert 'version: "1" -> "2"' in said
    assert "known entries: 1 added (coffee); 1 removed (cup)" in said
    assert "storage" not in said
    found = json.loads(run("diff", before.folder, after.folder, "--json").stdout)
    assert found["words"]["known entries"]["examples_added"] == ["coffee"]
    assert run("diff", before.folder, before.folder).stdout == "The bundles do not differ.\n"


def test_info_tells_the_origin_of_vectors_and_their_unit(make_bundle):
    options = {"source": "both", "encoder": {"name": "mine", "sha256": "ab"}, "word2vec": {"architecture": "cbow"}}
    bundle = make_bundle(parameters={"vectors": options}, standardize=True)
    said = run("info", bundle.folder).stdout
    assert "vectors   encoder mine and word2vec (cbow)" in said
    assert f"divided by {bundle.manifest.vectors['words']['unit']:g}, their median before" in said
    assert "size      0.0 MB" in said

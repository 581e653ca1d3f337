"""The soak works, notices what it is meant to notice, and what it has found stays repaired."""

from __future__ import annotations

import json
import time

import pytest

from textveil import Bundle, BundleError, Certificate, InputError, Obfuscator, StudyError
from textveil.experiments.study import load_study
from textveil.language.codes import find_codes
from textveil.language.text import Document
from textveil.storage.hashing import hash_file


@pytest.mark.parametrize(
    "text",
    [
        "@ " + "a" * 40_000,
        "@ " + "a." * 10_000,
        "@1" + " -" * 40 + " x",
        "@ " + "(" * 40_000,
        "@1" + ")" * 20_000 + "x",
    ],
    ids=["a word", "labels", "dashes", "open", "closed"],
)
def test_a_long_run_of_characters_is_searched_for_codes_in_little_time(text):
    document = Document.parse(text)
    started = time.process_time()
    find_codes(document)
    assert time.process_time() - started < 2  # it took from seconds to years


@pytest.mark.parametrize("content", [b"PK\x03\x04 no archive", b"PK\x05\x06" + b"\0" * 18])
def test_an_archive_in_place_of_an_array_is_refused(copied_bundle, content):
    check_array(copied_bundle, content)


def test_an_array_with_a_broken_header_is_refused(copied_bundle):
    intact = (copied_bundle / "words/matrix.npy").read_bytes()
    check_array(copied_bundle, intact.replace(b"}", b"(", 1))
    check_array(copied_bundle, intact.replace(b"(38, 12)", b"(-1, '')"))


def check_array(folder, content):
    """Refused, although its hash is right."""
    (folder / "words/matrix.npy").write_bytes(content)
    manifest = json.loads((folder / "bundle.json").read_text())
    manifest["files"]["words/matrix.npy"] = hash_file(folder / "words/matrix.npy")
    (folder / "bundle.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="matrix"):
        Bundle(folder).vectors("words")


@pytest.mark.parametrize(
    "value", ["!!int ''", "!!bool x", "!!timestamp x", "!!map [a]", "!!map [[a, b]]", "{? !!set {a}: b}", "[[[[" * 2000]
)
def test_a_study_with_a_value_that_does_not_fit_its_tag_is_refused(tmp_path, value):
    (tmp_path / "study.yaml").write_text(f"name: {value}\n")
    with pytest.raises(StudyError, match="study.yaml"):
        load_study(tmp_path / "study.yaml")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("words", "perturbed"), "5"),
        (("words", "perturbed"), True),
        (("documents", "obfuscated"), -1),
        (("returned", "words"), 10**400),
        (("returned", "documents", "100%"), None),
        (("words_with_largest_share",), 1.5),
        (("budget", "largest_spent"), "x"),
        (("budget", "largest_share"), "x"),
        (("budget", "average_length"), []),
        (("not_protected",), None),
        (("not_protected",), [5]),
        (("claim",), 5),
    ],
)
def test_a_certificate_with_a_value_of_another_kind_is_refused(tiny, place, value):
    values = json.loads(Obfuscator(tiny, largest_share=5.0).obfuscate("good film", epsilon=9).certificate.to_json())
    assert Certificate.from_dict(values).tally.words.total() == 2
    inner = values
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(InputError, match="incomplete or damaged"):
        Certificate.from_dict(values)

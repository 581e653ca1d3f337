"""The documentation site: its examples are run, its reference fits the code, and it builds without a warning."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.docs_site.api import write_api_pages
from scripts.docs_site.check import find_faults, find_lost
from scripts.docs_site.commands import write_command_pages
from scripts.docs_site.examples import read_examples, run_examples
from scripts.docs_site.formats import Field, list_manifest_fields, list_schema_fields, list_study_fields
from scripts.docs_site.methods import write_methods_page
from scripts.docs_site.outside import rewrite
from scripts.docs_site.public_names import find_homes, list_public_names, list_undocumented
from scripts.docs_site.rst import escape
from textveil.bundles import Bundle
from textveil.lab.study import Study

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if read_examples(page.read_text(encoding="utf-8"))]
FAST = {"quickstart.md", "protect_reviews.md"}
CHECKER = doctest.OutputChecker()


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page.name in FAST else pytest.mark.slow, id=page.name) for page in PAGES]
)
def test_commands_print_what_the_page_says(page, tmp_path):
    for said, found in run_examples(page.read_text(encoding="utf-8"), tmp_path):
        if not CHECKER.check_output(said, found, doctest.ELLIPSIS):
            assert found == said


def test_the_pages_with_commands_are_found():
    assert {page.name for page in PAGES} >= FAST
    assert len(PAGES) >= 6


def test_a_page_is_run_in_order_in_one_folder(tmp_path):
    page = (
        "```{code-block} text\n:caption: a.txt\n\nfirst\n```\n\n"
        "```console\n$ cat a.txt\nfirst\n$ cp a.txt \\\n    b.txt\n```\n"
        "\nText.\n\n```console\n$ cat b.txt; echo wrong >&2; echo 'counting: 5 parts (56%)'\nsecond\n```\n"
    )
    (one, now), (two, other) = run_examples(page, tmp_path)
    assert one == now == "$ cat a.txt\nfirst\n$ cp a.txt \\\n    b.txt\n"
    assert two != other == "$ cat b.txt; echo wrong >&2; echo 'counting: 5 parts (56%)'\nfirst\nwrong\n"


@pytest.fixture(scope="module")
def names():
    return list_public_names()


def test_every_public_name_has_a_docstring(names):
    assert list_undocumented(names) == []


def test_a_name_without_a_docstring_is_found(tmp_path, monkeypatch):
    (tmp_path / "bare_room").mkdir()
    (tmp_path / "bare_room/__init__.py").write_text(
        "from dataclasses import dataclass\n__all__ = ['A', 'B', 'c', 'D', 'E']\nA = 1\nB = 2\n'''Two.'''\n"
        "def c(): pass\n@dataclass\nclass D:\n    x: int\nclass E(ValueError): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = list_public_names(tmp_path / "bare_room", "bare_room")
    assert list_undocumented(found) == ["bare_room.A", "bare_room.c", "bare_room.D", "bare_room.E"]


def test_every_public_name_is_on_one_page(names):
    pages = write_api_pages(names)
    assert set(pages) == {"index", *names}
    homes = find_homes(names)
    assert homes["textveil.Bundle"] == "textveil.bundles.Bundle"
    assert homes["textveil.Obfuscator"] == "textveil.Obfuscator"
    for path, home in homes.items():
        module, _, name = home.rpartition(".")
        assert f":: {home}\n" in pages[module] or f".. py:data:: {name}\n" in pages[module], path
        assert path == home or f":: {path}\n" not in "".join(pages.values())


def test_every_command_and_flag_is_in_the_reference():
    pages = write_command_pages()
    assert "textveil experiment run\n-----" in pages["experiment"]
    for line in ("-e, --epsilon <float>", "--resume", "TEXT", "--rank-decay <float>"):
        assert f".. option:: {line}\n" in pages["obfuscate"]
    for name in pages:
        assert name == "index" or f"<{name}>`" in pages["index"]


def test_every_method_is_in_the_reference():
    page = write_methods_page()
    for name in ("pmi", "yake", "fluent", "linkage", "transformer"):
        assert f"``{name}``\n~~~" in page
    assert ".. rubric:: Guarantee" in page


def test_every_field_of_a_certificate_has_a_meaning():
    fields = list_schema_fields(json.loads((DOCS / "certificate.schema.json").read_text(encoding="utf-8")))
    assert all(field.meaning for field in fields)
    assert {"budget.largest_share", "rounds[].decomposition.model.sha256"} <= {field.name for field in fields}


def test_fields_of_a_schema_are_read_with_their_references():
    schema = {
        "required": ["a"],
        "properties": {"a": {"$ref": "#/$defs/count", "description": "A."}, "b": {"enum": ["x", None]}},
        "$defs": {"count": {"type": ["integer", "null"]}},
    }
    a, b = list_schema_fields(schema)
    assert a == Field("a", "integer or null", "yes", "A.")
    assert b == Field("b", '`"x"`, `null`', "no", "")


def test_every_key_of_a_study_has_a_meaning():
    fields = {field.name: field for field in list_study_fields(Study)}
    assert list(fields) == list(Study.model_fields)
    assert all(field.meaning for field in fields.values())
    assert (fields["draws"].kind, fields["draws"].needed) == ("whole number", "`3`")
    assert fields["datasets"].needed == "required"


def test_every_field_of_a_manifest_has_a_meaning():
    manifest = json.loads(Bundle.load("en").manifest.to_json())
    assert [field.name for field in list_manifest_fields()] == list(manifest)
    page = (DOCS / "reference/bundle.md").read_text(encoding="utf-8")
    for table in ("vectors", "lexicons"):
        for each in manifest[table].values():
            assert all(f"`{key}`" in page or f"`{key}." in page for key in each), table
    for parts in manifest["parts"].values():
        for part, fields in parts.items():
            assert all(f"`{part}.{key}`" in page for key in fields), part


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("study", "[README](../README.md)", "[README](/index.md)"),
        ("tutorials/a", "[guide](../../CONTRIBUTING.md#rules)", "[guide](/contributing.md#rules)"),
        ("bundles", "[log](../scripts/a.log)", "log (`scripts/a.log`)"),
        ("study", "[form](form.md#what)", "[form](form.md#what)"),
        ("tutorials/a", "[form](../form.md)", "[form](../form.md)"),
        ("tutorials/a", "![curves](../figures/b.svg)", "![curves](../figures/b.svg)"),
    ],
)
def test_links_to_files_outside_the_site_lead_to_pages_and_others_stay(page, text, expected):
    assert rewrite(text, page) == expected


def test_plain_text_has_no_markup():
    assert escape("a * b | `c` d_") == r"a \* b \| \`c\` d\_"


def test_broken_links_and_foreign_files_are_found(tmp_path):
    (tmp_path / "b.html").write_text('<h1 id="top">B</h1><a href="a.html">a</a>')
    (tmp_path / "a.html").write_text(
        '<a href="b.html#top">1</a><a href="b.html#gone">2</a><a href="c.html">3</a><a href="https://example.org">4</a>'
        '<a href="#nowhere">5</a><script src="https://example.org/x.js"></script>'
        '<link rel="stylesheet" href="//cdn/x.css">'
    )
    assert find_faults(tmp_path) == [
        "a.html: b.html#gone is no place on that page.",
        "a.html: c.html does not exist.",
        "a.html: #nowhere is no place on that page.",
        "a.html: https://example.org/x.js is fetched from another server.",
        "a.html: //cdn/x.css is fetched from another server.",
    ]


def test_links_and_figures_that_a_built_page_lacks_are_found(tmp_path):
    for name, text in {
        "docs/a/page.md": "[b](../b.md#top) [c](../c.md) ![d](d.svg) [e](gone.md) [f](https://example.org) `[g](h.md)`",
        "docs/b.md": "[log](../log.txt)",
        "docs/c.md": "",
        "docs/a/d.svg": "",
        "log.txt": "",
        "site/a/page.html": '<nav><a href="../c.html"></a></nav><article><a href="../b.html#top">b</a> c (d)</article>',
        "site/b.html": "<article>log</article>",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert find_lost(tmp_path / "site", tmp_path / "docs") == [
        "a/page.md: ../c.md is not a link on the built page.",
        "a/page.md: d.svg is not a link on the built page.",
        "a/page.md: gone.md does not exist.",
    ]


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--keep-going", "--quiet"]
    built = subprocess.run([*command, "docs", tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr  # libraries may log to stderr, too
    assert [*find_faults(tmp_path), *find_lost(tmp_path)] == []
    page = (tmp_path / "reference/generated/api/textveil.html").read_text(encoding="utf-8")
    assert "Nothing to perturb: the text is empty" in page
    assert (tmp_path / "reference/generated/commands/obfuscate.html").exists()
    assert "<math" in (tmp_path / "guarantees.html").read_text(encoding="utf-8")

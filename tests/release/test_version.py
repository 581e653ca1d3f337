"""The version stands in one module; the changelog and the citation name the same."""

import re
import tomllib
from datetime import date
from pathlib import Path

import yaml

from textveil import __version__

ROOT = Path(__file__).parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
HEADINGS = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)


def test_the_changelog_begins_with_what_is_not_released() -> None:
    assert HEADINGS[0] == "[Unreleased]"
    assert HEADINGS[1].startswith(f"[{__version__}] - ")


def test_versions_have_a_date_and_known_sections() -> None:
    for heading in HEADINGS[1:]:
        match = re.fullmatch(r"\[\d+\.\d+\.\d+(?:rc\d+)?\] - (\d{4}-\d\d-\d\d)", heading)
        assert match, heading
        date.fromisoformat(match[1])
    sections = set(re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE))
    assert sections <= {"Added", "Changed", "Deprecated", "Fixed", "Removed", "Security"}


def test_the_citation_names_this_version_and_its_date() -> None:
    assert CITATION["version"] == __version__
    assert HEADINGS[1] == f"[{__version__}] - {CITATION['date-released']}"


def test_the_citation_has_what_its_format_requires() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert all(CITATION[name] for name in ("message", "title", "authors"))
    for reference in CITATION["references"]:
        assert all(reference[name] for name in ("type", "title", "authors"))
        assert all({"given-names", "family-names"} <= set(author) for author in reference["authors"])


def test_pages_show_the_version() -> None:
    assert f'"version": "{__version__}"' in (ROOT / "docs/service.md").read_text(encoding="utf-8")


def test_the_license_files_ship() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license-files"] == ["LICENSE", "NOTICE"]
    assert project["dynamic"] == ["readme", "version"]
    assert all((ROOT / name).exists() for name in project["license-files"])

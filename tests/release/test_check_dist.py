"""Sizes and contents of the sdist and the wheel are checked, and those of this checkout pass."""

import io
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts.release.check_dist import (
    METADATA,
    check,
    check_description,
    check_notice,
    check_sdist,
    check_size,
    check_wheel,
    list_sdist,
    list_tracked,
    list_wheel,
    read_description,
)

ROOT = Path(__file__).parents[2]
TRACKED = ["README.md", ".ci/run", ".github/workflows/test.yml", "src/textveil/__init__.py", "tests/test_a.py"]
WHEEL = ["textveil/__init__.py", *(f"textveil-1.0.0rc1.dist-info/{name}" for name in METADATA)]
SDIST = ["PKG-INFO", "README.md", "src/textveil/__init__.py", "tests/test_a.py"]


def test_a_complete_wheel_and_sdist_pass() -> None:
    assert check_wheel(WHEEL, TRACKED) == []
    assert check_sdist(SDIST, TRACKED) == []


@pytest.mark.parametrize("name", ["textveil/__init__.py", "textveil-1.0.0rc1.dist-info/licenses/NOTICE"])
def test_a_file_that_a_wheel_lacks_is_found(name: str) -> None:
    (problem,) = check_wheel([other for other in WHEEL if other != name], TRACKED)
    assert problem.startswith("The wheel lacks ")


@pytest.mark.parametrize(
    "name", ["tests/test_a.py", "textveil/__pycache__/a.pyc", "textveil/notes.txt", "corpus.txt.xz"]
)
def test_a_file_that_does_not_belong_in_a_wheel_is_found(name: str) -> None:
    assert check_wheel([*WHEEL, name], TRACKED) == [f"The wheel has {name}, which does not belong there."]


@pytest.mark.parametrize("name", [".ci/run", ".github/workflows/test.yml", ".hypothesis/x", "shared/corpus.txt.xz"])
def test_a_file_that_does_not_belong_in_an_sdist_is_found(name: str) -> None:
    assert check_sdist([*SDIST, name], TRACKED) == [f"The sdist has {name}, which does not belong there."]


def test_a_large_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(bytes(1001))
    assert check_size(tmp_path / "a.whl", 1001) == []
    assert check_size(tmp_path / "a.whl", 1000) == ["a.whl has 1,001 bytes; the most is 1,000."]


def test_data_without_a_statement_is_found(tmp_path: Path) -> None:
    (tmp_path / "NOTICE").write_text("Files: textveil/a.npy\nOrigin: ours\nLicense: MIT\n")
    found = [*WHEEL, "textveil/a.npy", "textveil/b.npy"]
    assert check_notice(found, tmp_path / "NOTICE") == ["NOTICE does not cover textveil/b.npy."]


def test_archives_are_listed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("textveil/", "")
        wheel.writestr("textveil/b.py", "")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as sdist:
        sdist.addfile(tarfile.TarInfo("textveil-1/src/b.py"), io.BytesIO())
    assert list_wheel(tmp_path / "a.whl") == ["textveil/b.py"]
    assert list_sdist(tmp_path / "a.tar.gz") == ["src/b.py"]


def test_a_description_must_not_link_to_files_of_the_repository(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("a-1.dist-info/METADATA", "Name: a\n\n# A\n\n[b](https://b.org) ([c](docs/c.md))\n")
    (problem,) = check_description(read_description(tmp_path / "a.whl"))
    assert "docs/c.md" in problem


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (problem,) = check(tmp_path)
    assert "one wheel and one sdist" in problem


def test_deleted_files_are_not_tracked(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    for name in ("a b.txt", "c.txt"):
        (tmp_path / name).touch()
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    (tmp_path / "c.txt").unlink()
    (tmp_path / "new.txt").touch()
    assert list_tracked(tmp_path) == ["a b.txt"]


@pytest.mark.slow
def test_this_checkout_builds_what_a_release_needs(tmp_path: Path) -> None:
    tools = ROOT / ".venv-release/bin/python"
    python = str(tools) if tools.exists() else sys.executable
    needed = "import build, hatchling, hatch_fancy_pypi_readme"
    if subprocess.run([python, "-c", needed], capture_output=True).returncode:
        pytest.skip("the tools of a release are not installed: make dist installs them")
    # Only what Git tracks, so that files of other work do not count.
    for name in list_tracked(ROOT):
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / "checkout" / name)
    command = [python, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(tmp_path / "checkout")]
    subprocess.run(command, check=True, capture_output=True)
    assert check(tmp_path / "dist") == []

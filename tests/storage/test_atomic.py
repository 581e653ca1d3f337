import hashlib
import os
import resource
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.errors import OutputError
from textveil.storage.atomic import hash_file, hash_files, make_folder, writing, writing_folder


@pytest.fixture
def set_umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def make_source(folder, mode):
    source = folder / "source"
    source.touch()
    source.chmod(mode)
    return source


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "out"
    with writing(path) as stream:
        stream.write(b"all of it")
        stream.flush()
        assert not path.exists()
    assert path.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), writing(path) as stream:
        stream.write(b"half")
        raise KeyError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_appears_when_it_is_complete(tmp_path):
    with pytest.raises(KeyError), writing_folder(tmp_path / "new") as folder:
        (folder / "part").touch()
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with writing_folder(tmp_path / "new") as folder:
        (folder / "part").touch()
    assert (tmp_path / "new" / "part").exists()


def test_a_missing_folder_is_an_output_error(tmp_path):
    with pytest.raises(OutputError, match="No such file or directory"), writing(tmp_path / "no" / "out"):
        pass


def test_a_full_disk_leaves_no_file(tmp_path):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
    try:
        with pytest.raises(OutputError, match="File too large"), writing(tmp_path / "out") as stream:
            stream.write(b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source_mode", "umask", "expected"),
    [
        (0o600, 0o022, 0o600),
        (0o600, 0o000, 0o600),
        (0o640, 0o022, 0o640),
        (0o644, 0o077, 0o600),
        (0o664, 0o022, 0o644),
        (0o4755, 0o022, 0o644),  # data is not a program
        (0o400, 0o022, 0o600),
    ],
)
def test_a_file_is_as_readable_as_its_source_and_the_umask_allow(tmp_path, set_umask, source_mode, umask, expected):
    source = make_source(tmp_path, source_mode)
    set_umask(umask)
    with writing(tmp_path / "out", like=source) as stream:
        stream.write(b"rows")
        (unfinished,) = tmp_path.glob(".out.*")
        assert mode_of(unfinished) == expected  # from the beginning, not only when it is complete
    assert mode_of(tmp_path / "out") == expected


@pytest.mark.parametrize(("source_mode", "expected"), [(0o640, 0o600), (0o604, 0o600), (0o644, 0o644)])
def test_permissions_of_one_group_do_not_go_to_another(tmp_path, set_umask, monkeypatch, source_mode, expected):
    source = make_source(tmp_path, source_mode)
    monkeypatch.setattr(os, "getegid", lambda: source.stat().st_gid + 1)
    with writing(tmp_path / "out", like=source):
        pass
    assert mode_of(tmp_path / "out") == expected


def test_a_folder_can_set_the_group(tmp_path, set_umask, monkeypatch):
    source = make_source(tmp_path, 0o640)
    monkeypatch.setattr(os, "getegid", lambda: source.stat().st_gid + 1)
    tmp_path.chmod(0o2755)
    with writing(tmp_path / "out", like=source):
        pass
    assert mode_of(tmp_path / "out") == 0o640


def test_the_mode_of_a_missing_source_is_unknown(tmp_path, set_umask):
    with writing(tmp_path / "out", like=tmp_path / "gone"):
        pass
    assert mode_of(tmp_path / "out") == 0o600


def test_without_a_source_the_umask_decides(tmp_path, set_umask):
    with writing(tmp_path / "out"):
        pass
    assert mode_of(tmp_path / "out") == 0o644
    make_folder(tmp_path / "folder")
    assert mode_of(tmp_path / "folder") == 0o755


def test_private_files_and_folders_are_for_the_user_only(tmp_path, set_umask):
    set_umask(0)
    make_folder(tmp_path / "new" / "folder", private=True)
    with writing(tmp_path / "new" / "folder" / "file", private=True) as stream:
        stream.write(b"rows")
        (unfinished,) = (tmp_path / "new" / "folder").iterdir()
        assert mode_of(unfinished) == 0o600
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "new" / "folder") == 0o700
    assert mode_of(tmp_path / "new" / "folder" / "file") == 0o600


def test_an_existing_folder_keeps_its_mode(tmp_path, set_umask):
    (tmp_path / "folder").mkdir(0o755)
    make_folder(tmp_path / "folder", private=True)
    assert mode_of(tmp_path / "folder") == 0o755
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(OutputError, match="Cannot write"):
            make_folder(folder, private=True)


@given(st.binary(max_size=200))
def test_the_hash_of_a_file_is_the_sha256_of_its_bytes(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("hashing") / "file"
    path.write_bytes(content)
    assert hash_file(path) == hashlib.sha256(content).hexdigest()


def test_a_missing_file_has_no_hash(tmp_path):
    with pytest.raises(FileNotFoundError):
        hash_file(tmp_path / "missing")


def test_the_hash_of_several_files_depends_on_names_contents_and_order(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"x")
    other.write_bytes(b"y")
    first = hash_files([one, other])
    assert hash_files([one, other]) == first
    assert hash_files([other, one]) != first
    assert hash_files([one]) != first
    renamed = other.rename(tmp_path / "renamed")
    assert hash_files([one, renamed]) != first
    renamed.rename(other).write_bytes(b"z")
    assert hash_files([one, other]) != first


def test_the_hash_of_several_files_does_not_depend_on_their_folder(tmp_path):
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_bytes(b"x")
    assert hash_files([tmp_path / "here" / "file"]) == hash_files([tmp_path / "there" / "file"])

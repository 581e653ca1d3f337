import resource

import pytest

from textveil.errors import OutputError
from textveil.storage.atomic import writing, writing_folder


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

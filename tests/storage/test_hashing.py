import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.storage.atomic import hash_file, hash_files


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

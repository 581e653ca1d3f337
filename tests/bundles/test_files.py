"""Files that a bundle must not open, and arrays that it must not map."""

import os
import re
import socket
from pathlib import Path

import numpy as np
import pytest

from tests.bundles.test_bundle import rewrite
from tests.conftest import ENTRIES
from tests.deadline import deadline
from textveil.bundles import files as matrices
from textveil.bundles.bundle import MANIFEST, Bundle
from textveil.bundles.files import ArrayError, StoredMatrix, check_shape, map_array, open_regular, read_header
from textveil.errors import BundleError


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as listener:
        before = Path.cwd()
        os.chdir(path.parent)  # the path of a socket must be short
        try:
            listener.bind(path.name)
        finally:
            os.chdir(before)


def link_to_fifo(path):
    os.mkfifo(path.with_name("fifo"))
    path.symlink_to("fifo")


def link_to_device(path):
    path.symlink_to("/dev/zero")


NOT_REGULAR = [make_fifo, make_socket, link_to_fifo, link_to_device, os.mkdir]


@pytest.mark.parametrize("make", NOT_REGULAR, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", [MANIFEST, "words/vocabulary.txt", "words/matrix.npy", "words/excluded.txt"])
def test_only_regular_files_are_opened(copied_bundle, name, make):
    (copied_bundle / name).unlink()
    make(copied_bundle / name)
    for use in (lambda bundle: bundle.vectors("words"), Bundle.verify):
        with deadline(), pytest.raises(BundleError, match=r"cannot be read \(not a regular file\)"):
            use(Bundle.load(copied_bundle))


def test_a_link_to_a_regular_file_is_opened(copied_bundle):
    (copied_bundle / "words/matrix.npy").rename(copied_bundle / "elsewhere.npy")
    (copied_bundle / "words/matrix.npy").symlink_to("../elsewhere.npy")
    assert len(Bundle.load(copied_bundle).vectors("words")) == len(ENTRIES)


def test_a_manifest_of_gigabytes_is_refused_without_reading_it(copied_bundle):
    with (copied_bundle / MANIFEST).open("r+b") as stream:
        stream.truncate(2**33)  # without using space on the disk
    with deadline(), pytest.raises(BundleError, match="too long to be the manifest"):
        Bundle.load(copied_bundle)


def write_header(path, *, shape, dtype="<f4", order=False, content=bytes(100)):
    """A file in numpy's format with any header."""
    header = f"{{'descr': {dtype!r}, 'fortran_order': {order}, 'shape': {shape}, }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content)


BAD_HEADERS = {
    "huge": ({"shape": (10**12,)}, "another size than its header says"),
    "huge matrix": ({"shape": (38, 10**15)}, "another size than its header says"),
    "overflow": ({"shape": (2**32, 2**32)}, "another size than its header says"),
    "negative": ({"shape": (-1, 3)}, "which is not valid"),
    "two negative": ({"shape": (-5, -5)}, "which is not valid"),
    "empty": ({"shape": (0, 12)}, "which is not valid"),
    "no axis": ({"shape": ()}, "which is not valid"),
    "column order": ({"shape": (5, 5), "order": True}, "in row order"),
    "objects": ({"shape": (5, 5), "dtype": "|O"}, "not a plain array"),
    "text": ({"shape": (5, 5), "dtype": "<U1"}, "not a plain array"),
    "no shape": ({"shape": "'many'"}, "not an array"),
    "nested": ({"shape": "(" * 90}, "not an array"),
}


@pytest.mark.parametrize(("header", "said"), BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_a_false_header_is_refused_before_anything_is_mapped(copied_bundle, header, said):
    write_header(copied_bundle / "words/matrix.npy", **header)
    rewrite(copied_bundle)
    with deadline(), pytest.raises(BundleError, match=said):
        Bundle.load(copied_bundle).vectors("words")


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x09\x00" + bytes(200), b"PK\x03\x04" + bytes(99)])
def test_a_file_of_another_format_is_refused(copied_bundle, content):
    (copied_bundle / "words/matrix.npy").write_bytes(content)
    rewrite(copied_bundle)
    with pytest.raises(BundleError, match="is not an array of numbers"):
        Bundle.load(copied_bundle).vectors("words")


def test_a_row_of_bytes_is_not_blown_up_to_a_square_by_its_scales(make_bundle):
    bundle = make_bundle(storage="int8")
    np.save(bundle.folder / "words/matrix.npy", np.ones(len(ENTRIES), np.int8))
    rewrite(bundle.folder)
    with pytest.raises(BundleError, match=f"has the shape {len(ENTRIES)}, but {len(ENTRIES)} x any is expected"):
        Bundle.load(bundle.folder).vectors("words")


def test_a_sparse_file_of_terabytes_is_refused_without_reading_it(copied_bundle):
    path = copied_bundle / "words/matrix.npy"
    write_header(path, shape=(10**12,), dtype="|i1", content=b"")
    with path.open("r+b") as stream:
        try:
            stream.truncate(path.stat().st_size + 10**12)
        except OSError:
            pytest.skip("the file system has no sparse files of this size")
    with deadline(), pytest.raises(BundleError, match=re.escape("has the shape 1000000000000, but 38 x any")):
        Bundle.load(copied_bundle).vectors("words")


def test_an_array_is_mapped_with_the_numbers_that_were_saved(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6, dtype=np.int64).reshape(2, 3))
    with open_regular(path) as stream:
        assert read_header(stream) == ((2, 3), np.int64)
        mapped = map_array(stream)
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(mapped, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(("shape", "expected"), [((2,), (2, None)), ((3, 4), (2, None)), ((2, 3), (2,))])
def test_a_shape_is_compared_axis_by_axis(shape, expected):
    check_shape((2, 3), (2, None))
    with pytest.raises(ArrayError, match="is expected"):
        check_shape(shape, expected)


NUMBERS = np.array([[1, -2], [3, 4], [0, -128]], dtype=np.int8)
SCALES = np.array([0.5, 2, 0.25], dtype=np.float32)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (StoredMatrix(NUMBERS, SCALES), [[0.5, -1], [6, 8], [0, -32]]),
        (StoredMatrix(NUMBERS.astype(np.float16)), NUMBERS),
        (StoredMatrix(NUMBERS.astype(np.float32)), NUMBERS),
    ],
    ids=["int8", "float16", "float32"],
)
def test_rows_are_read_in_single_precision(stored, expected, monkeypatch):
    monkeypatch.setattr(matrices, "_TILE_ROWS", 2)
    assert stored.shape == (3, 2)
    assert stored.decode().dtype == np.float32
    np.testing.assert_array_equal(stored.decode(), expected)
    np.testing.assert_array_equal(stored.take(np.array([2, 0, -1])), np.asarray(expected)[[2, 0, -1]])
    tiles = list(stored.tiles())
    assert [part for part, _ in tiles] == [slice(0, 2), slice(2, 3)]
    np.testing.assert_array_equal(np.concatenate([tile for _, tile in tiles]), expected)
    assert stored.find_largest() == np.abs(np.asarray(expected, dtype=np.float64)).max()


def test_what_is_stored_in_single_precision_is_not_copied():
    matrix = NUMBERS.astype(np.float32)
    assert np.shares_memory(StoredMatrix(matrix).decode(), matrix)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_found(wrong):
    scales = SCALES.copy()
    scales[2] = wrong
    assert not StoredMatrix(NUMBERS, scales).find_largest() < np.inf
    assert not StoredMatrix(np.array([[1, wrong]], dtype=np.float32)).find_largest() < np.inf


def test_a_matrix_is_large_if_its_copy_would_be():
    rows = matrices.LARGEST_COPY // 4 // 64
    assert not StoredMatrix(np.broadcast_to(np.int8(1), (rows, 64))).is_large
    assert StoredMatrix(np.broadcast_to(np.int8(1), (rows + 1, 64))).is_large

import numpy as np
import pytest

from textveil.bundles.vector_files import reading_vectors
from textveil.errors import InputError, ParameterError

MATRIX = np.array([[0.5, -1.25, 3.0], [1e-3, 0.0, -7.5], [2.0, 2.0, 2.0]], dtype=np.float32)


def lines(words, matrix=MATRIX, end=b"\n"):
    return [word + b" " + b" ".join(b"%g" % x for x in row) + end for word, row in zip(words, matrix, strict=True)]


def read(path, **options):
    with reading_vectors(path, **options) as imported:
        return imported.entries, np.array(imported.matrix), imported.unusable, imported.repeated


ODD = [b". . .", b"at name@domain.com", "a\u00a0b\u2028c\x85d".encode()]


@pytest.mark.parametrize("header", [b"3 3\n", b""], ids=["with header", "without header"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \n"], ids=["unix", "windows", "trailing space"])
@pytest.mark.parametrize(
    "words", [[b"tea", b"green_tea", b"caf\xc3\xa9"], [b"1", b"2", b"3"]], ids=["words", "numbers"]
)
def test_text_is_read(tmp_path, header, end, words):
    path = tmp_path / "vectors.txt"
    path.write_bytes(header + b"".join(lines(words, end=end)))
    entries, matrix, unusable, repeated = read(path)
    assert entries == [word.decode() for word in words]
    np.testing.assert_array_equal(matrix, MATRIX)
    assert (unusable, repeated) == (0, 0)


@pytest.mark.parametrize("header", [b"4 3\n", b""], ids=["with header", "without header"])
def test_tokens_with_odd_spaces_are_read(tmp_path, header):
    path = tmp_path / "glove.txt"
    words = [*ODD, b"tea"]
    path.write_bytes(header + b"".join(lines(words, np.vstack([MATRIX, MATRIX[:1]]))))
    entries, matrix, *_ = read(path)
    assert entries == [word.decode() for word in words]
    np.testing.assert_array_equal(matrix[3], MATRIX[0])


def binary(words, matrix=MATRIX, separator=b"\n"):
    head = b"%d %d\n" % matrix.shape
    return head + b"".join(word + b" " + row.tobytes() + separator for word, row in zip(words, matrix, strict=True))


@pytest.mark.parametrize("separator", [b"\n", b""], ids=["word2vec", "gensim"])
@pytest.mark.parametrize("vector_format", ["auto", "binary"])
def test_binary_is_read(tmp_path, separator, vector_format):
    path = tmp_path / "vectors.bin"
    path.write_bytes(binary([b"tea", b"a_b", b"caf\xc3\xa9"], separator=separator))
    entries, matrix, *_ = read(path, vector_format=vector_format)
    assert entries == ["tea", "a_b", "café"]
    np.testing.assert_array_equal(matrix, MATRIX)


@pytest.mark.parametrize("as_binary", [True, False])
def test_files_of_gensim_are_read(tmp_path, as_binary):
    keyed_vectors = pytest.importorskip("gensim.models.keyedvectors").KeyedVectors(3)
    keyed_vectors.add_vectors(["tea", "new_york", "naïve"], MATRIX)
    path = tmp_path / "gensim"
    keyed_vectors.save_word2vec_format(str(path), binary=as_binary)
    entries, matrix, *_ = read(path)
    assert entries == ["tea", "new_york", "naïve"]
    np.testing.assert_allclose(matrix, MATRIX, rtol=1e-6)


def test_unusable_and_repeated_entries_are_skipped_and_counted(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"".join(lines([b"tea", b"\xff\xfe", b"tea"])))
    entries, matrix, unusable, repeated = read(path)
    assert (entries, unusable, repeated) == (["tea"], 1, 1)
    np.testing.assert_array_equal(matrix, MATRIX[:1])


def test_an_empty_token_in_a_binary_file_is_skipped(tmp_path):
    path = tmp_path / "vectors.bin"
    path.write_bytes(binary([b"tea", b"", b"cup"]))
    entries, _, unusable, _ = read(path, vector_format="binary")
    assert (entries, unusable) == (["tea", "cup"], 1)


def test_an_empty_token_in_a_text_file_is_skipped(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"".join(lines([b"tea", b"", b"cup"])))
    entries, _, unusable, _ = read(path)
    assert (entries, unusable) == (["tea", "cup"], 1)


def test_a_limit_stops_reading(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"3 3\n" + b"".join(lines([b"a", b"b", b"c"])))
    assert read(path, limit=2)[0] == ["a", "b"]
    with pytest.raises(ParameterError, match="`limit` must be at least 1"):
        read(path, limit=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no line has a word and a number"),
        (b"just words here\n", "expected a word and 2 numbers"),
        (b"soup 1 2 3\ntea 1 2\n", "line 2: expected a word and 3 numbers"),
        (b"tea 1 2 3\ncup 1 x 3\n", "line 2: expected a word and 3 numbers"),
        (b"2 3\ntea 1 2 3\n", "announces 2 vectors and holds 1"),
        (b"tea 1 nan 3\n", "not finite"),
        (binary([b"a", b"b", b"c"])[:-8], "ends inside vector 3 of 3"),
    ],
)
def test_a_damaged_or_wrong_file_is_refused(tmp_path, content, message):
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(path)


def test_an_unknown_format_gets_a_suggestion(tmp_path):
    with pytest.raises(ParameterError, match="Did you mean 'text'"):
        read(tmp_path / "any", vector_format="txt")


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match="Check the path"):
        read(tmp_path / "nothing")

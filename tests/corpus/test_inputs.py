import gzip
import json
import lzma
import os

import pytest
import zstandard

from tests.corpus.conftest import DOCUMENTS, read, write_parquet
from textveil.errors import ColumnError, InputError, ParameterError
from textveil.lab.corpus import inputs
from textveil.lab.corpus.inputs import Corpus

COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}


def as_lines(documents):
    return "".join(f"{document}\n" for document in documents).encode()


def as_json_lines(documents, column="text"):
    return "".join(json.dumps({"id": 1, column: document}) + "\n" for document in documents).encode()


@pytest.fixture(params=[10**9, 1000], ids=["one block", "many blocks"])
def block_bytes(request, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", request.param)
    monkeypatch.setattr(inputs, "SENT_BYTES", request.param)
    monkeypatch.setattr(inputs, "_READ_BYTES", min(request.param, 1 << 20) // 3)
    return request.param


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("name", "write"), [("a.txt", as_lines), ("a.jsonl", as_json_lines)])
def test_files_of_lines_are_read_in_blocks(tmp_path, block_bytes, name, write, workers, suffix):
    path = tmp_path / (name + suffix)
    path.write_bytes(COMPRESS[suffix](write(DOCUMENTS)))
    corpus = Corpus.find([path])
    assert read(corpus, workers) == DOCUMENTS
    names = [block_name for block_name, _ in corpus.blocks(workers)]
    assert len(set(names)) == len(names)
    if block_bytes == 1000 and (workers == 2 or not suffix):
        assert len(names) > 5


def test_parquet_files_are_read_in_row_groups(tmp_path, block_bytes):
    write_parquet(tmp_path / "a.parquet", DOCUMENTS, column="body")
    corpus = Corpus.find([tmp_path / "a.parquet"], column="body")
    assert read(corpus) == DOCUMENTS
    blocks = [block for _, block in corpus.blocks(2)]
    assert (len(blocks) > 3) == (block_bytes == 1000)
    if len(blocks) > 1:
        assert abs(sum(block.size for block in blocks) - corpus.size) < len(blocks)


def test_csv_is_read_as_a_whole(tmp_path, block_bytes):
    rows = "".join(f'{number},"{document}"\n' for number, document in enumerate(DOCUMENTS))
    (tmp_path / "a.csv").write_text("id,text\n" + rows, encoding="utf-8")
    assert read(Corpus.find([tmp_path / "a.csv"])) == DOCUMENTS


def test_folders_with_files_of_all_kinds(tmp_path, block_bytes):
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    (tmp_path / "a.txt").write_bytes(as_lines(DOCUMENTS[:100]))
    write_parquet(tmp_path / "b.parquet", DOCUMENTS[100:200])
    (tmp_path / "deep" / "c.jsonl.gz").write_bytes(gzip.compress(as_json_lines(DOCUMENTS[200:])))
    (tmp_path / "deep" / ".hidden" / "d.txt").write_bytes(as_lines(["hidden"]))
    (tmp_path / "README").write_text("not a document")
    corpus = Corpus.find([tmp_path])
    assert sorted(read(corpus)) == sorted(DOCUMENTS)
    assert corpus.skipped == 1


def test_missing_documents_are_left_out(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n\n{"text": null}\n{"id": 3}\n{"text": "two"}\n')
    assert read(Corpus.find([tmp_path / "a.jsonl"])) == ["one", "two"]


def test_linked_folders_are_followed_once(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.txt").write_text("two\n")
    (tmp_path / "corpus" / "a.txt").write_text("one\n")
    (tmp_path / "corpus" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "corpus" / "back").symlink_to(tmp_path / "corpus")
    assert read(Corpus.find([tmp_path / "corpus"])) == ["one", "two"]
    (tmp_path / "corpus" / "broken.txt").symlink_to(tmp_path / "nowhere.txt")
    with pytest.raises(InputError, match=r"broken\.txt"):
        Corpus.find([tmp_path / "corpus"])


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(InputError, match="save it to a file first"):
        Corpus.find([tmp_path / "pipe.txt"])


def test_many_small_files_are_gathered(tmp_path):
    for number in range(300):
        (tmp_path / f"{number:03}.txt").write_text(f"document {number}\n")
    corpus = Corpus.find([tmp_path])
    assert len(list(corpus.blocks(2))) == 1
    assert read(corpus) == [f"document {number}" for number in range(300)]


def test_a_line_that_is_much_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 100)
    (tmp_path / "a.txt").write_text("short\n" + "long " * 100_000 + "\nshort again\n")
    assert [len(document) for document in read(Corpus.find([tmp_path / "a.txt"]))] == [5, 500_000, 11]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", b"this is text", "not a complete Parquet file"),
        ("a.txt.gz", b"this is text", "not what its name says"),
        ("a.txt.xz", b"this is text", "cannot be decompressed"),
        ("a.txt.zst", b"this is text", "cannot be decompressed"),
        ("a.jsonl", b"this is text\n", "line 1: this is not a JSON object"),
        ("a.jsonl", b'["list"]\n', "line 1: this is not a JSON object"),
        ("a.jsonl", b'{"text": 3}\n', "line 1: the column 'text' holds no text"),
        ("a.txt", b"caf\xe9\n", "not UTF-8"),
        ("a.jsonl", b'{"body": "x"}\n', "no column 'text'"),
        ("a.csv", b"id,body\n1,x\n", "no column 'text'"),
        ("a.txt.xz", lzma.compress(b"secret words\n" * 1000)[:-20], "cannot be decompressed"),
    ],
)
@pytest.mark.parametrize("workers", [1, 4])
def test_a_file_that_does_not_match_its_name_is_refused(tmp_path, name, content, message, workers):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((InputError, ColumnError), match=message) as caught:
        read(Corpus.find([tmp_path / name]), workers)
    assert "secret" not in str(caught.value)


def test_errors_say_where_in_a_large_file(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 1000)
    (tmp_path / "a.jsonl").write_bytes(as_json_lines(DOCUMENTS) + b"broken\n")
    with pytest.raises(InputError, match=r"a\.jsonl' from byte [\d,]+ on, line \d+: this is not a JSON object"):
        read(Corpus.find([tmp_path / "a.jsonl"]))


def test_later_blocks_may_lack_the_column(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 100)
    (tmp_path / "a.jsonl").write_bytes(as_json_lines(["one"] * 10) + b'{"id": 3}\n' * 30)
    assert read(Corpus.find([tmp_path / "a.jsonl"])) == ["one"] * 10


@pytest.mark.parametrize(
    ("names", "options", "error", "message"),
    [
        ([], {}, ParameterError, "The corpus is missing"),
        (["a.txt", "a.txt"], {}, ParameterError, "in the corpus twice"),
        (["."], {}, InputError, "no file of a known format"),
        (["missing.txt"], {}, InputError, "Check the path"),
        (["a.xyz"], {}, ParameterError, "does not tell its format"),
        (["a.txt"], {"config": "x"}, ParameterError, "need a data set: hf:"),
        (["a.txt"], {"split": "test"}, ParameterError, "need a data set: hf:"),
        (["a.txt"], {"format_name": "jsnl"}, ParameterError, "Did you mean 'jsonl'"),
    ],
)
def test_invalid_corpora_are_refused(tmp_path, monkeypatch, names, options, error, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "a.xyz").write_text("x")
    monkeypatch.chdir(tmp_path / "empty" if names == ["."] else tmp_path)
    with pytest.raises(error, match=message):
        Corpus.find(names, **options)

"""Blocks of every kind, each read by itself."""

import itertools
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.conftest import DOCUMENTS, make_dataset, read, write_lines, write_parquet
from textveil.errors import ColumnError, InputError
from textveil.lab.corpus import inputs as blocks
from textveil.lab.corpus.inputs import Corpus, DatasetShard, FileBlock, HubDataset, LineRange, SentLines
from textveil.tables import FileSource, Layout

LAYOUT = Layout("text", None)


def read_block(block):
    return [text for texts in block.read() for text in texts]


def read_range(path, start, stop):
    return read_block(FileBlock((LineRange(path, start, stop),), LAYOUT, stop - start, {"head": start == 0}))


def send_lines(path, content, first_line):
    return FileBlock((SentLines(path, content, first_line),), LAYOUT, 1, {"head": first_line == 0})


def test_files_are_read_one_after_the_other(tmp_path):
    write_lines(tmp_path / "a.txt", ["one", "two"])
    (tmp_path / "b.jsonl").write_text('{"text": "three"}\n{"text": null}\n')
    block = FileBlock((FileSource(tmp_path / "b.jsonl"), FileSource(tmp_path / "a.txt")), LAYOUT, size=9)
    assert read_block(block) == ["three", None, "one", "two"]


def test_documents_come_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BATCH_DOCUMENTS", 4)
    path = write_lines(tmp_path / "a.txt", DOCUMENTS[:10])
    batches = list(FileBlock((FileSource(path),), LAYOUT, size=9).read())
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert list(itertools.chain(*batches)) == DOCUMENTS[:10]


lines = st.lists(st.text("abé\r 𝔘", max_size=5), max_size=12)


@given(lines, st.sampled_from(["", "\n"]), st.lists(st.integers(0, 60), max_size=4))
def test_ranges_of_any_cuts_have_every_line_once(tmp_path_factory, documents, ending, cuts):
    path = tmp_path_factory.mktemp("ranges") / "a.txt"
    content = ("\n".join(documents) + ending).encode()
    path.write_bytes(content)
    limits = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    found = []
    for start, stop in itertools.pairwise(limits):
        found += read_range(path, start, stop)
    expected = content.decode().split("\n")
    assert found == (expected[:-1] if expected[-1] == "" else expected)


def test_a_range_inside_one_line_is_empty(tmp_path):
    path = write_lines(tmp_path / "a.txt", ["a long line", "another"])
    assert read_range(path, 3, 7) == []
    assert read_range(path, 3, 13) == ["another"]


@given(lines.filter(bool), st.integers(0, 12))
def test_sent_lines_are_read_from_the_block(tmp_path_factory, documents, cut):
    content = "".join(f"{document}\n" for document in documents)
    path = tmp_path_factory.mktemp("sent") / "a.txt.xz"  # is not opened
    first = "".join(f"{document}\n" for document in documents[:cut])
    found = read_block(send_lines(path, first.encode(), 0))
    found += read_block(send_lines(path, content[len(first) :].encode(), len(documents[:cut])))
    assert found == documents


def test_an_error_in_sent_lines_names_the_lines_before(tmp_path):
    block = send_lines(tmp_path / "a.jsonl.xz", b'{"text": "x"}\nbroken\n', 1500)
    with pytest.raises(InputError, match=r"a\.jsonl\.xz' after line 1,500, line 2: ") as caught:
        read_block(block)
    assert "broken" not in str(caught.value)


def test_row_groups_are_read_by_their_numbers(tmp_path):
    write_parquet(tmp_path / "a.parquet", DOCUMENTS, group=20)
    source = FileSource(tmp_path / "a.parquet")
    for start, stop in ((0, 2), (14, 15)):
        block = FileBlock((source,), LAYOUT, 1, {"groups": range(start, stop)})
        assert read_block(block) == DOCUMENTS[20 * start : 20 * stop]


def test_shards_of_a_data_set_are_disjoint(tmp_path):
    dataset = HubDataset(str(make_dataset(tmp_path / "data")))
    shards = [read_block(DatasetShard(dataset, "text", 3, index)) for index in range(3)]
    assert [len(shard) for shard in shards] == [100, 100, 100]
    assert sorted(itertools.chain(*shards)) == sorted(DOCUMENTS)


def test_an_interrupted_stream_says_where_and_what_to_do(monkeypatch):
    class Stream:
        def iter(self, batch_size):
            yield {"text": ["one"]}
            raise ConnectionResetError("secret")

        def shard(self, num_shards, index):
            return self

    monkeypatch.setattr(HubDataset, "open", lambda self: Stream())
    with pytest.raises(InputError, match=r"'owner/name' stopped in shard 2 of 5 \(ConnectionResetError\)") as caught:
        read_block(DatasetShard(HubDataset("owner/name"), "text", 5, 1))
    assert "secret" not in str(caught.value)


def test_a_data_set_is_streamed_in_shards(tmp_path):
    corpus = Corpus.find([f"hf:{make_dataset(tmp_path / 'data')}"])
    assert len(list(corpus.blocks(2))) == 3
    assert sorted(read(corpus)) == sorted(DOCUMENTS)


def test_a_data_set_with_a_configuration(tmp_path):
    folder = make_dataset(tmp_path / "data")
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: sample-10BT\n  data_files: train-00000*\n---\n", encoding="utf-8"
    )
    corpus = Corpus.find([f"hf:{folder}"], config="sample-10BT")
    assert read(corpus) == DOCUMENTS[::3]


def test_a_missing_column_is_refused(tmp_path):
    corpus = Corpus.find([f"hf:{make_dataset(tmp_path / 'data', column='body')}"])
    with pytest.raises(ColumnError, match=r"no column 'text'.*'body'.*`column`"):
        read(corpus)


def test_a_missing_data_set_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    corpus = Corpus.find([f"hf:{tmp_path / 'missing'}"])
    with pytest.raises(InputError, match=r"cannot be opened.*`config`, `split`"):
        read(corpus)


def test_a_header_that_is_a_document_is_not_quoted(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("my secret diary about a long illness\nsecond\n")
    with pytest.raises(ColumnError, match="looks like a text") as caught:
        read(Corpus.find([f"hf:{tmp_path / 'data'}"]))
    assert "diary" not in str(caught.value)


def test_a_missing_split_is_refused(tmp_path):
    corpus = Corpus.find([f"hf:{make_dataset(tmp_path / 'data')}"], split="validation")
    with pytest.raises(InputError, match="`split`"):
        read(corpus)


def test_a_column_that_does_not_hold_text_is_refused(tmp_path):
    corpus = Corpus.find([f"hf:{make_dataset(tmp_path / 'data')}"], column="id")
    with pytest.raises(InputError, match="does not hold text"):
        read(corpus)


def test_a_data_set_of_the_hub_is_pinned_to_its_commit(monkeypatch):
    import huggingface_hub

    asked = []

    class Api:
        def dataset_info(self, name, revision):
            asked.append((name, revision))
            return SimpleNamespace(sha="abc123")

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    (dataset,) = Corpus.find(["hf:owner/name"], revision="main").datasets
    assert dataset == HubDataset("owner/name", revision="abc123")
    assert asked == [("owner/name", "main")]


def test_without_an_answer_of_the_hub_a_data_set_is_not_pinned(monkeypatch):
    import huggingface_hub

    class Api:
        def dataset_info(self, name, revision):
            raise ConnectionError

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    assert HubDataset("owner/name", revision="main").pin() == HubDataset("owner/name", revision="main")


def test_a_local_data_set_is_pinned_to_its_files(tmp_path):
    folder = make_dataset(tmp_path / "data")
    pinned = HubDataset(str(folder)).pin()
    assert [name for name, _, _ in pinned.files] == sorted(path.name for path in folder.iterdir())
    write_parquet(folder / "train-00000-of-00003.parquet", ["other"])
    assert HubDataset(str(folder)).pin() != pinned

import csv
from pathlib import Path

import pytest

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.lab.compare.comparison import ComparedFiles

ROWS = [("one soup", "good", "anna"), ("two engines", "bad", "ben"), ("three soups", "good", "anna")]


def write(path: Path, rows=ROWS, head=("text", "mood", "author")) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([head, *rows])
    return path


@pytest.fixture
def originals(tmp_path):
    return write(tmp_path / "a.csv")


def hidden(path, word="x", rows=ROWS):
    return write(path, [(f"{word} {number}", *row[1:]) for number, row in enumerate(rows)])


def test_files_are_read_by_name_with_label_and_attribute(originals, tmp_path):
    files = [hidden(tmp_path / "ours.csv", "x"), hidden(tmp_path / "theirs.csv", "y")]
    read = ComparedFiles(originals, files, label="mood", attribute="author").read()
    assert read.obfuscations == {"ours": ["x 0", "x 1", "x 2"], "theirs": ["y 0", "y 1", "y 2"]}
    assert read.originals == [row[0] for row in ROWS]
    assert (read.label, read.attribute) == (["good", "bad", "good"], ["anna", "ben", "anna"])
    named = ComparedFiles(originals, files, ["m@1", "m@2"]).read()
    assert list(named.obfuscations) == ["m@1", "m@2"]


def test_a_file_of_another_tool_may_have_only_the_texts(originals, tmp_path):
    bare = tmp_path / "bare.txt"
    bare.write_text("x\ny\nz\n")
    assert ComparedFiles(originals, [bare], label="mood").read().obfuscations == {"bare": ["x", "y", "z"]}


def test_the_suffix_of_a_compression_is_no_part_of_a_name(originals, tmp_path):
    assert ComparedFiles(originals, [Path("ours.csv.gz"), Path("v1.2.jsonl")]).choose_names() == ["ours", "v1.2"]


def test_other_rows_are_refused_with_both_files(originals, tmp_path):
    short = hidden(tmp_path / "short.csv", rows=ROWS[:2])
    with pytest.raises(InputError, match=r"a.csv' has 3 rows and '.*short.csv' has 2"):
        ComparedFiles(originals, [short]).read()
    shuffled = hidden(tmp_path / "shuffled.csv", rows=[ROWS[1], ROWS[0], ROWS[2]])
    with pytest.raises(InputError, match="Row 1 has a different 'mood'"):
        ComparedFiles(originals, [shuffled], label="mood").read()


def test_a_missing_column_is_refused(originals, tmp_path):
    ours = hidden(tmp_path / "ours.csv")
    with pytest.raises(ColumnError, match="rating"):
        ComparedFiles(originals, [ours], label="rating").read()
    with pytest.raises(ColumnError, match="hidden"):
        ComparedFiles(originals, [ours], obfuscated_text="hidden").read()


def test_the_same_name_twice_is_refused(originals, tmp_path):
    (tmp_path / "b").mkdir()
    files = [hidden(tmp_path / "ours.csv"), hidden(tmp_path / "b" / "ours.csv")]
    with pytest.raises(ParameterError, match="Obfuscations 1 and 2 have the same name, 'ours'.*`names`"):
        ComparedFiles(originals, files).read()
    assert list(ComparedFiles(originals, files, ["a", "b"]).read().obfuscations) == ["a", "b"]


def test_the_number_of_names_must_fit(originals, tmp_path):
    with pytest.raises(ParameterError, match="There are 1 files and 2 names"):
        ComparedFiles(originals, [hidden(tmp_path / "ours.csv")], ["a", "b"]).read()


def test_the_same_file_twice_is_refused(originals, tmp_path):
    ours = hidden(tmp_path / "ours.csv")
    link = tmp_path / "link.csv"
    link.symlink_to(ours)
    with pytest.raises(ParameterError, match="link.csv' is given twice"):
        ComparedFiles(originals, [ours, link]).read()


def test_the_file_of_originals_is_refused_unless_another_column_holds_the_obfuscated_texts(originals, tmp_path):
    with pytest.raises(InputError, match="a.csv' is the file of originals"):
        ComparedFiles(originals, [hidden(tmp_path / "ours.csv"), originals]).read()
    both = write(tmp_path / "both.csv", [(*row, "x") for row in ROWS], ("text", "mood", "author", "hidden"))
    read = ComparedFiles(both, [both], obfuscated_text="hidden").read()
    assert read.obfuscations == {"both": ["x", "x", "x"]}


def test_a_missing_file_is_refused(originals, tmp_path):
    with pytest.raises(InputError, match="none.csv"):
        ComparedFiles(originals, [tmp_path / "none.csv"]).read()

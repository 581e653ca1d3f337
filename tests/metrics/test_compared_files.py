import csv
import gzip
from pathlib import Path

import pytest

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.lab.compare.comparison import read_files

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
    read = read_files(originals, files, label="mood", attribute="author")
    assert read.obfuscations == {"ours": ["x 0", "x 1", "x 2"], "theirs": ["y 0", "y 1", "y 2"]}
    assert read.originals == [row[0] for row in ROWS]
    assert (read.label, read.attribute) == (["good", "bad", "good"], ["anna", "ben", "anna"])
    named = read_files(originals, files, names=["m@1", "m@2"])
    assert list(named.obfuscations) == ["m@1", "m@2"]


def test_a_file_of_another_tool_may_have_only_the_texts(originals, tmp_path):
    bare = tmp_path / "bare.txt"
    bare.write_text("x\ny\nz\n")
    assert read_files(originals, [bare], label="mood").obfuscations == {"bare": ["x", "y", "z"]}


def test_the_suffix_of_a_compression_is_no_part_of_a_name(originals, tmp_path):
    content = hidden(tmp_path / "v1.2.csv").read_bytes()
    packed = tmp_path / "ours.csv.gz"
    packed.write_bytes(gzip.compress(content))
    assert list(read_files(originals, [packed, tmp_path / "v1.2.csv"]).obfuscations) == ["ours", "v1.2"]


def test_other_rows_are_refused_with_both_files(originals, tmp_path):
    short = hidden(tmp_path / "short.csv", rows=ROWS[:2])
    with pytest.raises(InputError, match=r"a.csv' has 3 rows and '.*short.csv' has 2"):
        read_files(originals, [short])
    shuffled = hidden(tmp_path / "shuffled.csv", rows=[ROWS[1], ROWS[0], ROWS[2]])
    with pytest.raises(InputError, match="Row 1 has a different 'mood'"):
        read_files(originals, [shuffled], label="mood")


def test_a_missing_column_is_refused(originals, tmp_path):
    ours = hidden(tmp_path / "ours.csv")
    with pytest.raises(ColumnError, match="rating"):
        read_files(originals, [ours], label="rating")
    with pytest.raises(ColumnError, match="hidden"):
        read_files(originals, [ours], obfuscated_text="hidden")


def test_the_same_name_twice_is_refused(originals, tmp_path):
    (tmp_path / "b").mkdir()
    files = [hidden(tmp_path / "ours.csv"), hidden(tmp_path / "b" / "ours.csv")]
    with pytest.raises(ParameterError, match="Obfuscations 1 and 2 have the same name, 'ours'.*`names`"):
        read_files(originals, files)
    assert list(read_files(originals, files, names=["a", "b"]).obfuscations) == ["a", "b"]


def test_the_number_of_names_must_fit(originals, tmp_path):
    with pytest.raises(ParameterError, match="There are 1 files and 2 names"):
        read_files(originals, [hidden(tmp_path / "ours.csv")], names=["a", "b"])


def test_the_same_file_twice_is_refused(originals, tmp_path):
    ours = hidden(tmp_path / "ours.csv")
    link = tmp_path / "link.csv"
    link.symlink_to(ours)
    with pytest.raises(ParameterError, match="link.csv' is given twice"):
        read_files(originals, [ours, link])


def test_the_file_of_originals_is_refused_unless_another_column_holds_the_obfuscated_texts(originals, tmp_path):
    with pytest.raises(InputError, match="a.csv' is the file of originals"):
        read_files(originals, [hidden(tmp_path / "ours.csv"), originals])
    both = write(tmp_path / "both.csv", [(*row, "x") for row in ROWS], ("text", "mood", "author", "hidden"))
    read = read_files(both, [both], obfuscated_text="hidden")
    assert read.obfuscations == {"both": ["x", "x", "x"]}


def test_a_missing_file_is_refused(originals, tmp_path):
    with pytest.raises(InputError, match="none.csv"):
        read_files(originals, [tmp_path / "none.csv"])

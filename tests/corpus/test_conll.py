import pytest

from scripts.conll import Agreement, TaggedSentence, find_chunks, read_conll
from textveil.errors import InputError

LINES = """
He PRP B-NP
did VBD B-VP
n't RB I-VP
pay VB I-VP
$ $ B-NP
1.5 CD I-NP
billion CD I-NP
, , O
so-called JJ B-NP
Time-Warner NNP I-NP
's POS B-NP
price NN I-NP
. . O

" " O
Yes UH B-INTJ
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(LINES.lstrip("\n"))
    return path


def test_sentences_have_the_words_of_documents(path):
    first, second = read_conll(path)
    assert first.words == tuple("he didn t pay 1 5 billion so called time warner s price".split())
    assert first.tags == tuple("PRP VBD RB VB CD CD CD JJ JJ NNP NNP POS NN".split())
    assert first.chunks == tuple(
        "B-NP B-VP I-VP I-VP B-NP I-NP I-NP B-NP I-NP I-NP I-NP B-NP I-NP".split()
    )  # the first word that is left begins a chunk
    assert second == TaggedSentence(("yes",), ("UH",), ("B-INTJ",))


def test_agreement_by_hand():
    expected = [TaggedSentence(("a", "b", "c", "d"), ("X", "X", "Y", "Y"), ("B-NP", "I-NP", "B-VP", "O"))]
    predicted = [TaggedSentence(("a", "b", "c", "d"), ("X", "Y", "Y", "Y"), ("B-NP", "I-NP", "B-NP", "O"))]
    agreement = Agreement.of(expected, predicted)
    assert agreement == Agreement(4, 0.75, 0.5)


def test_an_inside_tag_that_continues_nothing_begins_a_chunk():
    assert list(find_chunks(["I-NP", "I-NP", "I-VP", "O", "I-NP"])) == [(0, 2, "NP"), (2, 3, "VP"), (4, 5, "NP")]


@pytest.mark.parametrize(
    ("content", "message"), [("one two\n", "line 1: expected three columns"), (None, "Cannot read")]
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "train.txt"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_conll(path)

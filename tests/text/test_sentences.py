import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from textveil.text.documents import Document
from textveil.text.sentences import ENGLISH_ABBREVIATIONS, begin_sentences, find_sentences, load_splitter
from textveil.text.stopwords import ENGLISH

PIECES = [
    "a", "A", "the", "The", "Mr", "Dr", "U", "S", "etc", "1", "12", "iv", "end", "He", "İ", "ß", "_",
    ".", "..", "...", "!", "?", "…", "\n", "\n\n", " ", "  ", "\t", '"', "'", ")", "(", "”", "»", "*", "-", "--", ",",
    ":", ";", ". ", "? ", ".\n", "\r\n", "\u2028", "x" * 30, " " * 40, " " * 390, "\t" * 450, "y" * 390,
]  # fmt: skip
PUNCTUATION = [
    ".", "..", "!", "?", "…", ")", "(", "'", '"', "”", "’", "»", "*", "-", "--", ",", ":", ";", "{", "[", "@", "&", " ",
    "\t", "\n", "\r", "\n\n", "\u2028", "A", "the", "Mr", "1", " " * 50, ")" * 50, "." * 50, ". ", "! ", "a.b",
]  # fmt: skip
patterns = st.tuples(
    st.lists(st.sampled_from(PUNCTUATION), min_size=1, max_size=6).map("".join),
    st.sampled_from([1, 30]),
    st.sampled_from(["", "A", " The "]),
).map(lambda drawn: drawn[0] * drawn[1] + drawn[2])
texts = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def positions_after_pauses(document: Document) -> list[int]:
    return sorted({pause for pause in document.pauses if 0 < pause < len(document.words)})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("?!", []),
        ("One", [["one"]]),
        ("It is over. He left!", [["it", "is", "over"], ["he", "left"]]),
        ("I met Mr. Smith in the U.S. yesterday.", [["i", "met", "mr", "smith", "in", "the", "u", "s", "yesterday"]]),
        ("I saw New York. City hall is old.", [["i", "saw", "new", "york"], ["city", "hall", "is", "old"]]),
        ("A dull story. Mrs. J. Smith left.", [["a", "dull", "story"], ["mrs", "j", "smith", "left"]]),
        ("He paid $1.5 million. Really?", [["he", "paid", "1", "5", "million"], ["really"]]),
        ("Pros\n\nIt is small", [["pros"], ["it", "is", "small"]]),
        ("a line\nand the next", [["a", "line", "and", "the", "next"]]),
    ],
)
def test_sentences_are_found(text, expected):
    document = Document.parse(text)
    assert [list(document.words[start:stop]) for start, stop in find_sentences(document)] == expected


@given(text=texts)
def test_sentences_partition_the_words(text):
    document = Document.parse(text)
    ranges = find_sentences(document)
    assert [word for start, stop in ranges for word in document.words[start:stop]] == list(document.words)
    assert all(start < stop for start, stop in ranges)


@settings(max_examples=500)
@example(text="a.a" + " " * 40 + "\r\naa. ")
@example(text='aa."A. ')
@example(text="He is new." + " " * 399 + "York is old.")
@example(text="He is new.\n" + " " * 450 + "York is old.")
@example(text="aa.:a. . . .")
@example(text='aa."A.\n\n')
@given(text=texts)
def test_the_text_around_a_pause_gives_the_same_answer_as_the_whole_text(text):
    document = Document.parse(text)
    asked = positions_after_pauses(document)
    begun = {start for start, _ in find_sentences(document)}
    assert begin_sentences([(document, position) for position in asked]) == [position in begun for position in asked]


def test_the_text_around_a_pause_gives_the_same_answer_on_real_texts(real_texts):
    for document in map(Document.parse, real_texts):
        asked = positions_after_pauses(document)
        begun = {start for start, _ in find_sentences(document)}
        assert begin_sentences([(document, at) for at in asked]) == [at in begun for at in asked]


def test_a_long_text_without_white_space_gives_the_same_answer():
    document = Document.parse("word.Next" * 30_000)
    asked = positions_after_pauses(document)
    begun = {start for start, _ in find_sentences(document)}
    assert begin_sentences([(document, at) for at in asked]) == [at in begun for at in asked]


def test_positions_of_several_documents_can_be_asked_together():
    documents = [Document.parse("Dr. Who is here. Who?"), Document.parse("No.\n\nyes")]
    asked = [(documents[0], 1), (documents[1], 1), (documents[0], 4)]
    assert begin_sentences(asked) == [False, True, True]


def work(pattern: str, size: int) -> float:
    """The processor time that finding all sentences takes."""
    document = Document.parse(pattern * (size // len(pattern) + 1))
    asked = [(document, position) for position in positions_after_pauses(document)]
    started = time.thread_time()
    find_sentences(document)
    begin_sentences(asked)
    return time.thread_time() - started


@settings(max_examples=15)
@example(pattern=".)" * 100 + "A")  # 362 KB of it took 91 seconds
@example(pattern="!")
@example(pattern='."The')
@example(pattern="*A.." * 30 + " The ")
@given(pattern=patterns)
def test_the_time_to_find_sentences_is_linear_whatever_the_punctuation(pattern):
    small, large = (min(work(pattern, size) for _ in range(2)) for size in (10_000, 20_000))
    for _ in range(5):  # a machine that is busy for a moment slows down one measurement, but not all
        if large <= 2.5 * small + 0.005:
            break
        small, large = max(small, work(pattern, 10_000)), min(large, work(pattern, 20_000))
    assert large <= 2.5 * small + 0.005


TITLES = ["mr", "mrs", "dr", "prof", "gen", "sgt", "st"]


def count_sentences(text: str) -> int:
    return len(find_sentences(Document.parse(text)))


def test_every_abbreviation_is_a_lowercase_word_of_at_least_two_letters():
    assert all(word.isascii() and word.isalpha() and word.islower() and len(word) > 1 for word in ENGLISH_ABBREVIATIONS)


def test_no_abbreviation_is_a_stopword():
    assert not ENGLISH_ABBREVIATIONS & ENGLISH


@pytest.mark.parametrize("title", TITLES)
def test_the_period_of_a_title_does_not_end_a_sentence(title):
    assert title in ENGLISH_ABBREVIATIONS
    assert count_sentences(f"We met {title.title()}. Brown at noon.") == 1


@pytest.mark.parametrize("word", ["story", "book", "york", "sun", "mar", "no", "may"])
def test_a_word_that_often_ends_a_sentence_is_not_on_the_list(word):
    assert word not in ENGLISH_ABBREVIATIONS
    assert count_sentences(f"We saw the {word}. Brown left at noon.") == 2


def test_the_splitter_knows_every_abbreviation_and_no_longer_word_besides():
    known = {word for word in load_splitter().abbreviations if word.isalpha() and len(word) > 1}
    assert known == ENGLISH_ABBREVIATIONS

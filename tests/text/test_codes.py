from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.text.codes import find_codes, merge_codes
from textveil.text.documents import Chunk, Document


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Mail bo.b+x@mail.example.org now.", ["bo.b+x@mail.example.org"]),
        ("See https://example.org/a?b=c#d, or www.example.org.", ["https://example.org/a?b=c#d", "www.example.org"]),
        ("Go to example.co.uk/path today", ["example.co.uk/path"]),
        ("Call +1 (555) 123-4567!", ["+1 (555) 123-4567"]),
        ("Call 0049 170 1234567 or 555.123.4567", ["0049 170 1234567", "555.123.4567"]),
        ("On 2024-01-31, 12/31/99 and 10:45:30", ["2024-01-31", "12/31/99", "10:45:30"]),
        ("It cost $1,234.56 then", ["1,234.56"]),
        ("Thanks @bob_1 #blessed", ["@bob_1", "#blessed"]),
        ("Order A4-17-B, serial X9.33", ["A4-17-B", "X9.33"]),
        ("SSN 078-05-1120", ["078-05-1120"]),
        ("room A0 0", ["A0 0"]),  # a code has whole words
        ("He left in 1999. In 2001 he came back, 42 years old.", []),
        ("I like it. Very much, well-known stuff, e.g. tea.", []),
        ("a or b, 1 or 2", []),
        ("", []),
    ],
)
def test_codes_are_found_as_a_whole(text, codes):
    document = Document.parse(text)
    assert [document.text[code.start : code.stop] for code in find_codes(document)] == codes


@given(st.text(st.sampled_from("ab1 2.-/:@#,()+w\n")))
def test_codes_are_ordered_disjoint_and_end_with_their_words(text):
    document = Document.parse(text)
    codes = find_codes(document)
    place = offset = 0
    for code in codes:
        assert place <= code.chunk.start < code.chunk.stop <= len(document.words)
        assert offset <= code.start <= document.spans[code.chunk.start][0]
        assert code.chunk.start == 0 or document.spans[code.chunk.start - 1][1] <= code.start
        assert document.spans[code.chunk.stop - 1][1] <= code.stop
        place, offset = code.chunk.stop, code.stop


@given(st.text(st.sampled_from("ab1 2.-/:@#,()+\n")), st.data())
def test_chunks_stay_a_partition_in_which_every_code_is_one_chunk(text, data):
    document = Document.parse(text)
    size = len(document.words)
    cuts = sorted({0, size, *data.draw(st.sets(st.integers(0, size)))})
    chunks = [Chunk(start, stop) for start, stop in pairwise(cuts)]
    codes = find_codes(document)
    merged = merge_codes(chunks, codes)
    assert [chunk.start for chunk in merged] + [size] == [0, *(chunk.stop for chunk in merged)]
    assert {code.chunk for code in codes} <= set(merged)

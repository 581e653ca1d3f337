import numpy as np
import pytest

from textveil.draft import DraftedText
from textveil.methods.mechanisms.base import Draft
from textveil.outcomes import Outcome
from textveil.planning import Plan, PlannedChunk
from textveil.text.documents import Chunk, Document


def plan(text, codes=None):
    document = Document.parse(text)
    words = len(document.words)
    made = Plan(document, [1.0] * words, [False] * words, [1.0] * words, float(words), codes or {})
    made.chunks = [PlannedChunk(Chunk(place, place + 1), place, 1.0, 1.0, Outcome.PERTURBED) for place in range(words)]
    return made


def test_a_chunk_has_the_offsets_of_its_words_unless_it_is_a_code():
    assert plan("see (tea)").span(Chunk(1, 2)) == (5, 8)
    assert plan("see @tea", {Chunk(1, 2): (4, 8)}).span(Chunk(1, 2)) == (4, 8)


@pytest.mark.parametrize(
    ("text", "codes", "symbols"),
    [
        ("plain, (text)!", {}, 0),
        ("5 $ + 🙂 tea €", {}, 4),
        ("a ~ b\x1b", {}, 2),
        ("$a tea", {Chunk(0, 1): (0, 2)}, 0),  # the symbol is part of the code
        ("", {}, 0),
    ],
)
def test_symbols_between_chunks_are_counted(text, codes, symbols):
    assert plan(text, codes).count_symbols() == symbols


def test_chunks_come_from_the_draft_if_there_is_one():
    made = plan("see tea now")
    assert made.read is made.document
    made.draft = DraftedText(Document.parse("one two three"), Draft(np.arange(3), np.full(3, 0.5)))
    assert made.read.words == ("one", "two", "three")
    assert made.draft.spend(Chunk(0, 2)) == 1

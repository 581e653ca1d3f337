import pytest

from textveil.outcomes import Outcome
from textveil.output import Writer
from textveil.planning import Plan, PlannedChunk
from textveil.text.documents import Chunk, Document

REPLACEMENTS = [None, "green tea", None, "cold"]


@pytest.fixture
def plan():
    document = Document.parse("THE soup 🙂 wasn't $hot!")
    chunks = [Chunk(0, 1), Chunk(1, 2), Chunk(2, 4), Chunk(4, 5)]
    kept = [True, False, True, True, False]
    planned = [
        PlannedChunk(chunk, 0, 0.0, 0.0, Outcome.KEPT_STOPWORD if kept[chunk.start] else Outcome.PERTURBED)
        for chunk in chunks
    ]
    return Plan(document, [None] * 5, kept, [0.0] * 5, 0.0, {}, chunks=planned)


@pytest.mark.parametrize(
    ("writer", "text", "dropped", "symbols", "emoji"),
    [
        (Writer("keep", cleans_gaps=False, keep_emoji=False), "THE green tea 🙂 wasn't $cold!", 0, 2, "keep"),
        (Writer("keep", cleans_gaps=True, keep_emoji=False), "THE green tea  wasn't $cold!", 1, 1, "drop"),
        (Writer("keep", cleans_gaps=True, keep_emoji=True), "THE green tea 🙂 wasn't $cold!", 0, 2, "keep"),
        (Writer("plain", cleans_gaps=True, keep_emoji=False), "The green tea, wasn't cold.", 0, 0, "drop"),
        (Writer("bare", cleans_gaps=False, keep_emoji=False), "the green tea wasn't cold", 0, 0, "drop"),
    ],
)
def test_a_text_in_every_form(plan, writer, text, dropped, symbols, emoji):
    assert list(writer.write_all([plan], [REPLACEMENTS])) == [(text, dropped)]
    assert writer.count_symbols(plan, dropped) == symbols
    assert writer.emoji == emoji

"""Documents to split that are made of the lexicons' own n-grams."""

from __future__ import annotations

import random

import pytest

from textveil.bundles.bundle import Bundle

GAPS = [" "] * 30
GAPS += ["  ", ", ", ". ", ". ", "! ", "? ", "; ", "-", "'", "\n", "\n\n", "... ", "… ", ".", '." ', ' ("', ".) "]


@pytest.fixture(scope="session")
def bundle() -> Bundle:
    return Bundle.load()


def draw_texts(bundle: Bundle, decomposition: str, count: int = 300, seed: int = 11) -> list[str]:
    """Texts of n-grams of a lexicon and words of them, with all kinds of gaps between, also inside n-grams."""
    generator = random.Random(seed)
    index = bundle.lexicon(decomposition)
    ngrams = generator.sample(sorted(index.spelled), min(len(index), 400))
    words = sorted(
        {word for ngram in ngrams for word in ngram.split()} | {"mr", "u", "s", "dr", "don", "t", "the", "of"}
    )
    texts = []
    for _ in range(count):
        chosen: list[str] = []
        for _ in range(generator.randrange(1, 40)):
            chosen += generator.choice(ngrams).split() if generator.random() < 0.4 else [generator.choice(words)]
        cased = (generator.choice([word, word.title(), word.upper(), word]) for word in chosen)
        texts.append("".join(word + generator.choice(GAPS) for word in cased))
    return texts

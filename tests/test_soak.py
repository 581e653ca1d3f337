"""The soak works, notices what it is meant to notice, and what it has found stays repaired."""

from __future__ import annotations

import time

import pytest

from textveil.language.codes import find_codes
from textveil.language.text import Document


@pytest.mark.parametrize(
    "text",
    [
        "@ " + "a" * 40_000,
        "@ " + "a." * 10_000,
        "@1" + " -" * 40 + " x",
        "@ " + "(" * 40_000,
        "@1" + ")" * 20_000 + "x",
    ],
    ids=["a word", "labels", "dashes", "open", "closed"],
)
def test_a_long_run_of_characters_is_searched_for_codes_in_little_time(text):
    document = Document.parse(text)
    started = time.process_time()
    find_codes(document)
    assert time.process_time() - started < 2  # it took from seconds to years

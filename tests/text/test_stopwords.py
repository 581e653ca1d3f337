import hashlib
import os
import re
from pathlib import Path

import pytest

from textveil.text.stopwords import ENGLISH

SHARED = Path(__file__).parents[3] / "shared" / "nltk_data"


def test_the_list_contains_lowercase_words_only():
    assert all(re.fullmatch(r"[a-z]+", word) for word in ENGLISH)
    assert {"the", "don", "t", "wouldn"} <= ENGLISH


def test_the_list_has_not_changed():
    """The hash is that of NLTK's list. The next test reads that list itself, if it is installed."""
    digest = hashlib.sha256(" ".join(sorted(ENGLISH)).encode()).hexdigest()
    assert digest == "59feaedbd189ef0b004c1079bceae6c59262083ba4eea23e33ba753f7aa6f9c4"


def test_the_list_is_nltks():
    folder = Path(os.environ.get("NLTK_DATA", SHARED))
    path = folder / "corpora" / "stopwords" / "english"
    if not path.exists():
        pytest.skip("needs NLTK's stopwords; set NLTK_DATA")
    lines = path.read_text(encoding="utf-8").split()
    assert {word for line in lines for word in re.findall(r"\w+", line)} == ENGLISH

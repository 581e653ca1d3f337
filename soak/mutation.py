"""Markers, texts, and the mutation of bytes and of JSON values."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = (
    "the and was of good bad film story New York green tea Will IT AT&T it's don't I've A.B.C. 12-04 +1 (555) 123-4567 "
    "bo@x.org www.x.org/a?b=c @handle #tag A4-17 3.5% http://x.org, Mr. U.S. O'Neil sigma tau"
).split(" ")
GAPS = [" ", " ", " ", " ", ". ", ", ", "\n", "\n\n", "  ", "\t", "!", "... ", " - ", "'", "’", "-", "/", "@", "_", "&"]
SYMBOLS = (
    "🙂☕🅿🇵⠏ⓟ\uff50ﬁİßªµ½Ⅷ⒈٣中あдéñ\u200b\u200d\u0301\u00ad\u2003\ufeff\x00\x1f\x7f\x85\u2028\r\u202e"
    "\ud800\udfff\U000e0041"
)
HOSTILE = (
    *"a A 1 . - @ _ ' / ( + # \u0301 \u200b é 🙂 ) , : % \n".split(" "),
    " -", " .", ". ", "1 ", "a.", "a-", "1-", "a@", "www.", "A1-", "A. ", "I'", "'s", "&a", "(1", "1)", "://", " (",
    "\n\n",
)  # fmt: skip
"""Pieces that, repeated, make bad patterns take too long."""
MOST_REPEATS = 3000
ALPHABET = st.one_of(st.characters(), st.sampled_from(SYMBOLS), st.sampled_from(" .,'-@#/()+:%\n1Aa"))


def make_marker(random: Random) -> str:
    """A word that no vocabulary and no message has."""
    return f"zz{''.join(random.choices(LETTERS, k=4))}{random.randrange(10)}{''.join(random.choices(LETTERS, k=4))}qx"


def randoms() -> st.SearchStrategy[Random]:
    """Sources of random choices, each from one drawn number: fast, and repeatable."""
    return st.integers(0, 1 << 64).map(Random)


def make_text(random: Random, marker: str, *, hostile: bool = False) -> str:
    """A text of ordinary and unusual pieces with the marker among them."""
    pieces = [random.choice(WORDS) for _ in range(random.randrange(25))]
    pieces += ["".join(random.choices(SYMBOLS, k=random.randrange(1, 4))) for _ in range(random.choice((0, 0, 1, 5)))]
    if hostile and random.random() < 0.05:
        pieces.append(random.choice(HOSTILE) * random.choice((30, 300, MOST_REPEATS)))
    random.shuffle(pieces)
    pieces.insert(random.randrange(len(pieces) + 1), marker)
    return "".join(piece + random.choice(GAPS) for piece in pieces)


def texts(marker: str) -> st.SearchStrategy[str]:
    """Texts as hypothesis draws them, with the marker."""
    part = st.one_of(st.text(ALPHABET, max_size=40), st.sampled_from(WORDS), st.sampled_from(GAPS))
    pieces = st.lists(part, max_size=12)
    return st.tuples(pieces, pieces).map(lambda sides: " ".join(("".join(sides[0]), marker, "".join(sides[1]))))


def mutate_bytes(random: Random, content: bytes) -> bytes:
    """Content with some bytes changed, removed, inserted, repeated or cut off."""
    changed = bytearray(content)
    for _ in range(random.choice((0, 1, 1, 2, 5, 20))):
        place = random.randrange(len(changed) + 1)
        match random.randrange(7):
            case 0:
                changed[place : place + 1] = random.randbytes(1)
            case 1:
                del changed[place : place + random.choice((1, 1, 8, 100))]
            case 2:
                changed[place:place] = random.randbytes(random.choice((1, 4, 30)))
            case 3:
                changed[place:place] = random.choice(
                    (b'"', b"\n", b"\r", b"\0", b"\t", b",", b"{", b"\xff", b"\xef\xbb\xbf")
                )
            case 4:
                del changed[place:]
            case 5:
                changed[place:place] = changed[place : place + 50]
            case _:
                if place < len(changed):
                    changed[place] ^= 1 << random.randrange(8)
    return bytes(changed)


def make_scalar(random: Random) -> Any:
    """A value that a JSON or YAML file may hold in the wrong place."""
    return random.choice(
        (None, True, False, 0, 1, -1, 2, 10**400, 1.5, float("nan"), float("inf"), -0.0, 1e308, "", "x", "words",
         "strict", "\ud800", "a\0b", "../x", "{0}", "{x}", "%s", [], {}, [1], {"x": 1}, [[]], "9" * 5000)
    )  # fmt: skip


def mutate_json(random: Random, value: Any, strings: tuple[str, ...] = ()) -> Any:
    """A copy of a JSON value with some members changed, removed, added or repeated.

    Args:
        random: The source of choices.
        value: The value.
        strings: Other strings to write, such as the marker.
    """
    root = [_copy(value)]
    for _ in range(random.choice((1, 1, 2, 4))):
        holder, key = _choose_place(random, root)
        match random.randrange(4):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[random.choice(("x", "", "name", *strings))] = make_scalar(random)
            case 2 if strings:
                holder[key] = random.choice(strings)
            case _:
                holder[key] = make_scalar(random)
    return root[0]


def _copy(value: Any) -> Any:
    """A copy of a JSON value, in a fraction of the time of deepcopy."""
    if isinstance(value, dict):
        return {key: _copy(member) for key, member in value.items()}
    return [_copy(member) for member in value] if isinstance(value, list) else value


def _choose_place(random: Random, root: list[Any]) -> tuple[Any, Any]:
    """A container and one of its keys, at a random depth."""
    holder: Any = root
    key: Any = 0
    while isinstance(holder[key], dict | list) and holder[key] and random.random() < 0.7:
        holder = holder[key]
        key = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
    return holder, key

"""The conversion of raw downloads of review sites to the data sets of the paper's study."""

from __future__ import annotations

import ast
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.storage.atomic import writing
from textveil.tables import FileSource, detect_format, list_columns, read_records
from textveil.text.words import has_word

COLUMNS: dict[str, tuple[str, ...]] = {
    "text": ("text", "review", "review_text", "reviewtext", "content", "body"),
    "stars": ("stars", "star", "rating", "star_rating", "score", "overall", "sentiment", "label"),
    "gender": ("gender", "sex", "author_gender", "user_gender"),
    "author": ("author", "author_id", "user_id", "userid", "user", "reviewer", "reviewer_id"),
    "language": ("language", "lang", "locale"),
}
"""The names of columns that are recognized, in this order. Case, spaces and hyphens do not matter."""
REVIEWS = "reviews"
"""The list of a user's reviews, in files with one user per row."""
AUTHORS = 10
"""The number of most frequent authors of Yelp to keep, as in the paper."""
ENGLISH = "en-US"

_SENTIMENT_COLUMNS = ("sentiment", "label")
_SENTIMENTS = {
    "0": "negative", "neg": "negative", "negative": "negative",
    "1": "positive", "pos": "positive", "positive": "positive",
}  # fmt: skip
_STARS = {"1": "1", "2": "2", "4": "4", "5": "5"}
_GENDERS = {"m": "male", "f": "female", "male": "male", "female": "female"}
_LANGUAGES = {"en_us": ENGLISH}
_NOT_USED = {"text": "no text", "stars": "3 stars or none"}
"""The reasons why a row is not used, if a column has no value that fits; others name their column."""


@dataclass
class Conversion:
    """The result of a conversion."""

    path: Path
    texts: int = 0
    columns: dict[str, str] = field(default_factory=dict)
    """The column of the file for each column of the data set."""
    dropped: Counter[str] = field(default_factory=Counter)
    """The number of rows that are not used, by reason."""


def convert_trustpilot(source: Path, target: Path) -> Conversion:
    """Convert the Trustpilot corpus (Hovy et al. 2015), with one user or one review per row.

    The result has the columns ``text``, ``stars``, ``gender`` and ``language``. Without a column for the language, all
    reviews count as en-US, because the corpus has one file per country.
    """
    return _convert(source, target, {"gender": partial(_choose, _GENDERS), "language": partial(_choose, _LANGUAGES)})


def convert_yelp(source: Path, target: Path) -> Conversion:
    """Convert reviews of Yelp. Those of the ten most frequent authors are kept.

    The result has the columns ``text``, ``stars`` and ``author``.
    """
    counted = Counter(row["author"] for row in _read_rows(source, Conversion(target), {"author": _read_plain}))
    frequent = sorted(counted, key=lambda author: (-counted[author], author))[:AUTHORS]
    kept = {author: author for author in frequent}
    return _convert(source, target, {"author": lambda value: kept.get(_read_plain(value) or "")})


_Reader = Callable[[Any], str | None]
"""The value of a column of the data set; ``None`` if the row is not used."""


def _convert(source: Path, target: Path, readers: Mapping[str, _Reader]) -> Conversion:
    done = Conversion(target)
    with writing(target, like=source) as stream:
        for row in _read_rows(source, done, readers):
            done.texts += 1
            stream.write(json.dumps(row).encode() + b"\n")
        if not done.texts:
            reasons = ", ".join(f"{count:,} with {reason}" for reason, count in done.dropped.items())
            raise InputError(f"No row of {str(source)!r} can be used: {reasons or 'it is empty'}. Check the file.")
    return done


def _read_rows(source: Path, done: Conversion, others: Mapping[str, _Reader]) -> Iterator[dict[str, str]]:
    """The usable rows. The first row tells the columns."""
    readers: dict[str, _Reader] = {"text": _read_text, "stars": partial(_choose, _STARS), **others}
    for record in _read_reviews(source):
        if not done.columns:
            done.columns.update(_find_columns(source, record, readers))
            if _simplify(done.columns["stars"]) in _SENTIMENT_COLUMNS:
                readers["stars"] = partial(_choose, _SENTIMENTS)
        row: dict[str, str] = {}
        for name, read in readers.items():
            value = read(record.get(done.columns[name])) if name in done.columns else ENGLISH
            if value is None:
                done.dropped[_NOT_USED.get(name, f"another {name} or none")] += 1
                break
            row[name] = value
        else:
            yield row


def _find_columns(source: Path, record: Mapping[str, Any], wanted: Iterable[str]) -> dict[str, str]:
    names = {_simplify(name): name for name in reversed(list(record))}
    found = {column: names[alias] for column in wanted for alias in reversed(COLUMNS[column]) if alias in names}
    for column in wanted:
        if column not in found and column != "language":  # a file of the Trustpilot corpus may have a single one
            raise ColumnError(
                f"{str(source)!r} has no column for the {column}. It has: {list_columns(list(record))}. Rename one of "
                f"them to {column!r}. These names are recognized: {', '.join(COLUMNS[column])}."
            )
    return found


def _simplify(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _read_text(value: Any) -> str | None:
    """A text with words, which may be a list of paragraphs."""
    parts = value if isinstance(value, list) else [value]
    text = " ".join(part for part in parts if isinstance(part, str)).strip()
    return text if has_word(text) else None


def _read_plain(value: Any) -> str | None:
    return str(value).strip() or None if isinstance(value, str | int) else None


def _choose(choices: Mapping[str, str], value: Any) -> str | None:
    """The choice that a value means; a table may write 5 stars as 5.0."""
    return choices.get(_simplify(str(value)).removesuffix(".0"))


def _read_reviews(path: Path) -> Iterator[dict[str, Any]]:
    """The reviews of a file. A row with a list of reviews is a user, whose values each review gets."""
    for record in _read_raw(path):
        reviews = record.get(REVIEWS)
        user = {name: value for name, value in record.items() if name != REVIEWS}
        if isinstance(reviews, list):
            yield from ({**user, **review} for review in reviews if isinstance(review, dict))
        else:
            yield record


def _read_raw(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a table, or the objects of a JSON file: a list, or one object per line."""
    try:
        known = detect_format(path)
    except ParameterError:  # such as .json, or .jsonl.tmp
        known = "jsonl"
    if known != "jsonl":
        yield from read_records(path)
        return
    with FileSource(path).reading() as stream:
        content = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace")
        lines = (line for line in content if line.strip())
        first = next(lines, "")
        if first.lstrip().startswith("["):
            yield from _read_list(path, first + "".join(lines))
        else:
            yield from (_read_object(path, number, line) for number, line in enumerate(chain([first], lines), start=1))
        content.detach()


def _read_list(path: Path, content: str) -> Iterator[dict[str, Any]]:
    try:
        records = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not valid JSON. Download it again.") from error
    return (record for record in records if isinstance(record, dict))


def _read_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """An object in JSON, or as Python writes it, as in some releases of the Trustpilot corpus."""
    for read in (json.loads, ast.literal_eval):
        try:
            record = read(line.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(record, dict):
            return record
    raise InputError(
        f"{str(path)!r}, object {number}: this is not a JSON object. Give a csv, tsv, parquet, json or jsonl file. "
        "Unpack a zip file first."
    )

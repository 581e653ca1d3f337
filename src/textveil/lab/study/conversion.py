"""The conversion of raw downloads of review sites to the data sets of the paper's study."""

from __future__ import annotations

import ast
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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
_SENTIMENTS = {"0": "negative", "1": "positive", "neg": "negative", "pos": "positive"}
_GENDERS = {"m": "male", "f": "female", "male": "male", "female": "female"}
_STARS = ("1", "2", "4", "5")


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
    return _convert(source, target, {"gender": _read_gender, "language": _read_language})


def convert_yelp(source: Path, target: Path) -> Conversion:
    """Convert reviews of Yelp. Those of the ten most frequent authors are kept.

    The result has the columns ``text``, ``stars`` and ``author``.
    """
    counted: Counter[str] = Counter()
    for row in _read_rows(source, Conversion(target), {"author": _read_plain}):
        counted[row["author"]] += 1
    frequent = set(sorted(counted, key=lambda author: (-counted[author], author))[:AUTHORS])

    def read_author(value: Any) -> str | None:
        author = _read_plain(value)
        return author if author in frequent else None

    return _convert(source, target, {"author": read_author})


_Reader = Callable[[Any], str | None]


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


def _read_rows(source: Path, done: Conversion, readers: Mapping[str, _Reader]) -> Iterator[dict[str, str]]:
    """The usable rows. The first row tells the columns."""
    for record in _read_reviews(source):
        if not done.columns:
            done.columns.update(_find_columns(source, record, ("text", "stars", *readers)))
        row = _read_row(record, done.columns, readers)
        if isinstance(row, str):
            done.dropped[row] += 1
        else:
            yield row


def _read_row(
    record: Mapping[str, Any], columns: Mapping[str, str], readers: Mapping[str, _Reader]
) -> dict[str, str] | str:
    """The values of a row, or the reason why it is not used."""
    text = _read_text(record.get(columns["text"]))
    if not has_word(text):
        return "no text"
    stars = _read_stars(record.get(columns["stars"]), sentiment=_simplify(columns["stars"]) in _SENTIMENT_COLUMNS)
    if stars is None:
        return "3 stars or none"
    row = {"text": text, "stars": stars}
    for name, read in readers.items():
        value = read(record.get(columns[name])) if name in columns else ENGLISH
        if value is None:
            return f"another {name} or none"
        row[name] = value
    return row


def _find_columns(source: Path, record: Mapping[str, Any], wanted: tuple[str, ...]) -> dict[str, str]:
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


def _read_text(value: Any) -> str:
    """A text, which may be a list of paragraphs."""
    if isinstance(value, list):
        return " ".join(part for part in value if isinstance(part, str)).strip()
    return value.strip() if isinstance(value, str) else ""


def _read_plain(value: Any) -> str | None:
    return str(value).strip() or None if isinstance(value, str | int) else None


def _read_stars(value: Any, *, sentiment: bool) -> str | None:
    """The number of stars, or the sentiment of a file without stars; ``None`` for a neutral review."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    written = str(value).strip().lower().removesuffix(".0")
    if sentiment:
        written = _SENTIMENTS.get(written, written)
        return written if written in _SENTIMENTS.values() else None
    return written if written in _STARS else None


def _read_gender(value: Any) -> str | None:
    return _GENDERS.get(str(value).strip().lower())


def _read_language(value: Any) -> str | None:
    written = str(value).strip().replace("_", "-").lower()
    return ENGLISH if written == ENGLISH.lower() else None


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

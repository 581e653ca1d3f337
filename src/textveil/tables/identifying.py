"""Columns that may identify people: recognized by their names and by a sample of their values, and pointed out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from textveil.errors import InputError, TextveilWarning
from textveil.tables.base import Rows, Table, is_name, spell

SAMPLE = 256
"""The number of rows whose values are looked at."""
_LEAST = 20
"""Fewer values that all differ may do so by chance."""
_MOST_PARTS = 0.8
"""The part of the values that must have a form."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PEOPLE = (
    "author", "client", "contact", "customer", "doctor", "employee", "member", "patient", "person", "recipient",
    "reviewer", "sender", "student", "user", "writer",
)  # fmt: skip
_NAMES = {*_PEOPLE, "firstname", "forename", "fullname", "lastname", "name", "nickname", "surname", "username"}
_IDENTIFIERS = {
    "account", "address", "birth", "birthdate", "birthday", "dob", "fax", "guid", "handle", "iban", "id", "ids", "ip",
    "license", "login", "mobile", "passport", "phone", "postcode", "ssn", "street", "telephone", "uid", "uuid", "zip",
    "zipcode", *(f"{kind}id" for kind in _PEOPLE),
}  # fmt: skip
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_FULL_NAME = re.compile(r"(?!(?:The|An?) )[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){1,3}")
_CODE = re.compile(r"(?=\S*\d)(?!-?\d+\.\d+$)\S{4,64}")
"""One word with a digit that is no decimal number."""
_NUMBERED = re.compile(r"(\D*)(\d+)")


def recognize(name: str, values: Iterable[str | None] | None) -> str | None:
    """What a column seems to hold, if that may identify people. Without a sample of its values, its name decides.

    >>> recognize("mail", ["a@b.org"]), recognize("reviewer", ["Ann"]), recognize("stars", ["5"])
    ('e-mail addresses', 'names', None)
    """
    given = [value.strip() for value in values or () if value is not None and value.strip()]
    if values is not None and not given:
        return None
    parts = [part.lower() for part in _PARTS.findall(name)]
    if "email" in parts or "mail" in parts or _have(given, _EMAIL):
        return "e-mail addresses"
    if _number_rows(given):
        return None
    if not _IDENTIFIERS.isdisjoint(parts):
        return "identifiers"
    if not _NAMES.isdisjoint(parts) or (len(set(given)) > 1 and _have(given, _FULL_NAME)):
        return "names"
    return "identifiers" if len(given) >= _LEAST and len(set(given)) == len(given) and _have(given, _CODE) else None


def _have(values: Sequence[str], form: re.Pattern[str]) -> bool:
    """Whether most values have a form."""
    return bool(values) and sum(form.fullmatch(value) is not None for value in values) >= _MOST_PARTS * len(values)


def _number_rows(values: Sequence[str]) -> bool:
    """Whether values count the rows, as in 1, 2, 3 or r1, r2, r3. They say no more than the order of rows."""
    found = [_NUMBERED.fullmatch(value) for value in values]
    if not found or found[0] is None:
        return False
    prefix, first = found[0][1], int(found[0][2])
    return first in (0, 1) and all(
        each is not None and each[1] == prefix and int(each[2]) == number for number, each in enumerate(found, first)
    )


def point_out(columns: Mapping[Any, Iterable[Any] | None], *, approved: Collection[Any] | None = None) -> None:
    """Warn of columns that are copied and may identify people. The warning names columns, never a value.

    Args:
        columns: A sample of the values of every column that is copied; ``None`` if there is none.
        approved: The columns that the user named to be kept; ``None`` if nobody chose.
    """
    found = []
    for number, (name, values) in enumerate(columns.items(), start=1):
        sample = None if values is None else map(spell, values)
        what = None if name in (approved or ()) else recognize(str(name), sample)
        if what is not None:
            found.append(f"{repr(name) if is_name(str(name)) else f'number {number}'} ({what})")
    if found:
        several = len(found) > 1
        warnings.warn(
            f"{'Columns' if several else 'A column'} that may identify people {'are' if several else 'is'} copied: "
            f"{', '.join(found)}. Leave out what nobody needs with `drop_columns`, or name what stays with "
            "`keep_columns`.",
            TextveilWarning,
            stacklevel=2,
        )


def pointing_out(table: Table, batches: Iterable[Rows]) -> Iterator[Rows]:
    """The rows of a table. Before the first of them, warnings say what is copied and what is replaced."""
    for number, rows in enumerate(batches):
        if number == 0 and table.has_columns:
            names = table.names
            for name in table.outcome_columns:
                warn_of_replacement(name, names)
            copied = [name for name in names if name not in (*table.columns, *table.outcome_columns)]
            sample, _ = rows.split(min(rows.size, SAMPLE))
            point_out({name: _read_values(table, sample, name) for name in copied}, approved=table.keep_columns)
        yield rows


def warn_of_replacement(outcome_column: str, columns: Collection[str]) -> None:
    """Warn of a column of the input that new outcomes replace."""
    if outcome_column in columns:
        warnings.warn(
            f"The column {outcome_column!r} of the input is replaced by the new outcomes. To keep it, set "
            "`outcome_column` to another name.",
            TextveilWarning,
            stacklevel=2,
        )


def _read_values(table: Table, rows: Rows, name: str) -> list[str | None] | None:
    """The values of a column; ``None`` if they cannot be read as text, or there are two columns of this name."""
    try:
        return table.values(rows, name) if table.names.count(name) == 1 else None
    except InputError:
        return None

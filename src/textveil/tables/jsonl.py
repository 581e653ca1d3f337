"""JSON lines: one object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, BinaryIO, NamedTuple

from textveil.errors import ColumnError, InputError
from textveil.tables.base import Result, Rows, Table, Writer, batch_rows, decode_lines, spell

# Numbers stay strings: they are checked and copied, never computed with.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Member(NamedTuple):
    """A name in an object, and its value as JSON text."""

    name: str
    value: str


class JsonLinesTable(Table):
    """One object per line. All members other than the text are copied character by character.

    The first object must have the text column. If a later object lacks it or has null there, its text is missing. Blank
    lines are ignored.
    """

    name = "jsonl"

    def _read(self, stream: IO[bytes], batch_size: int) -> Iterator[Rows]:
        return batch_rows(self._read_objects(stream), batch_size)

    def _read_objects(self, stream: IO[bytes]) -> Iterator[tuple[list[str | None], list[Member]]]:
        first = True
        for number, line in enumerate(decode_lines(stream, self.source), start=1):
            if not line.strip():
                continue
            try:
                members = _split(line)
            except (ValueError, IndexError, RecursionError) as error:
                raise self._not_an_object(number) from error
            if first:
                self._check_choice([member.name for member in members])
            members = [member for member in members if self._carries(member.name)]
            names = [member.name for member in members]
            if first or any(names.count(name) > 1 for name in self.columns):
                self._find_columns(names)
            if first:
                self.names = names
                first = False
            yield [self._find_text(members, name, number) for name in self.columns], members

    def read_texts(self, stream: IO[bytes], *, batch_size: int, head: bool = True) -> Iterator[list[str | None]]:
        """Stream only the texts of the first text column, without keeping the other members."""
        texts = (((text,), None) for text in self._read_values(stream, head=head))
        return (rows.texts for rows in batch_rows(texts, batch_size))

    def read_records(self, stream: IO[bytes]) -> Iterator[dict[str, Any]]:
        """Stream the objects."""
        return (members for _, members in self._load_objects(stream))

    def _load_objects(self, stream: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects, each with its line number."""
        for number, line in enumerate(decode_lines(stream, self.source), start=1):
            if not line.strip():
                continue
            try:
                members = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise self._not_an_object(number) from error
            if not isinstance(members, dict):
                raise self._not_an_object(number)
            yield number, members

    def _read_values(self, stream: IO[bytes], *, head: bool) -> Iterator[str | None]:
        for number, members in self._load_objects(stream):
            if head:
                self._find_columns(list(members))
                head = False
            text = members.get(self.column)
            if text is not None and not isinstance(text, str):
                raise self._not_a_text(self.column, number)
            yield text

    def _not_an_object(self, number: int) -> InputError:
        # The message of the decoder is omitted because it may quote the line.
        return InputError(f"{self.source}, line {number}: this is not a JSON object. Fix this line.")

    def _not_a_text(self, column: str, number: int) -> InputError:
        return InputError(f"{self.source}, line {number}: the column {column!r} holds no text. Fix this line.")

    def _find_text(self, members: Sequence[Member], column: str, number: int) -> str | None:
        value = dict(members).get(column, "null")
        if value != "null" and not value.startswith('"'):
            raise self._not_a_text(column, number)
        text: str | None = _DECODER.decode(value)
        return text

    def values(self, rows: Rows, column: str) -> list[str | None]:
        """The values of a column: strings decoded, other values as JSON text."""
        objects = [dict(members) for members in rows.carried]
        if not any(column in members for members in objects):
            self._position(list(objects[0]), column)
        values = (members.get(column, "null") for members in objects)
        return list(map(_load, values))

    def describe_rows(self, rows: Rows) -> Iterable[str]:
        """The objects."""
        return map(repr, rows.carried)

    def export(self, rows: Rows) -> list[list[Any]]:
        """The values of all members: strings decoded, other values as JSON text.

        Raises:
            ColumnError: An object has a member that the first object lacks, or the same name twice.
        """
        objects = [dict(members) for members in rows.carried]
        known = set(self.names)
        for members, of_object in zip(rows.carried, objects, strict=True):
            if len(of_object) < len(members) or not known.issuperset(of_object):
                raise ColumnError(
                    f"{self.source}: the objects do not all have the names of the first one, so they do not fit the "
                    "columns of another format. Write jsonl, or give every object the same names."
                )
        return [[_load(members.get(name, "null")) for members in objects] for name in self.names]

    def pack(self, rows: Rows, values: Mapping[str, Sequence[Any]], *, first: int) -> Rows:
        """Objects with a member for every column."""
        columns = [[Member(name, _encode_value(value)) for value in values[name]] for name in self.names]
        return Rows(rows.texts, [list(members) for members in zip(*columns, strict=True)], rows.width)

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer for objects."""
        return Writer(stream, self._encode_rows)

    def _encode_rows(self, rows: Rows, results: Sequence[Result]) -> bytes:
        new = self.replace(rows, results)
        lines = []
        for members, values in zip(rows.carried, zip(*new.values(), strict=True), strict=True):
            left = {name: _encode(value) for name, value in zip(new, values, strict=True)}
            pairs = [(name, left.pop(name, value)) for name, value in members]
            line = ", ".join(f"{_encode(name)}: {value}" for name, value in [*pairs, *left.items()])
            lines.append(f"{{{line}}}\n")
        return "".join(lines).encode()


def _split(line: str) -> list[Member]:
    """The members of the object in a line. Values are checked and returned as JSON text."""

    def skip(position: int) -> int:
        match = _SPACE.match(line, position)
        return match.end() if match else position

    def expect(character: str, position: int) -> int:
        if line[position] != character:
            raise ValueError
        return skip(position + 1)

    members: list[Member] = []
    position = expect("{", skip(0))
    while line[position] != "}" or members:
        expect('"', position)
        name, end = _DECODER.raw_decode(line, position)
        start = expect(":", skip(end))
        _, end = _DECODER.raw_decode(line, start)
        members.append(Member(name, line[start:end]))
        position = skip(end)
        if line[position] == "}":
            break
        position = expect(",", position)
    if skip(position + 1) != len(line):
        raise ValueError
    return members


def _load(value: str) -> str | None:
    """A value: a string decoded, any other one as JSON text."""
    if value == "null":
        return None
    text: str = _DECODER.decode(value) if value[0] == '"' else value
    return text


def _encode_value(value: Any) -> str:
    """A value of another format as JSON. What JSON has no type for becomes a string."""
    if isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=spell)
    return _encode(spell(value))


def _encode(value: str | None) -> str:
    """A string as JSON. A lone surrogate, which UTF-8 cannot represent, becomes an escape sequence."""
    encoded = json.dumps(value, ensure_ascii=False)
    return encoded if encoded.isascii() or not _SURROGATE.search(encoded) else json.dumps(value)

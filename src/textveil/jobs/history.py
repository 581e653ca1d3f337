"""The rows that a job has done: their number, and a keyed hash that detects changes."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from textveil.errors import InputError
from textveil.tables import Rows, Table


class History:
    """The rows done so far: their number, and a keyed hash that detects changes.

    Args:
        table: The table that reads the rows.
        key: The secret key of the run. Without it, a mark cannot confirm a guessed row.
    """

    def __init__(self, table: Table, key: bytes) -> None:
        self.rows = 0
        self.table = table
        self._digest = hmac.new(key, digestmod="sha256")

    def add(self, rows: Rows) -> None:
        """Count these rows as done."""
        if self.rows == 0:
            self._digest.update(self.table.describe_head().encode("utf-8", "surrogatepass"))
        self.rows += rows.size
        for row in self.table.describe_rows(rows):
            self._digest.update(f"{len(row)}:{row}".encode("utf-8", "surrogatepass"))

    def as_dict(self) -> dict[str, Any]:
        """The number of rows and the first digits of the hash."""
        return {"rows": self.rows, "digest": self._digest.hexdigest()[:8]}

    def skip(self, batches: Iterator[Rows], marks: Sequence[Mapping[str, Any]]) -> Iterator[Rows]:
        """The rows after those that an earlier run has done, which must be unchanged."""
        done = marks[-1] if marks else {"rows": 0}
        while self.rows < done["rows"]:
            rows = next(batches, None)
            if rows is None:
                raise InputError(
                    f"{self.table.source} is shorter than when the run began. Start over with `overwrite=True`."
                )
            known, rest = rows.split(min(rows.size, done["rows"] - self.rows))
            self.add(known)
            if rest.size:
                batches = chain([rest], batches)
        if marks and self.as_dict()["digest"] != done["digest"]:
            raise InputError(
                f"{self.table.source} has changed in rows that are done already. Start over with `overwrite=True`."
            )
        yield from batches

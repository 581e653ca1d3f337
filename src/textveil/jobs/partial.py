"""The unfinished output of a run: finished parts on disk, from which an interrupted run resumes.

out.csv.partial/
    job.json        the settings of the run; a resumed run must have the same
    000000.part     rows, complete
    000000.json     the number of rows and their outcomes; once it exists, the part is complete
    final           all parts joined, ready to take the output's name
    final.json      the outcomes of all rows; once it exists, final is complete
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from textveil.errors import OutputExistsError
from textveil.storage.atomic import output_error, sync_folder, writing
from textveil.storage.resumable import ResumableRun

_FINAL = "final"
_FINAL_MARK = "final.json"


class Partial(ResumableRun):
    """The folder of an unfinished file of rows.

    Args:
        output: The file that the run writes.
        source: The file that it reads. The output is never more readable.
    """

    our_names = re.compile(r"job\.json|final(\.json)?|\d{6}\.(part|json)")
    makes_folders = False

    def __init__(self, output: Path, source: Path | None = None) -> None:
        super().__init__(output)
        self._source = source

    def load_marks(self) -> list[dict[str, Any]]:
        """The marks of the finished parts, in order."""
        marks: list[dict[str, Any]] = []
        while (path := self._path(len(marks), "json")).exists():
            marks.append(self.read_json(path.name))
        return marks

    @contextmanager
    def writing_part(self, number: int) -> Iterator[BinaryIO]:
        """Write a part; it counts once :meth:`mark` is called for it."""
        with writing(self._path(number, "part"), private=True) as stream:
            yield stream

    def mark(self, number: int, mark: Mapping[str, Any]) -> None:
        """Record that a part is complete."""
        self.write_json(self._path(number, "json").name, mark)

    def finish(
        self,
        parts: int,
        merge: Callable[[Iterator[BinaryIO], BinaryIO], None],
        totals: Mapping[str, Any],
        *,
        overwrite: bool,
    ) -> None:
        """Join the parts under the name of the output; the totals stay until :meth:`complete`."""
        final = self.folder / _FINAL
        with writing(final, like=self._source) as target:
            merge(self._open_parts(parts), target)
        if self.output.exists() and not overwrite:
            raise OutputExistsError(
                f"{str(self.output)!r} appeared during the run. Move it away and run again with `resume=True`, "
                "or replace it with `resume=True` and `overwrite=True`."
            )
        self.write_json(_FINAL_MARK, totals)
        try:
            final.replace(self.output)
        except OSError as error:
            raise output_error(self.output, error) from error
        sync_folder(self.output.parent)

    def load_totals(self) -> dict[str, Any] | None:
        """The totals of a run that wrote its output and was interrupted only during the clean-up."""
        if (outcome := self.read_outcome()) is not None:
            return outcome
        renamed = (self.folder / _FINAL_MARK).exists() and not (self.folder / _FINAL).exists()
        return self.read_json(_FINAL_MARK) if renamed and self.output.exists() else None

    def _open_parts(self, count: int) -> Iterator[BinaryIO]:
        for number in range(count):
            with self._path(number, "part").open("rb") as stream:
                yield stream

    def _path(self, number: int, suffix: str) -> Path:
        return self.folder / f"{number:06}.{suffix}"

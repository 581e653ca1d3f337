"""Obfuscating from or to a stream, in one pass."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from textveil.certificate import Tally
from textveil.jobs.file import Partial
from textveil.jobs.options import JobOptions, JobReport, ObfuscatesTexts, check_free
from textveil.jobs.row_writer import RowWriter, read_texts
from textveil.progress import Progress, ignore_progress
from textveil.storage.atomic import writing
from textveil.tables import FileSource, Source, Table, detect_format
from textveil.tables.compression import compressing
from textveil.tables.identifying import pointing_out


@dataclass(frozen=True, slots=True)
class StreamJob:
    """Obfuscates a file into a stream, or a stream into a stream or a file. It cannot resume.

    Args:
        source: What to read.
        output: The file to write, which gets its name when it is complete; ``None`` writes to the stream.
        options: The settings that all jobs share.
    """

    source: Source
    output: Path | None
    options: JobOptions

    def run(self, obfuscator: ObfuscatesTexts, stream: BinaryIO, progress: Progress = ignore_progress) -> JobReport:
        """Obfuscate; without an output file, rows go to ``stream``."""
        started = time.monotonic()
        source = self.source.path if isinstance(self.source, FileSource) else None
        self.options.check(source, self.output)
        layout = self.options.layout
        if layout.format_name is None and self.output is not None and not isinstance(self.source, FileSource):
            layout = replace(layout, format_name=detect_format(self.output))  # a stream has no name to show a format
        table = layout.table(self.source) if self.output is None else layout.convert(self.source, self.output)
        with ExitStack() as stack:
            if self.output is not None:
                stack.enter_context(Partial(self.output.resolve(), source).locked())  # the lock of file jobs, too
                check_free(self.output, overwrite=self.options.overwrite)
            texts = read_texts(self.source, layout.table(self.source), self.options.batch_size, progress)
            budget = obfuscator.profile.choose_budget(self.options.budget).resolve(texts)
            tally = self._write(RowWriter(obfuscator, budget), table, stream, progress, source)
        return self.options.report(obfuscator, budget, tally, table, started, source=source)

    def _write(self, rows: RowWriter, table: Table, stream: BinaryIO, progress: Progress, source: Path | None) -> Tally:
        """Write the rows to the output file, or else to the stream."""
        if self.output is None:
            return self._copy(rows, table, stream, progress)
        with writing(self.output, like=source) as file, compressing(file, self.output) as compressed:
            return self._copy(rows, table, compressed, progress)

    def _copy(self, rows: RowWriter, table: Table, stream: BinaryIO, progress: Progress) -> Tally:
        """Write the rows, batch by batch."""
        tally = Tally()
        batches = pointing_out(table, self.source.read(table, batch_size=self.options.batch_size))
        pending = next(batches, None)  # the writer needs to know the columns
        with table.writer(stream, head=True) as writer:
            while pending is not None:
                tally.add(rows.write(pending, writer))
                stream.flush()
                progress("obfuscating", tally.documents.total(), self.source.fraction)
                pending = next(batches, None)
        return tally

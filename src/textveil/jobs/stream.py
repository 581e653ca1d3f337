"""Obfuscating from or to a stream, in one pass."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from textveil.budget import Budget
from textveil.certificate import Tally
from textveil.jobs.file import Partial
from textveil.jobs.options import JobOptions, JobReport, ObfuscatesTexts, check_free
from textveil.jobs.workers import obfuscate_rows, read_texts, write_rows
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
            if self.output is not None:
                file = stack.enter_context(writing(self.output, like=source))
                stream = stack.enter_context(compressing(file, self.output))
            tally = self._write(obfuscator, budget, table, stream, progress)
        return self.options.report(obfuscator, budget, tally, table, started, source=source)

    def _write(
        self, obfuscator: ObfuscatesTexts, budget: Budget, table: Table, stream: BinaryIO, progress: Progress
    ) -> Tally:
        """Write the rows, batch by batch."""
        tally = Tally()
        batches = pointing_out(table, self.source.read(table, batch_size=self.options.batch_size))
        results = obfuscate_rows(obfuscator, budget, ((None, rows) for rows in batches))
        pending = next(results, None)  # the writer needs to know the columns
        with table.writer(stream, head=True) as writer:
            while pending is not None:
                tally.add(write_rows(*pending, writer))
                stream.flush()
                progress("obfuscating", tally.documents.total(), self.source.fraction)
                pending = next(results, None)
        return tally

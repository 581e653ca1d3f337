"""The options that say where work runs: ``--executor``, ``--workers`` and ``--address``."""

from __future__ import annotations

from typing import Annotated

import typer

from textveil.execution import EXECUTORS

ExecutorName = Annotated[str, typer.Option(help=f"Where the work runs: {', '.join(EXECUTORS)}.")]
FileExecutorName = Annotated[
    str | None,
    typer.Option(
        "--executor",
        help=f"File: where the work runs: {', '.join(EXECUTORS)}. By default local, or processes with --workers. With "
        "a seed, the output is the same, byte for byte.",
    ),
]
Workers = Annotated[int | None, typer.Option(help="The number of workers; by default, one per core.")]
Address = Annotated[
    str | None,
    typer.Option(help="The address of a running Ray cluster, or auto. Its machines must share the files."),
]

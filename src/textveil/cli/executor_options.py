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
        help=f"For a file, where the work runs: {', '.join(EXECUTORS)}. By default local, or processes with --workers. "
        "With a seed, the output does not depend on it.",
    ),
]
Workers = Annotated[int | None, typer.Option(help="The number of workers. By default, one per core.")]
Address = Annotated[
    str | None,
    typer.Option(help="The address of a running Ray cluster, or auto. Its machines must share the files."),
]

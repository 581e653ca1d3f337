"""``textveil serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.cli.options import build_app, command
from textveil.cli.reporting import report
from textveil.cli.settings import Config, pick
from textveil.service import settings as defaults
from textveil.service.running import run
from textveil.service.settings import Settings

app = build_app()


@command(
    app,
    "serve",
    settings=pick("profile", "decomposition", "distribution", "mechanism", "identifiers"),
    methods={},
    no_args_is_help=False,
)
def serve(
    *,
    host: str = defaults.HOST,
    port: int = defaults.PORT,
    token_file: Path | None = None,
    workers: int = 1,
    bundles: Annotated[list[str] | None, typer.Option("--bundle")] = None,
    settings: dict[str, Any],
    load: list[str] | None = None,
    allow_seeds: bool = False,
    origins: Annotated[list[str] | None, typer.Option("--allow-origin")] = None,
    size: Annotated[int, typer.Option("--bytes")] = defaults.BYTES,
    texts: int = defaults.TEXTS,
    words: int = defaults.WORDS,
    requests: int = defaults.REQUESTS,
    seconds: float = defaults.SECONDS,
    config: Config = None,  # noqa: ARG001 # read before the others
) -> None:
    """Start an HTTP service with a playground page.

    The page is at /, and JSON at /obfuscate and other routes. Without a token, only this machine can reach the service.
    Requests that arrive together are obfuscated together. Noise comes from the operating system. Neither errors nor the
    log contain a text. SIGTERM and Ctrl-C stop the service after open requests are finished.
    Flags of methods decide what requests get that choose none.

    Args:
        host: The address to listen on. Any address other than this machine's own needs --token-file.
        port: The port; 0 selects a free one.
        token_file: A file with a token. Requests must send it: 'Authorization: Bearer TOKEN'.
        workers: Number of processes.
        bundles: A name or folder of a bundle (repeatable). The first one is the default.
        load: Load the model of this distribution at the start, not on first use (repeatable).
        allow_seeds: Let requests choose a seed. Their noise is then predictable.
        origins: Let pages of this origin call the service (CORS, repeatable).
        size: The largest body of a request, in bytes.
        texts: The largest number of texts in a request.
        words: The largest number of words of a text.
        requests: Number of requests that a process handles at once. Others get the status 429.
        seconds: Number of seconds for a request to arrive, and then to be answered.

    Examples:
      textveil serve
      textveil serve --profile proven --port 8080
      textveil serve --host 0.0.0.0 --token-file token --workers 4
      textveil serve --config textveil.toml
    """
    chosen = Settings(
        host=host,
        port=port,
        bundles=tuple(bundles or [DEFAULT_BUNDLE]),
        **settings,
        load=tuple(load or ()),
        token_file=token_file,
        allow_seeds=allow_seeds,
        origins=tuple(origins or ()),
        workers=workers,
        bytes=size,
        texts=texts,
        words=words,
        requests=requests,
        seconds=seconds,
    )
    if allow_seeds:
        report("Warning: requests may choose a seed. Their noise is predictable. Do not protect real texts so.")
    try:
        run(chosen, announce=lambda address: report(f"textveil listens at {address} (stop with Ctrl-C)"))
    except KeyboardInterrupt:  # uvicorn has finished what was begun, and passes the signal on
        report("Stopped.")

"""``textveil serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.cli.configuration import Config
from textveil.cli.options import build_app, command
from textveil.cli.reporting import report
from textveil.cli.settings import pick
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
    host: Annotated[
        str,
        typer.Option(help="The address to listen on. Any address other than this machine's own needs --token-file."),
    ] = defaults.HOST,
    port: Annotated[int, typer.Option(help="The port; 0 selects a free one.")] = defaults.PORT,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with a token. Requests must send it: 'Authorization: Bearer TOKEN'.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Number of processes.")] = 1,
    bundles: Annotated[
        list[str] | None,
        typer.Option("--bundle", help="A name or folder of a bundle (repeatable). The first one is the default."),
    ] = None,
    settings: dict[str, Any],
    load: Annotated[
        list[str] | None,
        typer.Option(help="Load the model of this distribution at the start, not on first use (repeatable)."),
    ] = None,
    allow_seeds: Annotated[
        bool, typer.Option("--allow-seeds", help="Let requests choose a seed. Their noise is then predictable.")
    ] = False,
    origins: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", help="Let pages of this origin call the service (CORS, repeatable)."),
    ] = None,
    size: Annotated[int, typer.Option("--bytes", help="The largest body of a request, in bytes.")] = defaults.BYTES,
    texts: Annotated[int, typer.Option(help="The largest number of texts in a request.")] = defaults.TEXTS,
    words: Annotated[int, typer.Option(help="The largest number of words of a text.")] = defaults.WORDS,
    requests: Annotated[
        int, typer.Option(help="Number of requests that a process handles at once. Others get the status 429.")
    ] = defaults.REQUESTS,
    seconds: Annotated[
        float, typer.Option(help="Number of seconds for a request to arrive, and then to be answered.")
    ] = defaults.SECONDS,
    config: Config = None,  # noqa: ARG001 # read before the others
) -> None:
    """Start an HTTP service with a playground page.

    The page is at /, and JSON at /obfuscate and other routes. Without a token, only this machine can reach the service.
    Requests that arrive together are obfuscated together. Noise comes from the operating system. Neither errors nor the
    log contain a text. SIGTERM and Ctrl-C stop the service after open requests are finished.
    Flags of methods decide what requests get that choose none.

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

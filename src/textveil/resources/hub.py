"""Download of a model from the Hugging Face hub, or from the mirror in HF_ENDPOINT."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from textveil.errors import ResourceError
from textveil.extras import require
from textveil.progress import Progress
from textveil.resources.catalog import HubModel, Resource
from textveil.resources.watching import watching
from textveil.resources.web import check_reachable

HUB_EXTRA = "neural"


def fetch(source: HubModel, resource: Resource, into: Path, work: Path, progress: Progress) -> None:
    """Download the files of a model at its pinned commit, with the settings of huggingface_hub.

    Raises:
        MissingExtraError: huggingface_hub is not installed.
        ResourceError: The hub does not answer, or a file is missing.
    """
    hub = require("huggingface_hub", extra=HUB_EXTRA)
    check_reachable(
        require("huggingface_hub.constants", extra=HUB_EXTRA).ENDPOINT
    )  # the library retries for 20 seconds
    try:
        with _silence(), watching(work, resource.name, resource.size, progress):
            hub.snapshot_download(
                source.repository, revision=source.revision, allow_patterns=list(resource.hashes), local_dir=work
            )
    except Exception as error:  # its errors and those of its HTTP library differ between releases
        first_line = str(error).strip().partition("\n")[0]
        raise ResourceError(f"{source} cannot be downloaded ({type(error).__name__}: {first_line})") from error
    for path in resource.hashes:
        if (work / path).is_file():
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).rename(into / path)
        elif path in resource.files:
            raise ResourceError(f"{source} has no file {path!r}")


@contextmanager
def _silence() -> Iterator[None]:
    """Silence the library, whose messages are raised as errors instead."""
    utils = require("huggingface_hub.utils", extra=HUB_EXTRA)
    shown, level = not utils.are_progress_bars_disabled(), utils.logging.get_verbosity()
    utils.disable_progress_bars()
    utils.logging.set_verbosity_error()
    try:
        yield
    finally:
        utils.logging.set_verbosity(level)
        if shown:
            utils.enable_progress_bars()

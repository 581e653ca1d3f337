"""``textveil calibrate``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.cli.options import AsJson, BundleName, Column, Overwrite, Quiet, build_app, command
from textveil.cli.reporting import report, showing_progress, write_file
from textveil.cli.settings import METHODS, build_settings, pick
from textveil.errors import ParameterError, TargetError
from textveil.extras import require
from textveil.jobs import check_free
from textveil.lab.calibration import Calibration
from textveil.lab.calibration import calibrate as find
from textveil.lab.calibration.calibration import LOG_RATIO, Point, check_targets, parse_targets
from textveil.lab.calibration.figure import describe, draw_page, tell
from textveil.lab.calibration.search import CONFIDENCE, find_largest_share
from textveil.lab.metrics.dataset import SAMPLE_SEED
from textveil.lab.metrics.files import read_columns
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.tables import TEXT_COLUMN

app = build_app()

SAMPLE = 500
"""The number of texts that are drawn from a file."""


@command(
    app,
    "calibrate",
    settings=pick(
        *("largest_share", "profile", "decomposition", "distribution", "mechanism"),
        *("stopwords", "draft_share", "form", "keep_emoji"),
    ),
    methods=METHODS,
)
def calibrate(
    *,
    targets: Annotated[list[str], typer.Option("--target", "-t", metavar="NAME=LEVEL")],
    input_file: Annotated[Path | None, typer.Option("--input", "-i")] = None,
    column: Column = TEXT_COLUMN,
    attribute: str | None = None,
    labels: Annotated[list[str] | None, typer.Option("--label")] = None,
    sample: Annotated[int, typer.Option(min=1)] = SAMPLE,
    confidence: float = CONFIDENCE,
    settings: dict[str, Any],
    bundle: BundleName = DEFAULT_BUNDLE,
    seed: int = SAMPLE_SEED,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    html: Path | None = None,
    as_json: AsJson = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    method_options: dict[str, Any],
) -> None:
    """Find the epsilon per word that meets a target.

    A target is an upper limit for unchanged words, for chunks that an attacker guesses (inversion), for the F1 of an
    adaptive attacker, or for the log-ratio of any two words. For similarity and utility, it is a lower limit: utility
    is the share of the F1 of a task (--label) that is left, with a linear classifier and ten folds. The answer is the
    largest epsilon whose confidence bounds meet all targets. With a lower limit, it is the smallest.

    Args:
        targets: A target (repeatable): {textveil.lab.calibration:TARGETS}.
        input_file: A file with texts of your own. The epsilon then depends on them. By default, public texts that ship
            with textveil.
        attribute: For adaptive: the column that an attacker wants to infer, such as the author.
        labels: For utility: the column with the label of a task (repeatable).
        sample: Number of texts to draw from the file.
        confidence: The probability that the targets are met.
        seed: The seed of the noise and of the sample.
        output: Write the calibration to this file, for obfuscate --target.
        html: Write a page with the curve to this file.

    Examples:
      textveil calibrate --target unchanged-content=0.2
      textveil calibrate --target inversion=0.1 --target similarity=0.5 --html calibration.html
      textveil calibrate --target adaptive=0.3 --input reviews.csv --attribute author --output reviews.calibration.json
      textveil calibrate --target utility=0.9 --input reviews.csv --label sentiment
      textveil calibrate --target log-ratio=10 --mechanism exponential --cap 1 --output calibration.json
      textveil obfuscate --input reviews.csv --output out.csv --mechanism exponential --cap 1 --target calibration.json
    """
    wanted = parse_targets(targets)
    check_targets(wanted)
    for path in filter(None, (output, html)):
        check_free(path, overwrite=overwrite)
    if html is not None:
        require("matplotlib", extra="analyze")
    others = [*(labels or ()), *([] if attribute is None else [attribute])]
    texts, columns = _read(input_file, column, others, sample, seed)

    wanted_settings = build_settings(bundle, settings, method_options, seed=seed)
    obfuscator = Obfuscator(wanted_settings)
    if LOG_RATIO in wanted:
        obfuscator = Obfuscator(wanted_settings, largest_share=find_largest_share(obfuscator, wanted))
    try:
        with showing_progress(quiet, "epsilons") as progress:
            found = find(
                obfuscator,
                wanted,
                texts,
                attribute=None if attribute is None else columns[attribute],
                labels={label: columns[label] for label in labels or ()},
                confidence=confidence,
                progress=progress,
            )
    except TargetError as error:
        for line in () if quiet else _list_points(error.curve):
            report(line)
        raise
    if output is not None:
        found.write(output, like=input_file)
    if html is not None:
        write_file(html, draw_page(found), like=input_file)
    if as_json:
        typer.echo(found.to_json(), nl=False)
    else:
        _show(found, quiet=quiet)
    for caveat in found.caveats:
        report(f"Warning: {caveat}")


def _show(found: Calibration, *, quiet: bool) -> None:
    for line in () if quiet else _list_points(found.curve):
        typer.echo(line)
    typer.echo(tell(found))
    for name, value in describe(found):
        typer.echo(f"{name:<15}{value}")


def _read(
    path: Path | None, column: str, wanted: Sequence[str], sample: int, seed: int
) -> tuple[list[str | None] | None, dict[str, list[str | None]]]:
    """A sample of the texts of a file, with other columns."""
    if path is None:
        if wanted:
            raise ParameterError("--attribute and --label go with --input.")
        return None, {}
    texts, columns = read_columns(path, column, wanted)
    order = SeededRandomness(seed).stream(0).permutation(len(texts))[:sample]
    return [texts[row] for row in order], {name: [values[row] for row in order] for name, values in columns.items()}


def _list_points(curve: Sequence[Point]) -> Iterator[str]:
    """A line per epsilon that was tried: the value of every target, its bound, and whether the bound meets it."""
    yield "per word   value (bound)"
    for point in curve:
        readings = (
            f"{name} {reading.value:.3f} ({reading.bound:.3f}) {'met' if reading.met else 'not met'}"
            for name, reading in point.readings.items()
        )
        yield f"{point.epsilon_per_word:>8.4g}   {', '.join(readings)}"

"""The comparison of several obfuscations of the same originals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textveil.budget import LEVELS
from textveil.errors import InputError, ParameterError
from textveil.lab.metrics.base import Metric, Need
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.dataset import Dataset
from textveil.lab.metrics.evaluator import Evaluation, Evaluator
from textveil.lab.metrics.files import Values, read_pairs
from textveil.lab.metrics.quantities import (
    ATTACKS,
    QUANTITIES,
    UTILITIES,
    Quantity,
    Reading,
    compare_readings,
    is_chance,
    join_readings,
)
from textveil.lab.metrics.registry import METRICS
from textveil.progress import Progress, ignore_progress
from textveil.tables import TEXT_COLUMN
from textveil.tables.compression import strip_suffix
from textveil.version import __version__

FORMAT_VERSION = 1
_NO_CERTIFICATE = "It needs the certificate of an obfuscation, which a comparison does not use."
LEVEL_SIGN = "@"
"""Separates the name of a setting from its level, as in ``madlib@10``."""
Pair = tuple[Quantity, Quantity]
"""An attack and a utility that a figure shows together."""


def split_name(name: str) -> tuple[str, str]:
    """The setting and the level of a name. The level is empty if the name has none.

    >>> split_name("madlib@10"), split_name("madlib")
    (('madlib', '10'), ('madlib', ''))
    """
    setting, _, level = name.rpartition(LEVEL_SIGN)
    return (setting, level) if setting else (name, "")


@dataclass(frozen=True, slots=True)
class Contender:
    """One obfuscation of a comparison."""

    name: str
    evaluation: Evaluation

    @property
    def setting(self) -> str:
        """The name without its level. Obfuscations of one setting form a curve."""
        return split_name(self.name)[0]

    @property
    def level(self) -> str:
        """The level, such as ``10`` in ``madlib@10``; empty if the name has none."""
        return split_name(self.name)[1]

    def read(self, quantity: Quantity) -> Reading | None:
        """A quantity of this obfuscation; ``None`` if it was not measured."""
        return quantity.read(self.evaluation)

    def read_learned(self, quantity: Quantity) -> Reading | None:
        """A quantity to compare with others: that of chance if it cannot be told from it.

        A classifier that has learned nothing can be below another one, but it has not learned less.
        """
        own, chance = self.read(quantity), quantity.read_reference(self.evaluation, Reference.CHANCE)
        if own is None or chance is None or chance.interval is None:
            return own
        return chance if is_chance(own, chance) else own


@dataclass(frozen=True, slots=True)
class Comparison:
    """Obfuscations of the same originals, with all that was measured of them."""

    contenders: tuple[Contender, ...]

    @property
    def texts(self) -> int:
        """The number of pairs of texts of every obfuscation."""
        return self.contenders[0].evaluation.texts

    @property
    def left_out(self) -> int:
        """The number of rows whose original contains no word."""
        return self.contenders[0].evaluation.left_out

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities that were measured, in the order of tables."""
        return tuple(quantity for quantity in QUANTITIES if any(each.read(quantity) for each in self.contenders))

    @property
    def settings(self) -> dict[str, list[Contender]]:
        """The obfuscations by setting, each list in the order of its levels."""
        found: dict[str, list[Contender]] = {}
        for contender in self.contenders:
            found.setdefault(contender.setting, []).append(contender)
        return {name: sorted(each, key=lambda contender: _rank(contender.level)) for name, each in found.items()}

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of attack and utility that were measured: the main pair first, pairs with caveats last.

        An attack that has the values of an earlier one is left out, such as a single attacker, which is the strongest.
        """
        found: dict[tuple[Reading | None, ...], Quantity] = {}
        for attack in ATTACKS:
            found.setdefault(tuple(contender.read(attack) for contender in self.contenders), attack)
        attacks = [attack for readings, attack in found.items() if any(readings)]
        utilities = [each for each in UTILITIES if any(contender.read(each) for contender in self.contenders)]
        if not attacks or not utilities:
            return ()
        pairs = [*((attack, utilities[0]) for attack in attacks), *((attacks[0], each) for each in utilities[1:])]
        return tuple(sorted(pairs, key=lambda pair: any(self.find_caveats(quantity) for quantity in pair)))

    @property
    def not_measured(self) -> dict[str, str]:
        """The reason why a metric was not measured, by its name."""
        reasons: dict[str, str] = {}
        for contender in self.contenders:
            reasons = {**contender.evaluation.not_measured, **reasons}
        return {name: _NO_CERTIFICATE if _needs_certificate(name) else reason for name, reason in reasons.items()}

    @property
    def caveats(self) -> dict[str, tuple[str, ...]]:
        """Reasons to draw no conclusion, by metric. They are those of the first obfuscation that has any."""
        found: dict[str, tuple[str, ...]] = {}
        for contender in self.contenders:
            for name, measurement in contender.evaluation.measurements.items():
                if measurement.caveats:
                    found.setdefault(name, measurement.caveats)
        return found

    def find_caveats(self, quantity: Quantity) -> tuple[str, ...]:
        """Reasons to draw no conclusion from a quantity: those of the first obfuscation that has any."""
        return next(filter(None, (quantity.caveats(contender.evaluation) for contender in self.contenders)), ())

    def read_reference(self, quantity: Quantity, reference: Reference) -> Reading | None:
        """A value to compare with, over all obfuscations; ``None`` if there is none."""
        readings = (quantity.read_reference(contender.evaluation, reference) for contender in self.contenders)
        return join_readings(reading for reading in readings if reading is not None)

    def find_best(self, quantity: Quantity) -> Contender | None:
        """The obfuscation with the best value, if it is clearly better than at least one other."""
        measured = [contender for contender in self.contenders if contender.read(quantity)]
        if not measured or self.find_caveats(quantity):
            return None
        sign = 1 if quantity.better == "higher" else -1
        best = max(measured, key=lambda contender: sign * contender.read(quantity).value)  # type: ignore[union-attr]
        return best if any(is_clearly_better(best, other, quantity) for other in measured) else None

    def is_chance(self, contender: Contender, quantity: Quantity) -> bool:
        """Whether a value cannot be told from chance."""
        own, chance = contender.read(quantity), quantity.read_reference(contender.evaluation, Reference.CHANCE)
        return own is not None and chance is not None and is_chance(own, chance)

    def is_original(self, contender: Contender, quantity: Quantity) -> bool:
        """Whether a value cannot be told from that of the originals: their intervals overlap."""
        own, other = contender.read(quantity), quantity.read_reference(contender.evaluation, Reference.ORIGINALS)
        return own is not None and other is not None and compare_readings(own, other) == 0

    def as_dict(self) -> dict[str, Any]:
        """The comparison as a JSON object."""
        references = {
            quantity.key: {
                reference.value: reading.as_dict()
                for reference in Reference
                if (reading := self.read_reference(quantity, reference)) is not None
            }
            for quantity in self.quantities
        }
        return {
            "comparison": FORMAT_VERSION,
            "textveil": __version__,
            "texts": self.texts,
            "left_out": self.left_out,
            "references": references,
            "obfuscations": {contender.name: contender.evaluation.as_dict() for contender in self.contenders},
        }


def is_clearly_better(one: Contender, other: Contender, quantity: Quantity) -> bool:
    """Whether one obfuscation is better than another, and the intervals do not overlap."""
    first, second = one.read_learned(quantity), other.read_learned(quantity)
    return first is not None and second is not None and quantity.is_clearly_better(first, second)


def _rank(level: str) -> tuple[float, int]:
    """The place of a level: numbers by size, then those of textveil, then others, which stay in their order."""
    if level in LEVELS:
        return math.inf, list(LEVELS).index(level)
    try:
        number = float(level)
    except ValueError:
        number = math.nan
    return (math.inf if math.isnan(number) else number), len(LEVELS)


def _needs_certificate(name: str) -> bool:
    return bool({Need.CERTIFICATE, Need.CHUNKS} & set(METRICS.load(name).needs))


def compare(
    dataset: Dataset,
    obfuscations: Mapping[str, Sequence[str | None]],
    metrics: Sequence[str | Metric] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress = ignore_progress,
) -> Comparison:
    """Measure several obfuscations of the same originals.

    Args:
        dataset: The originals.
        obfuscations: An obfuscated text for every original, in the same order, by the name of the obfuscation. Names
            such as ``madlib@10`` and ``madlib@20`` are levels of one setting, ``madlib``.
        metrics: The metrics to measure; by default all that can be measured here.
        options: The options of named metrics, by the name of the metric.
        progress: Receives progress reports.

    Raises:
        ParameterError: There is no obfuscation, or a name is not valid.
        InputError: The number of texts differs, or the texts are the originals.
    """
    if not isinstance(obfuscations, Mapping):
        raise ParameterError(
            f"`obfuscations` must be a mapping of names to texts. Got {type(obfuscations).__name__} instead."
        )
    check_names(list(obfuscations))
    for name, texts in obfuscations.items():
        _check_texts(dataset, name, texts)
    for metric in [] if metrics is None else map(METRICS.choose, metrics):
        if _needs_certificate(metric.name):
            raise ParameterError(f"{metric.name}: {_NO_CERTIFICATE} Remove it from `metrics`.")
    evaluator = Evaluator(dataset, metrics, options or {})
    return Comparison(tuple(_measure(evaluator, obfuscations, progress)))


def _measure(
    evaluator: Evaluator, obfuscations: Mapping[str, Sequence[str | None]], progress: Progress
) -> Iterator[Contender]:
    for name, texts in obfuscations.items():

        def report(stage: str, amount: int, fraction: float | None, name: str = name) -> None:
            progress(f"{name}: {stage}", amount, fraction)

        evaluator.progress = report
        yield Contender(name, evaluator.measure(texts))


def check_names(names: Sequence[str]) -> None:
    """Refuse names that are missing, empty, taken by a reference, or given twice.

    Raises:
        ParameterError: A name is not valid.
    """
    if not names:
        raise ParameterError("There is nothing to compare. Give at least one obfuscation.")
    for number, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise ParameterError(f"The name of obfuscation {number} must be a printable string that is not empty.")
        if name in set(Reference):
            raise ParameterError(f"{name!r} is the name of a reference. Choose another name for the obfuscation.")
        if name in names[: number - 1]:
            first = names.index(name) + 1
            raise ParameterError(
                f"Obfuscations {first} and {number} have the same name, {name!r}. Give each its own name (`names`)."
            )
    _check_levels(names)


def _check_levels(names: Sequence[str]) -> None:
    """Refuse a name whose level is missing, although its setting has levels."""
    levels: dict[str, list[str]] = {}
    for name in names:
        setting, level = split_name(name)
        levels.setdefault(setting, []).append(level.strip())
    for setting, found in levels.items():
        if "" in found and (len(found) > 1 or setting not in names):
            raise ParameterError(
                f"An obfuscation of {setting!r} has no level. Name every level of a setting as in "
                f"'{setting}{LEVEL_SIGN}10', or choose another name (`names`)."
            )


def _check_texts(dataset: Dataset, name: str, texts: Sequence[str | None]) -> None:
    try:
        paired = dataset.pair(texts)
    except (InputError, ParameterError) as error:
        raise type(error)(f"{name}: {error}") from error
    if paired.hash == dataset.originals.hash:
        raise InputError(
            f"The texts of {name!r} are the originals, without any change. Give obfuscated texts. The values of the "
            "originals are shown in any case."
        )


class ComparedRows(NamedTuple):
    """The rows of a comparison."""

    originals: Values
    obfuscations: dict[str, Values]
    """The obfuscated texts by the name of their file."""
    label: Values | None
    attribute: Values | None


def read_files(
    originals: Path,
    files: Sequence[Path],
    *,
    names: Sequence[str] | None = None,
    text: str = TEXT_COLUMN,
    obfuscated_text: str | None = None,
    label: str | None = None,
    attribute: str | None = None,
    format_name: str | None = None,
) -> ComparedRows:
    """Read the files of a comparison, all with the same rows.

    Args:
        originals: The file with the originals, their label and their attribute.
        files: The files with the obfuscated texts.
        names: A name for every file; by default the name of the file without its suffix.
        text: The column with the texts.
        obfuscated_text: The column with the obfuscated texts; by default ``text``.
        label: The column with the label of a task.
        attribute: The column with an attribute to protect.
        format_name: The format of the files; by default it follows from their names.

    Raises:
        ColumnError: A file lacks a column.
        InputError: The files do not have the same rows.
        ParameterError: A file is given twice or is the file of originals, or the names do not fit.
    """
    _check_files(originals, files, own_column=obfuscated_text in (None, text))
    labels = () if label is None else (label,)
    obfuscations: dict[str, Values] = {}
    for name, path in zip(_choose_names(names, files), files, strict=True):
        pairs = read_pairs(
            originals,
            path,
            text=text,
            obfuscated_text=obfuscated_text,
            labels=labels,
            attribute=attribute,
            format_name=format_name,
        )
        obfuscations[name] = pairs.obfuscated
    return ComparedRows(pairs.originals, obfuscations, next(iter(pairs.labels.values()), None), pairs.attribute)


def _choose_names(names: Sequence[str] | None, files: Sequence[Path]) -> list[str]:
    if names and len(names) != len(files):
        raise ParameterError(
            f"There are {len(files):,} files and {len(names):,} names. Give one name per file, in the same order "
            "(`names`), or none."
        )
    chosen = list(names) if names else [strip_suffix(path).stem for path in files]
    check_names(chosen)
    return chosen


def _check_files(originals: Path, files: Sequence[Path], *, own_column: bool) -> None:
    for number, path in enumerate(files):
        if any(_is_same(path, other) for other in files[:number]):
            raise ParameterError(f"{str(path)!r} is given twice. Remove one of the two.")
        if own_column and _is_same(path, originals):
            raise InputError(
                f"{str(path)!r} is the file of originals. Remove it from the files to compare. The values of the "
                "originals are shown in any case."
            )


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # reading it will say what is wrong
        return one == other

"""The originals of an evaluation, prepared once for many obfuscations."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from textveil.errors import InputError, ParameterError
from textveil.evaluation.texts import SAMPLE_SEED, Texts
from textveil.language.words import has_word
from textveil.randomness import SeededRandomness

TEST_SHARE = 0.1
"""The share of every class to test on."""
FOLDS = 10
"""The number of parts of a cross-validation."""

Codes = npt.NDArray[np.int64]


class Split(NamedTuple):
    """The positions of training and test texts."""

    train: Codes
    test: Codes


@dataclass(frozen=True)
class Classes:
    """The classes of texts: sorted names, and the class number of every text."""

    column: str
    names: tuple[str, ...]
    codes: Codes

    @classmethod
    def of(cls, values: Sequence[str | None], rows: Sequence[int], column: str) -> Classes:
        """The classes of the given rows of a column.

        Raises:
            InputError: A value is missing, there is only one class, or a class has a single member.
        """
        for row in rows:
            if values[row] is None:
                raise InputError(f"Row {row + 1} has no {column}. Fill it in, or remove the row from both files.")
        names, first, codes, counts = np.unique(
            [str(values[row]) for row in rows], return_index=True, return_inverse=True, return_counts=True
        )
        if len(names) < 2:
            raise InputError(f"All texts have the same {column}. Choose a column with at least two values.")
        if counts.min() < 2:
            alone = rows[int(first[counts.argmin()])]
            raise InputError(
                f"Row {alone + 1} is the only one with its {column}. A class needs two texts, one for training and one "
                "for testing. Remove the row, or merge the class with another."
            )
        return cls(column, tuple(map(str, names)), codes.astype(np.int64))

    @property
    def hash(self) -> str:
        """A hash of the names and of the class of every text."""
        return hashlib.sha256(repr(self.names).encode() + self.codes.tobytes()).hexdigest()

    def split(self, seed: int) -> Split:
        """A random split by seed: a tenth of every class, but at least one text, is the test set."""
        generator = SeededRandomness(seed).stream(0)
        test: list[Codes] = []
        for code in range(len(self.names)):
            members = generator.permutation(np.flatnonzero(self.codes == code))
            test.append(members[: max(1, round(TEST_SHARE * len(members)))])
        chosen = np.zeros(len(self.codes), dtype=bool)
        chosen[np.concatenate(test)] = True
        return Split(np.flatnonzero(~chosen), np.flatnonzero(chosen))

    def fold(self, seed: int) -> list[Split]:
        """The splits of a cross-validation: every text is a test text once, and every part has its share of a class."""
        generator = SeededRandomness(seed).stream(0)
        parts = np.empty(len(self.codes), dtype=np.int64)
        for code in range(len(self.names)):
            members = generator.permutation(np.flatnonzero(self.codes == code))
            parts[members] = np.arange(len(members)) % FOLDS
        return [Split(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in np.unique(parts)]


class Dataset:
    """Original texts, with the label of a task and an attribute to protect.

    All metrics skip rows whose original contains no word. The number of these rows is reported. A label or attribute
    that cannot be learned, because a class has a single member for example, stops only the metrics that need it.

    Args:
        texts: The originals; ``None`` for a missing one.
        label: The label of every text, which a task predicts.
        attribute: The attribute of every text that an attacker wants to infer, such as its author.
        folder: The folder of cached scores. No text is written to it. By default scores are cached in memory.
        sample: Read at most this number of rows, always the same ones. By default all rows are read.

    Raises:
        InputError: No original contains a word.
        ParameterError: The label or attribute has not one value per text.
    """

    def __init__(
        self,
        texts: Sequence[str | None],
        *,
        label: Sequence[str | None] | None = None,
        attribute: Sequence[str | None] | None = None,
        folder: Path | None = None,
        sample: int | None = None,
    ) -> None:
        _check_texts(texts, "original")
        self.rows = [row for row, text in enumerate(texts) if text is not None and has_word(text)]
        if not self.rows:
            raise InputError("No original contains a word. Check the column of the texts.")
        self.size = len(texts)
        self.left_out = self.size - len(self.rows)
        """The number of rows whose original contains no word."""
        self.sampled_from: int | None = None
        """The number of rows that a sample was drawn from; ``None`` if all were read."""
        if sample is not None and sample < len(self.rows):
            self.sampled_from = len(self.rows)
            order = SeededRandomness(SAMPLE_SEED).stream(0).permutation(len(self.rows))
            self.rows = [self.rows[position] for position in sorted(order[:sample].tolist())]
        self._folder = folder
        self.originals = Texts([texts[row] or "" for row in self.rows], folder)
        self.problems: dict[str, str] = {}
        """The reason why the label or the attribute cannot be learned, by column."""
        self.label = self._classes(label, "label")
        self.attribute = self._classes(attribute, "attribute")

    def _classes(self, values: Sequence[str | None] | None, column: str) -> Classes | None:
        if values is None:
            return None
        if len(values) != self.size:
            raise ParameterError(
                f"`{column}` must have {self.size:,} values, one per text. Got {len(values):,} instead."
            )
        try:
            return Classes.of(values, self.rows, column)
        except InputError as error:
            self.problems[column] = str(error)
            return None

    def pair(self, obfuscated: Sequence[str | None]) -> Texts:
        """The obfuscated texts of the originals. A missing one counts as empty.

        Raises:
            InputError: Their number differs from that of the originals.
        """
        if len(obfuscated) != self.size:
            raise InputError(
                f"There are {self.size:,} originals and {len(obfuscated):,} obfuscated texts. Give the same rows in "
                "the same order."
            )
        _check_texts(obfuscated, "obfuscated text")
        return Texts([obfuscated[row] or "" for row in self.rows], self._folder)


def _check_texts(texts: Sequence[object], what: str) -> None:
    if isinstance(texts, str | bytes):
        raise ParameterError("`texts` must be a list of strings. Got a single string instead.")
    for row, text in enumerate(texts, start=1):
        if text is not None and not isinstance(text, str):
            raise ParameterError(f"The {what} of row {row} must be a string. Got {type(text).__name__} instead.")

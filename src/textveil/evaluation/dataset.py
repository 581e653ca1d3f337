"""The originals of an evaluation, prepared once for many obfuscations of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from textveil.errors import InputError, ParameterError
from textveil.evaluation.texts import Texts
from textveil.language.words import WORD
from textveil.randomness import SeededRandomness

TEST_SHARE = 0.1
"""The part of every class that a classifier is tested on."""

Codes = npt.NDArray[np.int64]


class Split(NamedTuple):
    """The positions of texts to train on, and of those to test on."""

    train: Codes
    test: Codes


@dataclass(frozen=True)
class Classes:
    """The classes of texts: their names in order, and the number of its class for every text."""

    column: str
    names: tuple[str, ...]
    codes: Codes

    @classmethod
    def of(cls, values: Sequence[str | None], rows: Sequence[int], column: str) -> Classes:
        """The classes that the values of some rows make.

        Raises:
            InputError: A value is missing, there is one class only, or a class has a single member.
        """
        for row in rows:
            if values[row] is None:
                raise InputError(f"Row {row + 1} has no {column}. Fill it in, or remove the row from both files.")
        names, first, codes, counts = np.unique(
            [str(values[row]) for row in rows], return_index=True, return_inverse=True, return_counts=True
        )
        if len(names) < 2:
            raise InputError(f"All texts have the same {column}, so there is nothing to tell apart. Choose another.")
        if counts.min() < 2:
            alone = rows[int(first[counts.argmin()])]
            raise InputError(
                f"Row {alone + 1} is the only one with its {column}: a class needs two texts, to train on and to test "
                "on. Remove the row, or join the class with another."
            )
        return cls(column, tuple(map(str, names)), codes.astype(np.int64))

    @property
    def hash(self) -> str:
        """A hash of the names and of every text's class."""
        return hashlib.sha256(repr(self.names).encode() + self.codes.tobytes()).hexdigest()

    def split(self, seed: int) -> Split:
        """A tenth of every class to test on, one text at least, and the rest to train on; chosen by the seed."""
        generator = SeededRandomness(seed).stream(0)
        test: list[Codes] = []
        for code in range(len(self.names)):
            members = generator.permutation(np.flatnonzero(self.codes == code))
            test.append(members[: max(1, round(TEST_SHARE * len(members)))])
        chosen = np.zeros(len(self.codes), dtype=bool)
        chosen[np.concatenate(test)] = True
        return Split(np.flatnonzero(~chosen), np.flatnonzero(chosen))


class Dataset:
    """Original texts, with the label of a task and an attribute to protect.

    Rows whose original has no word in it are left out of every metric, and counted.

    Args:
        texts: The originals; ``None`` where one is missing.
        label: What a task has to find out of every text.
        attribute: What an attacker wants to find out of every text, such as its author.
        folder: Where numbers that were worked out are kept, so that nothing is worked out twice; no text is written.
            By default they are kept in memory.

    Raises:
        InputError: There is no text, or the classes of label or attribute cannot be told apart.
    """

    def __init__(
        self,
        texts: Sequence[str | None],
        *,
        label: Sequence[str | None] | None = None,
        attribute: Sequence[str | None] | None = None,
        folder: Path | None = None,
    ) -> None:
        _check_texts(texts, "original")
        self.rows = [row for row, text in enumerate(texts) if text is not None and WORD.search(text)]
        if not self.rows:
            raise InputError("There is no original text with a word in it. Check the column of the texts.")
        self.size = len(texts)
        self._folder = folder
        self.originals = Texts([texts[row] or "" for row in self.rows], folder)
        self.label = self._classes(label, "label")
        self.attribute = self._classes(attribute, "attribute")

    def _classes(self, values: Sequence[str | None] | None, column: str) -> Classes | None:
        if values is None:
            return None
        if len(values) != self.size:
            raise ParameterError(f"There are {self.size:,} texts, and {len(values):,} values of the {column}.")
        return Classes.of(values, self.rows, column)

    @property
    def left_out(self) -> int:
        """How many rows have no word in their original."""
        return self.size - len(self.rows)

    def pair(self, obfuscated: Sequence[str | None]) -> Texts:
        """The obfuscated texts that belong to the originals; a missing one is empty.

        Raises:
            InputError: There are more or fewer of them.
        """
        if len(obfuscated) != self.size:
            raise InputError(
                f"There are {self.size:,} originals and {len(obfuscated):,} obfuscated texts. They must be the same "
                "rows in the same order."
            )
        _check_texts(obfuscated, "obfuscated text")
        return Texts([obfuscated[row] or "" for row in self.rows], self._folder)


def _check_texts(texts: Sequence[object], what: str) -> None:
    if isinstance(texts, str | bytes):
        raise ParameterError("Several texts are expected. Got a single one instead.")
    for row, text in enumerate(texts, start=1):
        if text is not None and not isinstance(text, str):
            raise ParameterError(f"The {what} of row {row} must be a string. Got {type(text).__name__} instead.")

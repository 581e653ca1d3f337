"""The adapter for Hugging Face datasets: a callable for ``map``, and a function that obfuscates a data set."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, Unpack

from textveil.adapters.columns import BatchObfuscator, choose_kept
from textveil.certificate import Certificate
from textveil.errors import ParameterError
from textveil.extras import require
from textveil.obfuscator import Obfuscator
from textveil.settings import Arguments
from textveil.tables import OUTCOME_COLUMN, TEXT_COLUMN
from textveil.tables.base import name_choice
from textveil.tables.identifying import SAMPLE
from textveil.text.batches import BATCH_SIZE

__all__ = ["BatchObfuscator", "ObfuscatedDataset", "obfuscate_dataset"]

Rows = TypeVar("Rows")


class ObfuscatedDataset(Generic[Rows]):
    """A data set with obfuscated texts and a column of outcomes, and its certificate."""

    def __init__(self, dataset: Rows, batches: BatchObfuscator) -> None:
        self.dataset = dataset
        self._batches = batches

    @property
    def certificate(self) -> Certificate:
        """What is and is not protected. For a data set that streams, it covers the rows that were read so far."""
        return self._batches.certificate


def obfuscate_dataset(
    dataset: Rows,
    columns: str | Sequence[str] = TEXT_COLUMN,
    *,
    drop_columns: str | Sequence[str] = (),
    keep_columns: str | Sequence[str] | None = None,
    outcome_column: str | None = OUTCOME_COLUMN,
    batch_size: int = BATCH_SIZE,
    obfuscator: Obfuscator | None = None,
    **settings: Unpack[Arguments],
) -> ObfuscatedDataset[Rows]:
    """Obfuscate columns of a ``Dataset`` or ``IterableDataset``, or of a dictionary of them.

    Earlier results in the cache are never taken for new ones. A data set that streams is obfuscated while it is read,
    and again with new noise if it is read again.

    Args:
        dataset: The data set.
        columns: The column with the texts, or several columns; each text is a document with a budget of its own.
        drop_columns: Other columns that the result does not get.
        keep_columns: The only other columns that it gets, instead.
        outcome_column: The column for the outcomes; see :class:`BatchObfuscator`.
        batch_size: The number of rows to work on together.
        obfuscator: An obfuscator that is there already.
        settings: Any of :class:`~textveil.settings.Settings`: the budget and, without ``obfuscator``, all others. The
            ``length`` is only a text's ``own``.

    Warns:
        UserWarning: The cache on disk keeps the original texts.
    """
    datasets = require("datasets", extra="datasets")
    several = isinstance(dataset, datasets.DatasetDict | datasets.IterableDatasetDict)
    if not several and not isinstance(dataset, datasets.Dataset | datasets.IterableDataset):
        raise ParameterError(f"`dataset` must be a data set of Hugging Face. Got {type(dataset).__name__} instead.")
    batches = BatchObfuscator(columns, outcome_column=outcome_column, obfuscator=obfuscator, **settings)
    splits: Any = dataset if several else {"": dataset}
    drop, keep = name_choice(drop_columns, keep_columns, batches.columns)
    chosen = {name: _choose_columns(datasets, split, batches, drop, keep) for name, split in splits.items()}
    _warn_of_caches(datasets, list(splits.values()))
    done = {name: _map(datasets, split, batches, batch_size) for name, split in chosen.items()}
    return ObfuscatedDataset(type(dataset)(done) if several else done[""], batches)  # type: ignore[call-arg] # a dict


def _choose_columns(
    datasets: Any, dataset: Any, batches: BatchObfuscator, drop: Sequence[str], keep: Sequence[str] | None
) -> Any:
    """The data set without the columns that are not copied."""
    if dataset.column_names is not None:  # a data set that streams may not know them yet

        def sample(name: str) -> Sequence[Any] | None:
            if isinstance(dataset, datasets.IterableDataset):
                return None
            values: Sequence[Any] = dataset.with_format(None).select_columns([name])[:SAMPLE][name]
            return values

        present = dataset.column_names
        batches.check(choose_kept(batches.columns, present, "The data set", drop=drop, keep=keep, sample_of=sample))
    if drop:
        return dataset.remove_columns(list(drop))
    return dataset if keep is None else dataset.select_columns(list(dict.fromkeys((*batches.columns, *keep))))


def _map(datasets: Any, dataset: Any, batches: BatchObfuscator, batch_size: int) -> Any:
    """Apply the callable. Types are stated, so that a batch without a text does not change the type of its column."""
    features = dataset.features
    if features is not None:
        outcomes = dict.fromkeys(batches.outcome_columns, datasets.Value("string"))
        features = datasets.Features({**features, **outcomes})
    options = {"batched": True, "batch_size": batch_size, "features": features}
    if isinstance(dataset, datasets.IterableDataset):
        return dataset.map(batches, **options)
    return dataset.map(batches, **options, load_from_cache_file=False, new_fingerprint=secrets.token_hex(8))


def _warn_of_caches(datasets: Any, splits: Sequence[Any]) -> None:
    files = [file["filename"] for split in splits if isinstance(split, datasets.Dataset) for file in split.cache_files]
    folders = sorted({str(Path(file).parent) for file in files})
    if folders:
        warnings.warn(
            f"The cache keeps the original texts: {', '.join(folders)}. Delete it before you hand over this computer "
            "or the folder.",
            UserWarning,
            stacklevel=3,
        )

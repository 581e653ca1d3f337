"""The adapter for scikit-learn: a transformer that obfuscates texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from textveil.adapters.columns import ObfuscatedColumns, check_texts, choose_obfuscator, obfuscate_columns
from textveil.budget import Length, Level
from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.errors import ParameterError
from textveil.extras import require
from textveil.ledger import Ledger
from textveil.methods.decomposition import Decomposer
from textveil.methods.distribution import Distributor
from textveil.methods.mechanisms import Mechanism
from textveil.profiles import STRICT, Form, Stopwords
from textveil.redaction import Screen, Treatment
from textveil.settings import DISTRIBUTION, NAMES, split_budget

__all__ = ["EXPECTED_FAILED_CHECKS", "TextObfuscator"]

_base: Any = require("sklearn.base", extra="sklearn")
_validation: Any = require("sklearn.utils.validation", extra="sklearn")


class TextObfuscator(_base.OneToOneFeatureMixin, _base.TransformerMixin, _base.BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Obfuscates texts inside a pipeline. It learns nothing from them.

    It takes a sequence of texts, as vectorizers do, or a table whose columns are all texts. It returns an array of the
    same shape. A missing text (``None`` or NaN) stays missing, but most vectorizers refuse it.

    Its parameters are those of :class:`~textveil.settings.Settings`, which explains them. With a ``seed``, every
    ``fit`` starts the noise anew.

    >>> TextObfuscator(level="high").fit_transform(["it is", "of the"])
    array(['It is.', 'Of the.'], dtype=object)
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        epsilon_per_word: float | None = None,
        level: Level | None = None,
        length: Length | None = None,
        bundle: Bundle | str | Path = DEFAULT_BUNDLE,
        decomposition: str | Decomposer | None = None,
        decomposition_options: Mapping[str, Any] | None = None,
        distribution: str | Distributor = DISTRIBUTION,
        distribution_options: Mapping[str, Any] | None = None,
        mechanism: str | Mechanism | None = None,
        mechanism_options: Mapping[str, Any] | None = None,
        profile: str = STRICT.name,
        stopwords: Stopwords | None = None,
        form: Form | None = None,
        keep_emoji: bool = False,
        identifiers: Treatment | Screen | None = None,
        largest_share: float | None = None,
        draft_share: float | None = None,
        seed: int | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        given = locals()
        for name in NAMES:
            setattr(self, name, given[name])

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 # scikit-learn's name
        """Build the obfuscator, and check the shape of ``X``. Nothing else is learned."""
        self._validate(X, reset=True)
        self.obfuscator_, _ = choose_obfuscator(None, self.get_params(deep=False))
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803 # scikit-learn's name
        """The obfuscated texts, in an array of the shape of ``X``."""
        texts = self._validate(X, reset=False)
        done = self._obfuscate(texts)
        columns = [
            np.where(np.array(outcomes) == "missing", before, np.array(new, dtype=object))
            for before, new, outcomes in zip(_columns(texts), done.texts.values(), done.outcomes.values(), strict=True)
        ]
        return columns[0] if texts.ndim == 1 else np.stack(columns, axis=1)

    def obfuscate(self, X: Any) -> ObfuscatedColumns:  # noqa: N803 # scikit-learn's name
        """Obfuscate as :meth:`transform` does, and return texts and outcomes by column, with a certificate."""
        return self._obfuscate(self._validate(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns, which are those of the input. A plain sequence of texts has one, ``text``."""
        _validation.check_is_fitted(self)
        if not hasattr(self, "n_features_in_"):
            return np.array(["text"], dtype=object)
        return super().get_feature_names_out(input_features)

    def _obfuscate(self, texts: Any) -> ObfuscatedColumns:
        columns = dict(enumerate(_columns(texts)))
        _, budget = split_budget(self.get_params(deep=False))
        return obfuscate_columns(
            self.obfuscator_, columns, self.obfuscator_.build_budget(**budget), other_columns=False
        )

    def _validate(self, X: Any, *, reset: bool) -> Any:  # noqa: N803 # scikit-learn's name
        """The texts as an array of one or two dimensions.

        Raises:
            ParameterError: A single text was given, or something that is not a text.
        """
        if isinstance(X, str | bytes):
            raise ParameterError("`X` must be several texts. Put a single text into a list.")
        if not reset:
            _validation.check_is_fitted(self)
        table = X if hasattr(X, "ndim") else np.asarray(X, dtype=object)
        texts = _validation.validate_data(
            self, table, reset=reset, dtype=object, ensure_2d=table.ndim != 1, ensure_all_finite=False
        )
        if not reset and (texts.ndim == 1) == hasattr(self, "n_features_in_"):
            raise ParameterError("`X` must have the shape that it had in fit: a sequence of texts, or a table of them.")
        for number, column in enumerate(_columns(texts)):
            check_texts(number, column)
        return texts

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "obfuscator_" in state:  # models are not saved: they are built again
            state["obfuscator_"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "obfuscator_" in state:
            self.obfuscator_, _ = choose_obfuscator(None, self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.non_deterministic = self.seed is None
        tags.transformer_tags.preserves_dtype = []
        return tags


def _columns(texts: Any) -> list[Any]:
    return [texts] if texts.ndim == 1 else list(texts.T)


_CHECKS_WITH_NUMBERS = (
    "check_complex_data check_dict_unchanged check_dont_overwrite_parameters check_dtype_object "
    "check_estimators_dtypes check_estimators_fit_returns_self check_estimators_overwrite_params "
    "check_estimators_pickle check_f_contiguous_array_estimator check_fit2d_1feature check_fit2d_1sample "
    "check_fit2d_predict1d check_fit_check_is_fitted check_fit_idempotent check_fit_score_takes_y "
    "check_methods_sample_order_invariance check_methods_subset_invariance check_n_features_in "
    "check_n_features_in_after_fitting check_pipeline_consistency check_positive_only_tag_during_fit "
    "check_readonly_memmap_input check_transformer_data_not_an_array check_transformer_general"
)
EXPECTED_FAILED_CHECKS = dict.fromkeys(_CHECKS_WITH_NUMBERS.split(), "The check uses numbers, and it takes texts.")
"""The checks of scikit-learn that it fails, and why: ``check_estimator(..., expected_failed_checks=...)``."""

from __future__ import annotations

import inspect
import math
import pickle
import zlib

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from tests.adapters.conftest import TEXTS
from tests.conftest import ENTRIES
from textveil import Obfuscator
from textveil.adapters.sklearn import EXPECTED_FAILED_CHECKS, TextObfuscator
from textveil.errors import BudgetError, ParameterError
from textveil.settings import Settings

POSITION = "With a seed, the place of a text decides its noise."


class NumberObfuscator(TextObfuscator):
    """Reads numbers as words and writes words as numbers, so that the checks of scikit-learn can use it."""

    def _validate(self, X, *, reset):  # noqa: N803
        numbers = validate_data(self, X, reset=reset, ensure_all_finite="allow-nan")
        words = np.array(ENTRIES, dtype=object)[np.abs(np.nan_to_num(numbers) * 7).astype(int) % len(ENTRIES)]
        words[np.isnan(numbers)] = None
        return words

    def transform(self, X):  # noqa: N803
        return np.vectorize(lambda word: zlib.crc32(word.encode()) if word else math.nan, [float])(super().transform(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [TextObfuscator(seed=1)], expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS, xfail_strict=True
)
def test_the_checks_of_scikit_learn(estimator, check, settings):
    check(estimator.set_params(epsilon=20, **settings))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [NumberObfuscator(seed=1)],
    expected_failed_checks=lambda _: {
        "check_methods_sample_order_invariance": POSITION,
        "check_methods_subset_invariance": POSITION,
    },
    xfail_strict=True,
)
def test_the_checks_of_scikit_learn_with_numbers_for_words(estimator, check, settings):
    check(estimator.set_params(epsilon=20, **settings))


def test_it_takes_every_argument_of_an_obfuscator_with_the_same_default():
    own = inspect.signature(TextObfuscator).parameters
    known = inspect.signature(Settings).parameters
    assert {name: own[name].default for name in own} == {name: known[name].default for name in known}


def test_texts_become_those_of_an_obfuscator(settings):
    done = TextObfuscator(epsilon=20, seed=7, **settings).fit_transform(TEXTS)
    expected = [result.text for result in Obfuscator(**settings, seed=7).obfuscate_all(TEXTS, epsilon=20)]
    assert done.dtype == object
    assert done.tolist() == expected


def test_noise_goes_on_after_fit(settings):
    transformer = TextObfuscator(epsilon=1, seed=7, **settings).fit(TEXTS)
    first, second = transformer.transform(TEXTS), transformer.transform(TEXTS)
    assert first.tolist() != second.tolist()
    assert transformer.fit(TEXTS).transform(TEXTS).tolist() == first.tolist()


@pytest.mark.parametrize("kind", [list, np.array, pandas.Series, lambda texts: np.array(texts, dtype=object)])
def test_a_sequence_stays_one(kind, settings):
    assert TextObfuscator(epsilon=20, **settings).fit_transform(kind(TEXTS)).shape == (5,)


def test_a_table_stays_a_table_with_its_names(settings):
    frame = pandas.DataFrame({"title": TEXTS, "text": TEXTS}, index=list("abcde"))
    transformer = TextObfuscator(epsilon=20, **settings).set_output(transform="pandas").fit(frame)
    done = transformer.transform(frame)
    assert done.index.equals(frame.index)
    assert list(done.columns) == list(transformer.get_feature_names_out()) == ["title", "text"]
    with pytest.raises(ValueError, match="feature names"):
        transformer.transform(frame[["text", "title"]])


def test_a_sequence_has_one_name(settings):
    transformer = TextObfuscator(epsilon=20, **settings).set_output(transform="pandas").fit(TEXTS)
    assert list(transformer.transform(TEXTS).columns) == ["text"]
    with pytest.raises(NotFittedError):
        TextObfuscator().get_feature_names_out()


def test_missing_texts_stay_missing(settings):
    done = TextObfuscator(epsilon=20, **settings).fit_transform(np.array(["good", None, math.nan], dtype=object))
    assert done[1] is None
    assert math.isnan(done[2])


def test_outcomes_and_certificate(settings):
    transformer = TextObfuscator(epsilon=20, **settings).fit(TEXTS)
    done = transformer.obfuscate(TEXTS)
    assert done.outcomes[0][-2:] == ["only_stopwords", "no_words"]
    assert done.certificate.tally.documents.total() == 5
    with pytest.raises(NotFittedError):
        TextObfuscator(epsilon=20, **settings).obfuscate(TEXTS)


def test_a_clone_has_the_same_parameters(settings, tiny):
    transformer = TextObfuscator(epsilon=20, **settings).set_params(level=None, form="plain").fit(TEXTS)
    cloned = clone(transformer)
    assert cloned.get_params() == transformer.get_params()
    assert not hasattr(cloned, "obfuscator_")
    copied = clone(TextObfuscator(epsilon=20, bundle=tiny, decomposition="words"))
    assert copied.fit_transform(["of the"]).tolist() == ["Of the."]


def test_a_saved_transformer_has_no_models(settings):
    transformer = TextObfuscator(epsilon=20, **settings).fit(TEXTS)
    state = pickle.dumps(transformer)
    assert len(state) < 3000
    loaded = pickle.loads(state)  # noqa: S301 # our own
    assert loaded.transform(["of the"]).tolist() == ["of the"]


def test_pipelines_are_cross_validated_and_searched(settings):
    texts, labels = ["good music", "good story", "good film"] * 4 + ["bad plot", "bad actor", "bad scene"] * 4, [1] * 12
    labels += [0] * 12
    pipeline = make_pipeline(
        TextObfuscator(epsilon=1000, seed=1, largest_share=math.inf, **settings),
        TfidfVectorizer(),
        LogisticRegression(),
    )
    assert cross_val_score(pipeline, texts, labels, cv=3).mean() == 1  # nothing changes at this epsilon
    search = GridSearchCV(pipeline, {"textobfuscator__epsilon": [0.001, 1000]}, cv=3).fit(texts, labels)
    assert search.best_params_ == {"textobfuscator__epsilon": 1000}


def test_columns_of_a_table_are_chosen_by_a_column_transformer(settings):
    frame = pandas.DataFrame({"text": TEXTS, "stars": range(5)})
    obfuscated = TextObfuscator(epsilon=20, **settings)
    chosen = ColumnTransformer([("obfuscated", obfuscated, ["text"])], remainder="passthrough")
    done = chosen.set_output(transform="pandas").fit_transform(frame)
    assert list(done.columns) == ["obfuscated__text", "remainder__stars"]


def test_mistakes_are_named(settings):
    transformer = TextObfuscator(epsilon=20, **settings)
    with pytest.raises(ParameterError, match="Put a single text into a list"):
        transformer.fit("good plot")
    with pytest.raises(ParameterError, match="Row 2 of the column 0 must be a string, or missing. Got int instead"):
        transformer.fit(["good", 5])
    with pytest.raises(ParameterError, match="must have the shape that it had in fit"):
        transformer.fit(TEXTS).transform([["good"]])
    with pytest.raises(ParameterError, match="must have the shape that it had in fit"):
        transformer.fit([["good"]]).transform(TEXTS)
    with pytest.raises(BudgetError, match="must be positive"):
        TextObfuscator(epsilon=-1, **settings).fit(TEXTS)

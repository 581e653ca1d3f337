import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from tests.metrics.conftest import make_rows
from textveil.errors import InputError
from textveil.lab.metrics.classifiers import linear as module
from textveil.lab.metrics.classifiers.linear import Features, Linear
from textveil.lab.metrics.dataset import Classes, Texts
from textveil.text.words import WORD

TEXTS, _, AUTHORS = make_rows(50)
HARD = [f"{text[:9]} {number % 7} naïve CAFÉ_1 don't" for number, text in enumerate(TEXTS)]
CLASSES = Classes.of(AUTHORS, range(50), "author")


def fit_plainly(train, codes):
    """The same model in plain scikit-learn, fitted on the training texts."""
    words = TfidfVectorizer(token_pattern=WORD.pattern, ngram_range=module.WORDS, min_df=2, sublinear_tf=True)
    characters = TfidfVectorizer(
        analyzer="char_wb", ngram_range=module.CHARACTERS, lowercase=False, min_df=2, sublinear_tf=True
    )
    model = LogisticRegression(C=10.0, solver="newton-cg", class_weight="balanced")
    model.fit(sparse.hstack([words.fit_transform(train), characters.fit_transform(train)]), codes)
    return lambda texts: model.predict_proba(sparse.hstack([words.transform(texts), characters.transform(texts)]))


@pytest.mark.parametrize("texts", [TEXTS, HARD])
def test_it_equals_plain_scikit_learn_on_the_training_texts(texts):
    split = CLASSES.split(42)
    plain = fit_plainly([texts[row] for row in split.train], CLASSES.codes[split.train])
    fitted = Linear().fit(Texts(texts), split.train, CLASSES, seed=42)
    for other in (texts, [f"{text} unseen" for text in reversed(TEXTS)]):
        assert fitted.weigh_classes(Texts(other), split.test) == pytest.approx(
            plain([other[row] for row in split.test]), abs=1e-3
        )


def test_features_of_a_single_training_text_are_not_used():
    texts = ["same same"] * 10
    texts[0], texts[1] = "same once", "same twice"
    features = Features(Texts(texts))
    weighting = module.Weighting.of(features.count(Texts(texts)), np.arange(2, 10))
    assert weighting.weigh(features.count(Texts(texts)), np.arange(10)).shape[1] == 2 + 4  # same, same same; " sa" ...


def test_features_are_counted_once(monkeypatch):
    counted = []
    count = Features._count
    monkeypatch.setattr(
        Features, "_count", lambda self, texts, **how: counted.append(texts.hash) or count(self, texts, **how)
    )
    classifier, home, other = Linear(), Texts(TEXTS), Texts(TEXTS[::-1])
    for seed in (42, 43, 44):
        split = CLASSES.split(seed)
        fitted = classifier.fit(home, split.train, CLASSES, seed=seed)
        fitted.predict(home, split.test)
        fitted.predict(other, split.test)
    assert counted == [home.hash, other.hash]


def test_texts_without_trigrams_are_classified_by_words():
    texts = Texts([("a b", "c d")[number % 2] for number in range(50)])  # no three characters in a row
    split = CLASSES.split(1)
    fitted = Linear().fit(texts, split.train, CLASSES, seed=1)
    assert fitted.predict(texts, split.test).tolist() == CLASSES.codes[split.test].tolist()


@pytest.mark.parametrize("texts", [[""] * 50, [f"a{number}" for number in range(50)]])
def test_nothing_to_learn_from(texts, monkeypatch):
    monkeypatch.setattr(module, "CHARACTERS", (9, 9))
    with pytest.raises(InputError, match="learn"):
        Linear().fit(Texts(texts), np.arange(40), CLASSES, seed=1)

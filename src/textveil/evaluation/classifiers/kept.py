"""Classifiers that were trained on originals, in the folder of cached scores, so that they are trained once."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from textveil.errors import InputError
from textveil.evaluation.base import identify
from textveil.evaluation.classifiers.base import Classifier, Fitted
from textveil.evaluation.dataset import Classes, Codes
from textveil.evaluation.texts import Texts
from textveil.progress import Progress, ignore_progress
from textveil.storage.atomic import make_folder, writing
from textveil.storage.score_cache import hash_text

SUFFIX = ".safetensors"


def find_or_fit(
    classifier: Classifier,
    texts: Texts,
    rows: Codes,
    classes: Classes,
    *,
    seed: int,
    progress: Progress = ignore_progress,
) -> Fitted:
    """The classifier that was trained on these texts before, or a new one, which is stored if it is worth a file.

    Nothing is stored for texts without a folder of cached scores. Only the user may read the files. Their names are
    keyed hashes of texts, classes and seed, and a hash of their content, which is checked.

    Raises:
        InputError: A stored classifier is damaged.
    """
    if texts.folder is None or not classifier.kept:
        return classifier.fit(texts, rows, classes, seed=seed, progress=progress)
    folder = texts.folder / _name_folder(classifier)
    key = hash_text(texts.hash, classes.hash, hashlib.sha256(rows.tobytes()).hexdigest(), str(seed))
    name = texts.sign(key).hex()[:16]
    for path in sorted(folder.glob(f"{name}-*{SUFFIX}")):
        return _restore(classifier, path, classes)
    fitted = classifier.fit(texts, rows, classes, seed=seed, progress=progress)
    content = fitted.pack()
    make_folder(folder, private=True)
    with writing(folder / f"{name}-{_hash(content)}{SUFFIX}", private=True) as stream:
        stream.write(content)
    return fitted


def _name_folder(classifier: Classifier) -> str:
    """The name of the folder of classifiers with the same options, model and versions."""
    identity = identify("classifier", classifier.software, classifier=classifier.as_dict())
    return f"classifier-{hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]}"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _restore(classifier: Classifier, path: Path, classes: Classes) -> Fitted:
    damaged = InputError(f"{str(path)!r} is damaged or cannot be read. Remove it: the classifier is trained again.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise damaged from error
    if path.name.removesuffix(SUFFIX).rpartition("-")[2] != _hash(content):
        raise damaged
    return classifier.unpack(content, classes)

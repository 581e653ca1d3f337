"""From a corpus to a bundle: reading, counting n-grams, scoring them, splitting, training."""

MIN_COUNT = 275
"""N-grams that occur less often are left out. The value is the paper's, for ten billion words."""
MEMORY = 2 << 30
"""The number of bytes of memory that counting may use."""
MIN_PMI = 2.0
"""The paper's lowest PMI: words that occur together up to four times as often as by chance are left out."""
TOP_SHARE = 0.05
"""The paper's share of all n-grams that the LLR and t-score lexicons keep, those with the highest scores."""
SPLIT = "train"
"""The split of a data set that is read by default."""

__all__: list[str] = []
"""Nothing here is for users: it may change without notice."""

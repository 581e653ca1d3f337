"""Make the results that examples and tests use: invented, with a few effects that an analysis must find.

    python scripts/make_example_results.py > examples/results.csv

They have two data sets, three levels, three decompositions, three distributions and two profiles. Under the profile
paper, pos and yake release words in clear, which makes their texts more useful. Under strict no words are released, and
pmi is slightly better than the others.
"""

from __future__ import annotations

import csv
import sys
from itertools import product

from textveil.randomness import SeededRandomness

DATASETS = {"letters": (40, 0.92, 0.80), "reviews": (60, 0.85, 0.90)}
"""The average length, and the F1 of classifier and attacker on the originals."""
LEVELS = {"high": (0.1, 0.30), "medium": (1.0, 0.45), "low": (5.0, 0.75)}
"""The epsilon per word, and the share of a text's meaning that is left."""
CLEAR = {"words": 0.01, "pmi": 0.03, "pos": 0.25, "uniform": 0.0, "ic": 0.04, "yake": 0.2}
"""The share of words that a method releases in clear under the profile paper."""
WORDS = 10_000
CHANCE, ERROR = 0.5, 0.02
"""The F1 of an attacker that learned nothing, and half the width of every 95 % interval."""


def main() -> None:
    """Write the results to standard output."""
    noise = SeededRandomness(8).stream(0)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    header = "dataset,level,epsilon,decomposition,distribution,profile,utility_f1,cosine_similarity,perplexity,"
    header += "pi_remaining,static_f1,adaptive_f1,relative_gain,words_perturbed,words_drawn,words_kept_stopword,"
    header += "words_kept_unknown,words_kept_no_share,downstream_original,downstream_chance,attribute_baseline,"
    header += "attribute_chance,attribute_chance_low,attribute_chance_high"
    bounds = [f"{name}_{bound}" for name in ("utility_f1", "static_f1", "adaptive_f1") for bound in ("low", "high")]
    writer.writerow([*header.split(","), *bounds])
    for dataset, level, profile in product(DATASETS, LEVELS, ("strict", "paper")):
        length, downstream, adversary = DATASETS[dataset]
        per_word, meaning = LEVELS[level]
        for decomposition, distribution in product(("words", "pmi", "pos"), ("uniform", "ic", "yake")):
            unknown, unshared = CLEAR[decomposition] * WORDS / 2, CLEAR[distribution] * WORDS / 2
            clear = (unknown + unshared) / (WORDS / 2)
            seen = clear if profile == "paper" else 0.0
            better = 0.02 if decomposition == "pmi" else 0.0
            left = meaning + (1 - meaning) * (0.6 * seen + better)
            utility = downstream * (0.55 + 0.45 * left) + 0.006 * noise.standard_normal()
            similarity = 0.15 + 0.85 * left + 0.006 * noise.standard_normal()
            identifiers = 0.02 + 0.15 * seen + 0.1 * meaning
            static = adversary * (0.45 + 0.25 * left) + 0.006 * noise.standard_normal()
            adaptive = adversary * (0.55 + 0.25 * left) + 0.006 * noise.standard_normal()
            gain = (utility + similarity) / (downstream + 1) - (identifiers + static + adaptive) / (1 + 2 * adversary)
            kept = [unknown, unshared] if profile == "paper" else [0, 0]
            drawn = 0 if profile == "paper" else unknown
            counts = [WORDS / 2 - sum(kept) - drawn, drawn, WORDS / 2, *kept]
            metrics = [f"{value:.4f}" for value in (utility, similarity)] + [f"{2200 - 2000 * left:.0f}"]
            metrics += [f"{value:.4f}" for value in (identifiers, static, adaptive, gain)]
            cell = [dataset, level, f"{per_word * length:g}", decomposition, distribution, profile]
            references = [downstream, 0.5, adversary, CHANCE, CHANCE - 0.03, CHANCE + 0.03]
            spread = [value + side for value in (utility, static, adaptive) for side in (-ERROR, ERROR)]
            shown = [f"{value:.4f}" for value in (*references, *spread)]
            writer.writerow([*cell, *metrics, *map(round, counts), *shown])


if __name__ == "__main__":
    main()

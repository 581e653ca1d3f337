"""Membership inference: whether a model trained on obfuscated texts reveals whose originals it was trained on."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.errors import ParameterError
from textveil.lab.metrics.base import Case, Measurement, Need, Reading, identify
from textveil.lab.metrics.classification import PER_SEED, Classification
from textveil.lab.metrics.classifiers import Classifier
from textveil.lab.metrics.dataset import Classes, Texts
from textveil.lab.metrics.uncertainty import (
    AUC_BY_CHANCE,
    bootstrap,
    describe_few,
    find_auc,
    find_auc_by_chance,
    find_aucs,
)
from textveil.randomness import SeededRandomness
from textveil.registry import Option
from textveil.storage.score_cache import hash_text


class Membership(Classification):
    """The AUC of an attacker who tells the training texts of a model from other texts, by the model's confidence.

    For each seed, half of every class are members. A classifier learns the label from the obfuscated texts of members.
    The attacker has an original with its label, and asks the classifier. The more probable it finds the label, the more
    likely the text is a member. The AUC is the probability that the attacker ranks a member above another text: 0.5 is
    chance. ``baseline`` is the AUC if the classifier learns from the originals of members.
    """

    name = "membership"
    target = Need.LABEL
    needs: ClassVar[tuple[Need, ...]] = (Need.LABEL,)
    compares_with_linear = False

    options = (
        Option(
            "split",
            str,
            PER_SEED,
            "Members are drawn anew for each seed, so a fixed split is refused.",
            choices=(PER_SEED,),
        ),
    )

    @classmethod
    def check_classifier(cls, classifier: Classifier | type[Classifier]) -> None:
        """Refuse a classifier that gives no probabilities, before anything is trained."""
        if not classifier.gives_probabilities:
            raise ParameterError(
                f"The classifier {classifier.name!r} gives no probabilities. Set `classifier` of membership to linear."
            )

    def measure(self, case: Case) -> Measurement:
        """Train a classifier on the members of every seed, and attack it."""
        classes = case.classes(self.target)
        members = [choose_members(classes, seed) for seed in self.seeds]
        scores = {"auc": self.ask(case, case.obfuscated), "baseline": self.ask(case, case.originals)}
        by_seed = {
            name: [find_auc(*pair) for pair in zip(found, members, strict=True)] for name, found in scores.items()
        }
        attack, baseline = (
            Reading(
                float(np.mean(by_seed[name])),
                bootstrap(_average, *(column for pair in zip(found, members, strict=True) for column in pair)),
            )
            for name, found in scores.items()
        )
        chance = find_auc_by_chance(members[0], len(members))
        level = Reading(AUC_BY_CHANCE, chance)
        line = (
            "An attacker who asks a model trained on obfuscated texts tells the originals of these texts from others "
            f"with AUC {attack.show('.3f', first=True)}; by chance {level.show('.3f')}; without obfuscation "
            f"{baseline.show('.3f')}."
        )
        caveats = describe_few(len(classes.codes))
        if (baseline.value if baseline.interval is None else baseline.interval.low) <= chance.high:
            caveats.append(
                f"The attack fails without obfuscation, too: AUC {baseline.show('.3f')} is near chance, "
                f"{level.show('.3f')}."
            )
        return self.report(
            line,
            {"auc": attack, "baseline": baseline, "chance": level},
            caveats=caveats,
            seeds=dict(zip(map(str, self.seeds), by_seed["auc"], strict=True)),
            texts=len(classes.codes),
        )

    def ask(self, case: Case, trained: Texts) -> list[Floats]:
        """The probability of the right label for every original, by seed. Cached numbers are not computed again."""
        classes = case.classes(self.target)
        cached = trained.cached(identify("membership", self.versions, classifier=self.classifier.as_dict()))
        keys = [hash_text(trained.hash, case.originals.hash, classes.hash, str(seed)) for seed in self.seeds]
        stage = f"membership, {'baseline' if trained is case.originals else 'obfuscated'}"
        for number in cached.find_missing(keys):
            case.progress(stage, number, number / len(self.seeds))
            seed = self.seeds[number]
            rows = np.flatnonzero(choose_members(classes, seed))
            fitted: Any = self.classifier.fit(trained, rows, classes, seed=seed, progress=case.progress)
            everyone = np.arange(len(classes.codes))
            weighed = fitted.weigh_classes(case.originals, everyone)
            cached.add({keys[number]: weighed[everyone, classes.codes]})
        return [cached[key] for key in keys]


def choose_members(classes: Classes, seed: int) -> Floats:
    """1 for every member and 0 for every other text: a random half of every class, by seed."""
    generator = SeededRandomness(seed).stream(0)
    members = np.zeros(len(classes.codes))
    for code in range(len(classes.names)):
        rows = generator.permutation(np.flatnonzero(classes.codes == code))
        members[rows[: len(rows) // 2]] = 1
    return members


def _average(*columns: Floats) -> Floats:
    """The mean AUC of several seeds, whose scores and members alternate."""
    aucs: Floats = np.mean(
        [find_aucs(scores, members) for scores, members in zip(columns[::2], columns[1::2], strict=True)], axis=0
    )
    return aucs

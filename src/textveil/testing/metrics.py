"""The contract of metrics."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

from textveil.certificate import Certificate, Tally
from textveil.lab.metrics import METRICS, Case, Dataset, Measurement, Metric, Need
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.testing.checks import Check, bind, check_name, check_options, check_record, expect, name_checks

AUTHORS = {
    "anna": "the soup, the waiter, the table; a lovely evening indeed",
    "ben": "whoever drives this engine knows: gears & pistons & oil",
}
MOODS = {"good": "wonderful brilliant charming", "bad": "dreadful boring awful"}
PLACES = ("in London", "with Maria Smith", "at Microsoft", "on 3 May 2019", "")
TELLING = ("waiter", "pistons", "maria", "london")
"""Words of the texts that no measurement may quote."""


def make_rows(size: int = 60) -> tuple[list[str], list[str], list[str]]:
    """Texts with their sentiments and authors, which words predict."""
    generator = SeededRandomness(5).stream(0)
    texts, labels, authors = [], [], []
    for number in range(size):
        author, mood = ("anna", "ben")[number % 2], ("good", "bad")[(number // 2) % 2]
        words = generator.permutation(AUTHORS[author].split()).tolist()[:6]
        words += generator.permutation(MOODS[mood].split()).tolist()[:2]
        texts.append(f"{' '.join(words)} {PLACES[number % len(PLACES)]} {number}".strip())
        labels.append(mood)
        authors.append(author)
    return texts, labels, authors


@cache
def build_case() -> Case:
    """Sixty short texts and an obfuscation of them, with everything that a metric can need."""
    texts, labels, authors = make_rows()
    dataset = Dataset(texts, label=labels, attribute=authors)
    results = list(Obfuscator(mechanism="madlib", seed=1).obfuscate_all(texts, epsilon=120))
    first, tally = results[0].certificate, Tally.over(result.certificate.tally for result in results)
    certificate = Certificate(first.terms, first.budget, tally)
    return Case(dataset, dataset.pair([result.text for result in results]), certificate, results)


def check_its_place_among_metrics(metric: Metric) -> None:
    """It is computed after metrics that exist, and its needs are known ones."""
    expect(all(name in METRICS for name in metric.after), metric, "it comes `after` a metric that there is not")
    expect(
        all(isinstance(need, Need) for need in metric.needs), metric, "its `needs` are not textveil.lab.metrics.Need"
    )


def check_its_identity_has_everything(metric: Metric) -> None:
    """The key of cached values has its record and its software."""
    expect(metric.identity["method"] == metric.as_dict(), metric, "its identity lacks its record")
    versions = metric.identity["versions"]
    named = isinstance(versions, dict) and set(versions) == {"textveil", *metric.software}
    expect(named, metric, "its identity lacks its software")


def check_a_measurement_is_complete(metric: Metric, case: Case) -> None:
    """A measurement has finite values, intervals in order, and a sentence; JSON can hold it."""
    found = _measure(metric, case)
    named = (found.metric, found.description) == (metric.name, metric.description)
    expect(named, metric, "a measurement has another name or description")
    expect(found.values or found.caveats, metric, "a measurement without values does not say why (`caveats`)")
    expect(set(found.intervals) <= set(found.values), metric, "an interval has no value")
    expect(all(low <= high for low, high in found.intervals.values()), metric, "an interval has its ends swapped")
    plain = all(type(value) is float and math.isfinite(value) for value in found.values.values())
    expect(plain, metric, "a value is not a finite float")
    begins = found.line[:1].isupper() or found.line[:1].isdigit() or found.line[:1] in ("+", "-")
    expect(begins and found.line.endswith("."), metric, "its `line` is not a sentence")
    again = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    expect(again["values"] == dict(found.values), metric, "JSON cannot hold a measurement")


def check_a_measurement_is_the_same_twice(metric: Metric, case: Case) -> None:
    """The same case has the same measurement."""
    first, second = (_measure(metric, case).as_dict() for _ in range(2))
    expect(first == second, metric, "the same texts have another measurement")


def check_no_text_is_quoted(metric: Metric, case: Case) -> None:
    """A measurement has no word of the texts."""
    found = json.dumps(_measure(metric, case).as_dict()).lower()
    expect(not any(word in found for word in TELLING), metric, "a measurement quotes a text")


def check_a_missing_requirement_is_named(metric: Metric, case: Case) -> None:
    """Without what it needs, the case says what is missing."""
    bare = replace(case, certificate=None, obfuscations=None)
    if Need.CERTIFICATE in metric.needs or Need.CHUNKS in metric.needs:
        wanted = "(`certificate`)." if Need.CERTIFICATE in metric.needs else "(`obfuscations`)."
        expect((bare.lacks(metric) or "").endswith(wanted), metric, "a missing requirement is not named")
    expect((case.lacks(metric) is None) == (not metric.after), metric, "a complete case lacks something")


def _measure(metric: Metric, case: Case) -> Measurement:
    """The measurement, after those that it is computed from."""
    measured = {name: METRICS.load(name)().measure(case) for name in metric.after}
    return metric.measure(replace(case, measured=measured))


def list_metric_checks(method: type[Metric], case: Case | None = None, **options: Any) -> list[Check]:
    """All checks of a metric.

    Args:
        method: The class.
        case: What to measure; by default sixty short texts and an obfuscation of them.
        options: Options to build it with.
    """
    chosen = build_case() if case is None else case
    metric = method(**options)
    own = {name: METRICS.load(name) for name in METRICS}
    return name_checks(
        method.name,
        [
            bind(check_its_place_among_metrics, metric),
            bind(check_its_identity_has_everything, metric),
            bind(check_a_measurement_is_complete, metric, chosen),
            bind(check_a_measurement_is_the_same_twice, metric, chosen),
            bind(check_no_text_is_quoted, metric, chosen),
            bind(check_a_missing_requirement_is_named, metric, chosen),
            bind(check_record, metric),
            bind(check_options, metric, lambda **given: method(**{**options, **given})),
            bind(check_name, metric, METRICS.list_plugins(), own),
        ],
    )

"""Every value of a metric is declared once, and everything else is derived from the declaration."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import textveil
from textveil.lab.metrics import METRIC_COLUMNS, METRICS
from textveil.lab.metrics.columns import COUNTS, RESPONSES, name_column


def test_every_metric_has_a_column():
    assert set(METRICS) <= {column.metric for column in METRIC_COLUMNS.values()}


def test_columns_and_values_are_declared_once():
    values = [(column.metric, column.value) for column in METRIC_COLUMNS.values()]
    assert len(set(values)) == len(values)
    assert not COUNTS & set(values)
    assert [name_column(*value) for value in values] == list(METRIC_COLUMNS)


def test_a_reference_belongs_to_responses_in_the_same_unit():
    for column in METRIC_COLUMNS.values():
        for name in column.reference_of:
            assert name in RESPONSES
            assert METRIC_COLUMNS[name].percent == column.percent
            assert METRIC_COLUMNS[name].better == column.better


@pytest.mark.parametrize("name", ["utility_f1", "static_f1", "adaptive_f1"])
def test_classifiers_have_three_references(name):
    found = [column.short for column in METRIC_COLUMNS.values() if name in column.reference_of]
    assert found == ["originals", "chance", "majority"]


def test_all_attackers_that_invert_are_compared_with_word_frequencies():
    attackers = ("inversion_top_1", "inversion_decoded", "inversion_repeated")
    assert METRIC_COLUMNS["inversion_prior_top_1"].reference_of == attackers


def test_values_that_users_look_for_can_be_responses():
    assert {"inversion_top_1", "clear_text_released", "perplexity_median", "relative_gain"} <= set(RESPONSES)
    assert "attribute_chance" not in RESPONSES


def test_decimals_follow_from_the_unit():
    assert METRIC_COLUMNS["pi_remaining"].show(0.0076) == "0.76%"
    assert METRIC_COLUMNS["relative_gain"].show(0.2361) == "0.236"
    assert METRIC_COLUMNS["inversion_top_1"].show(0.5) == "50.0%"


def test_declarations_need_no_heavy_package():
    code = "import sys, textveil.lab.metrics.columns; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "sklearn", "scipy", "pandas", "transformers"} & set(loaded)


@pytest.mark.parametrize("name", ["Standing", "Reference", "name_column", "ATTACKERS", "CHANCE"])
def test_a_name_means_one_thing(name):
    """Each of these had two meanings."""
    rooms = [Path(textveil.__file__).parent / room for room in ("evaluation", "analysis")]
    defined = re.compile(rf"^(?:class |def )?{name}\b *(?:[(:=]|: .*=)", flags=re.MULTILINE)
    found = [path for room in rooms for path in room.rglob("*.py") if defined.search(path.read_text(encoding="utf-8"))]
    assert len(found) <= 1


def test_a_class_name_means_one_thing():
    rooms = [Path(textveil.__file__).parent / room for room in ("evaluation", "analysis")]
    names = [
        name
        for room in rooms
        for path in room.rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ]
    assert {name for name in names if names.count(name) > 1 and not name.startswith("_")} == set()

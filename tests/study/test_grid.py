"""Cells: pure data with a stable id."""

from __future__ import annotations

from dataclasses import asdict, replace

from textveil.lab.study.datasets import DatasetInfo
from textveil.lab.study.grid import Cell, Environment, expand
from textveil.lab.study.study import Study

CELL = Cell(
    "reviews",
    "high",
    "words",
    "uniform",
    "madlib",
    "strict",
    "keep",
    epsilon=5.2,
    epsilon_per_word=0.1,
    length="own",
    largest_share=None,
    seed=42,
    texts="a" * 64,
    bundle="b" * 64,
    methods=("words", "uniform"),
)
OTHER = {"epsilon": 5.3, "epsilon_per_word": 0.2, "length": "average", "largest_share": 9.0, "seed": 43}
OTHER |= {"draw": 2, "draft_share": 0.2, "form": "plain"}


def test_an_id_is_stable():
    assert CELL.id == "3c725f1fff2ceeb1"


def test_an_id_depends_on_exactly_what_determines_the_texts():
    assert replace(CELL, level="strong").id == CELL.id
    for name, value in asdict(CELL).items():
        if name != "level":
            changed = OTHER[name] if name in OTHER else (value[0] + "x", *value[1:])
            assert replace(CELL, **{name: changed}).id != CELL.id, name


def test_no_two_cells_share_their_noise():
    assert CELL.noise_seed != replace(CELL, profile="paper").noise_seed
    assert CELL.noise_seed != replace(CELL, seed=43).noise_seed
    assert replace(CELL, level="strong").noise_seed == CELL.noise_seed
    assert replace(CELL, seed=None).noise_seed is None
    assert len({replace(CELL, draw=draw).noise_seed for draw in (1, 2, 3)}) == 3


def test_draws_without_a_seed_are_cells_of_their_own():
    assert len({replace(CELL, seed=None, draw=draw).id for draw in (1, 2, 3)}) == 3


def test_the_first_draw_of_all_combinations_comes_first(make_study):
    experiment = make_study(draws=3)
    with experiment.store.locked():
        cells = expand(experiment.study, experiment.read_datasets(), experiment.runner.environment)
    assert len(cells) == experiment.study.size == 24
    assert [cell.draw for cell in cells] == [1] * 8 + [2] * 8 + [3] * 8
    assert [replace(cell, draw=1) for cell in cells[8:16]] == cells[:8]
    assert str(cells[8]) == f"{cells[0]} / draw 2"


def test_only_profiles_with_a_draft_have_its_share(make_study):
    experiment = make_study(profiles=["strict", "proven"], draft_share=0.3)
    with experiment.store.locked():
        cells = expand(experiment.study, experiment.read_datasets(), experiment.runner.environment)
    assert {(cell.profile, cell.draft_share) for cell in cells} == {("strict", None), ("proven", 0.3)}


def test_a_calibrated_level_has_an_epsilon_for_every_decomposition_and_mechanism(values):
    levels = {"low": {"words": {"madlib": 7.0}}}
    study = Study.model_validate({**values, "levels": {"high": 1, "low": {"unchanged": 0.2}}})
    environment = Environment("", {"words": "w"}, {"uniform": "u", "yake": "y"}, {}, levels)
    info = DatasetInfo("reviews", "", "", {}, 2, "", 3.0, None, None, {})
    cells = expand(study, {"reviews": info}, environment)
    assert {(cell.level, cell.epsilon_per_word, cell.epsilon) for cell in cells} == {
        ("high", 1.0, 3.0),
        ("low", 7.0, 21.0),
    }


def test_a_grid_has_every_combination_once(make_study):
    experiment = make_study(levels={"high": 0.1, "medium": 1, "low": 5})
    with experiment.store.locked():
        datasets = experiment.read_datasets()
    cells = expand(experiment.study, datasets, experiment.runner.environment)
    assert len(cells) == experiment.study.size == 12
    assert len({cell.id for cell in cells}) == 12
    average = datasets["reviews"].average_length
    assert [cell.epsilon for cell in cells[::4]] == [0.1 * average, 1 * average, 5 * average]
    assert str(cells[0]) == "reviews / high / words / uniform / madlib / strict"


def test_a_budget_per_word_has_the_length_of_the_profile(make_study):
    def lengths(**values):
        experiment = make_study(profiles=["strict", "paper"], **values)
        with experiment.store.locked():
            cells = expand(experiment.study, experiment.read_datasets(), experiment.runner.environment)
        return {(cell.profile, cell.length, cell.largest_share) for cell in cells}

    assert lengths() == {("strict", "own", None), ("paper", "average", None)}
    assert lengths(length="average", largest_share=9.0) == {("strict", "average", 9.0), ("paper", "average", 9.0)}


def test_a_data_set_that_was_not_read_has_no_cells(values):
    assert expand(Study.model_validate(values), {}, Environment("", {}, {}, {})) == []


def test_a_mechanism_is_described_only_if_it_has_options():
    plain = Environment("", {"pos": "p"}, {"uniform": "u"}, {})
    assert plain.describe("pos", "uniform", "madlib") == ("p", "u")
    with_options = Environment("", {"pos": "p"}, {"uniform": "u"}, {"madlib": "m"})
    assert with_options.describe("pos", "uniform", "madlib") == ("p", "u", "m")

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.conftest import make_records, repeat
from textveil.errors import ColumnError, InputError
from textveil.lab.report.results import find_group, read_cells


def build(records, *, drop=False):
    frame, left_out = read_cells(records, source="the file", drop_incomplete=drop)
    return frame.astype(object).where(frame.notna(), None).to_dict("records"), left_out


def change(records, **values):
    """The same rows with other values in the fourth of them."""
    return [{**record, **values} if place == 3 else record for place, record in enumerate(records)]


def test_values_are_numbers_and_names_are_canonical(records):
    rows = [{**record, "relative_gain": str(record["relative_gain"])} for record in records]
    rows = [{**row, "distribution": row["distribution"].upper().replace("UNIFORM", "Baseline")} for row in rows]
    cells, left_out = build(rows)
    assert cells == build(records)[0]
    assert not left_out
    assert {cell["distribution"] for cell in cells} == {"uniform", "yake"}


def test_an_alias_stands_for_its_column(records):
    renamed = [
        {{"dataset": "Data Set", "level": "privacy_level"}.get(name, name): value for name, value in record.items()}
        for record in records
    ]
    assert build(renamed) == build(records)


def test_one_column_under_two_names_is_refused(records):
    with pytest.raises(ColumnError, match="two columns for 'level'"):
        build([{**record, "privacy_level": "high"} for record in records])


@pytest.mark.parametrize("column", ["dataset", "decomposition", "distribution"])
def test_a_missing_column_is_named(records, column):
    with pytest.raises(ColumnError, match=f"no column '{column}'. It has: "):
        build([{name: value for name, value in record.items() if name != column} for record in records])


def test_a_level_and_a_metric_are_needed(records):
    with pytest.raises(ColumnError, match="neither a column 'level' nor a column 'epsilon'"):
        build([{name: value for name, value in record.items() if name != "level"} for record in records])
    with pytest.raises(ColumnError, match="no column with a metric. Expected one of: utility_f1"):
        build([{name: value for name, value in record.items() if name != "relative_gain"} for record in records])
    with pytest.raises(InputError, match="no rows"):
        build([])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"relative_gain": "much"}, "row 4: the column 'relative_gain' does not hold a finite number"),
        ({"relative_gain": math.nan}, "row 4: the column 'relative_gain' does not hold a finite number"),
        ({"relative_gain": "-inf"}, "row 4: the column 'relative_gain' does not hold a finite number"),
        ({"relative_gain": [1]}, "row 4: the column 'relative_gain' does not hold a finite number"),
        ({"distribution": " "}, "row 4: the column 'distribution' is empty"),
        ({"dataset": None}, "row 4: the column 'dataset' is empty"),
        ({"distribution": "uniform"}, "pos / uniform is repeated: numbers 3 and 4"),
        ({"distribution": "yaek"}, "lacks 8 of 24 cells"),
        ({"level": "lower"}, "lacks 4 of 20 cells: a / high / pos / yake; a / lower / words / uniform"),
    ],
)
def test_bad_rows_are_named(records, values, message):
    with pytest.raises(InputError, match=message):
        build(change(records, **values))


def test_a_metric_may_be_missing_and_a_budget_may_not(records):
    cells, _ = build(change(records, relative_gain=" "))
    assert [number for number, cell in enumerate(cells) if cell["relative_gain"] is None] == [3]
    budgets = [{**record, "epsilon": 1 if record["level"] == "high" else 2} for record in records]
    with pytest.raises(InputError, match="row 4: the column 'epsilon' is empty"):
        build(change(budgets, epsilon=""))


def test_counts_of_words_are_not_negative(records):
    rows = [{**record, "words_drawn": 1} for record in records]
    assert build(rows)[0][0]["words_drawn"] == 1
    with pytest.raises(InputError, match="row 4: the column 'words_drawn' is negative"):
        build(change(rows, words_drawn=-1))


def test_a_metric_that_no_cell_has_is_left_out_and_a_standard_deviation_may_be_missing(records):
    rows = [{**record, "perplexity": "", "relative_gain_std": ""} for record in records]
    assert "perplexity" not in build(rows)[0][0]
    cells, _ = build(change(rows, relative_gain_std=0.5))
    assert [cell["relative_gain_std"] for cell in cells[2:5]] == [None, 0.5, None]


def test_missing_cells_are_listed_or_their_groups_left_out(records):
    lacking = [record for place, record in enumerate(records) if place != 5]
    with pytest.raises(InputError, match=r"lacks 1 of 16 cells: a / low / words / yake\. Run them"):
        build(lacking)
    cells, left_out = build(lacking, drop=True)
    assert len(cells) == 12
    assert [str(group) for group in left_out] == ["a, level low"]
    assert not any(cell["dataset"] == "a" and cell["level"] == "low" for cell in cells)
    with pytest.raises(InputError, match="every data set and level lacks cells"):
        build(
            records[:3] + records[4:7] + records[8:11] + records[12:15] + [{**records[0], "distribution": "ic"}],
            drop=True,
        )


def test_only_some_of_many_missing_cells_are_named(records):
    with pytest.raises(InputError, match=r"lacks 4 of 24 cells: .*; and 1 more\."):
        build(
            [
                *records,
                *({**record, "decomposition": "pmi"} for record in records[:8] if record["decomposition"] == "words"),
            ]
        )


def test_a_row_per_metric_is_the_same_as_a_row_per_cell(records):
    wide = [{**record, "perplexity": 10.0 * place, "perplexity_std": 1.5} for place, record in enumerate(records)]
    keys = ("dataset", "level", "decomposition", "distribution")
    long = [
        {**{key: record[key] for key in keys}, "metric": metric, "value": record[metric], "std": std, "seconds": 3}
        for metric, std in (("relative_gain", None), ("Perplexity", 1.5))
        for record in wide
        for metric in [metric.lower()]
    ]
    assert build(long) == build(wide)
    with pytest.raises(InputError, match="row 33: the row repeats 'relative_gain' of an earlier row"):
        build([*long, long[0]])
    assert build(long[:-1])[0][15]["perplexity"] is None
    with pytest.raises(InputError, match="row 33: the row has no metric"):
        build([*long, {**long[0], "metric": ""}])


scores = st.floats(0.02, 0.99)


@given(st.lists(scores, min_size=16, max_size=16), scores, st.floats(0.0, 1.0))
def test_percent_and_fractions_are_the_same(values, static, identifiers):
    records = make_records(lambda *_: 0.5)
    fractions = [
        {**record, "utility_f1": value, "static_f1": static, "pi_remaining": identifiers, "utility_f1_std": 0.01}
        for record, value in zip(records, values, strict=True)
    ]
    columns = ("utility_f1", "static_f1", "pi_remaining", "utility_f1_std")
    percent = [{**row, **{name: 100 * row[name] for name in columns}} for row in fractions]
    for one, other in zip(build(fractions)[0], build(percent)[0], strict=True):
        assert {name: pytest.approx(one[name]) for name in columns} == {name: other[name] for name in columns}
        assert one["relative_gain"] == other["relative_gain"] == 0.5


def test_one_unit_holds_for_all(records):
    mixed = [{**record, "utility_f1": 80, "static_f1": 0.4} for record in records]
    with pytest.raises(InputError, match="row 1: .*'utility_f1' seems to be in percent, but 'static_f1' a fraction"):
        build(mixed)
    beside = change([{**record, "utility_f1": 0.8, "pi_remaining": 0.9} for record in records], pi_remaining=14.5)
    with pytest.raises(InputError, match="row 4: .*'pi_remaining' seems to be in percent, but 'utility_f1' a fraction"):
        build(beside)
    small = [{**record, "utility_f1": 80, "pi_remaining": 0.9} for record in records]
    assert build(small)[0][0]["pi_remaining"] == pytest.approx(0.009)
    alone = [{**record, "pi_remaining": 5.0} for record in records]
    assert build(alone)[0][0]["pi_remaining"] == 0.05


@pytest.mark.parametrize(
    ("column", "value"), [("utility_f1", -5), ("pi_remaining", 145.9), ("static_f1", -0.1), ("utility_f1_std", -1)]
)
def test_a_share_is_a_fraction_or_a_percentage(records, column, value):
    shares = dict.fromkeys(("utility_f1", "utility_f1_std", "static_f1", "pi_remaining"), 50)
    rows = [{**record, **shares} for record in records]
    with pytest.raises(InputError, match=f"row 4: the column '{column}' holds neither .* Fix this row"):
        build(change(rows, **{column: value}))


def test_levels_come_from_the_rank_of_epsilon():
    budgets = {"a": (5, 0.1, 1), "b": (50, 2, 10)}
    records = make_records(lambda *place: sum(place), levels=(0, 1, 2))
    for record in records:
        record["epsilon"] = budgets[record["dataset"]][record.pop("level")]
    found = {(cell["dataset"], cell["epsilon"]): cell["level"] for cell in build(records)[0]}
    assert found == {
        ("a", 0.1): "high", ("a", 1): "medium", ("a", 5): "low", ("b", 2): "high", ("b", 10): "medium", ("b", 50): "low"
    }  # fmt: skip
    two = [record for record in records if record["epsilon"] not in (1, 10)]
    assert {cell["level"] for cell in build(two)[0]} == {"1", "2"}


def test_a_level_has_one_epsilon(records):
    rows = [{**record, "epsilon": 5} for record in records]
    with pytest.raises(InputError, match="a, level high, has more than one epsilon"):
        build(change(rows, epsilon=6))


def test_results_without_draws_have_one(records):
    assert {cell["draw"] for cell in build(records)[0]} == {1}
    assert {cell["draw"] for cell in build([{**record, "draw": ""} for record in records])[0]} == {1}


@pytest.mark.parametrize("draw", [0, 1.5, "first", "nan"])
def test_a_draw_is_a_whole_number(records, draw):
    with pytest.raises(InputError, match="the file, row 2: the column 'draw'"):
        build([{**record, "draw": draw if place == 1 else 1} for place, record in enumerate(records)])


def test_a_cell_may_be_repeated_with_another_draw(records):
    cells, _ = build(repeat(records, draws=2))
    assert sorted(cell["draw"] for cell in cells) == [1] * 16 + [2] * 16
    with pytest.raises(
        InputError, match=r"pos / uniform / draw 2 is repeated.*number repeated runs in a column 'draw'"
    ):
        build([*repeat(records, draws=2), {**records[2], "draw": 2}])


def test_a_row_per_metric_has_its_draw(records):
    rows = repeat(records, draws=2)
    long = [{**row, "metric": "relative_gain", "value": row["relative_gain"]} for row in rows]
    for row in long:
        del row["relative_gain"]
    assert build(long) == build(rows)


def test_draws_that_lack_a_combination_are_listed_or_excluded(records):
    lacking = repeat(records, draws=2)[:-1]
    with pytest.raises(InputError, match="lacks 1 of 32 cells: b / low / pos / yake / draw 2"):
        build(lacking)
    cells, left_out = build(lacking, drop=True)
    assert [str(group) for group in left_out] == ["b, level low, draw 2"]
    assert len(cells) == 28
    fewer = [row for row in repeat(records, draws=2) if (row["draw"], row["dataset"]) != (2, "b")]
    assert len(build(fewer)[0]) == 24  # data sets may differ in their number of draws


def calibrate(records, target="unchanged 0.2"):
    """Budgets that depend on the decomposition."""
    epsilons = {"words": 3.0, "pos": 5.0}
    return [{**record, "epsilon": epsilons[record["decomposition"]], "level_target": target} for record in records]


def test_the_epsilon_of_a_calibrated_level_may_depend_on_methods(records):
    low = [record for record in records if record["level"] == "low"]
    high = [{**record, "epsilon": 2} for record in records if record["level"] == "high"]
    cells, _ = build([*high, *calibrate(low)])
    assert list(dict.fromkeys(str(find_group(cell)) for cell in cells)) == [
        "a, level high, epsilon 2",
        "b, level high, epsilon 2",
        "a, level low, unchanged 0.2",
        "b, level low, unchanged 0.2",
    ]
    assert {(cell["level"], cell["epsilon"]) for cell in cells} == {("high", 2.0), ("low", 4.0)}
    with pytest.raises(InputError, match="a, level high, has more than one epsilon"):
        build(calibrate(records, target=""))
    mixed = [*calibrate(low[:2]), *calibrate(low[2:], "bound 20")]
    with pytest.raises(InputError, match="a, level low, has more than one value of 'level_target'"):
        build(mixed)

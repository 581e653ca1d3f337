import csv
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.conftest import PUBLISHED, make_records, repeat
from textveil.errors import ParameterError, UnknownNameError
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.results import Results, check_comparable, read_results

GAIN = METRIC_COLUMNS["relative_gain"]


def test_results_are_sorted_with_methods_in_their_usual_order():
    results = Results.from_records(
        make_records(
            lambda *place: sum(place),
            levels=("low", "high", "medium"),
            decompositions=("wordnet", "own", "words"),
            distributions=("yake", "uniform"),
        )
    )
    assert results.values("level") == ["high", "medium", "low"]
    assert results.values("decomposition") == ["words", "wordnet", "own"]
    assert results.values("distribution") == ["uniform", "yake"]
    assert results.values("profile") == []
    first = results.frame.iloc[0]
    assert (first["level"], first["decomposition"], first["distribution"]) == ("high", "words", "uniform")
    assert first["relative_gain"] == 1 + 2 + 1
    assert results.varying == ("decomposition", "distribution")


def test_parts_that_are_missing_are_not_averaged_away(records):
    rows = [{**row, "utility_f1": 0.9, "cosine_similarity": 0.5 if row["dataset"] == "a" else ""} for row in records]
    frame = Results.from_records(rows).frame
    assert frame.loc[frame["dataset"] == "a", "utility"].tolist() == pytest.approx([0.7] * 8)
    assert frame.loc[frame["dataset"] == "b", "utility"].isna().all()


def test_a_metric_that_one_cell_lacks_is_not_used_in_its_data_set_and_level(records):
    rows = [{**row, "perplexity": 5.0 if place else None, "perplexity_low": 4.0} for place, row in enumerate(records)]
    results = Results.from_records(rows)
    assert results.frame["perplexity"].isna().tolist() == [True] * 4 + [False] * 12
    assert results.frame["perplexity_low"].isna().tolist() == [True] * 4 + [False] * 12
    assert [str(group) for group in results.list_lacking(METRIC_COLUMNS["perplexity"])] == ["a, level high"]
    assert "perplexity" in [metric.name for metric in results.metrics]


def test_words_that_were_not_counted_are_unknown_rather_than_none(records):
    counts = {f"words_{name}": 4 for name in ("perturbed", "drawn", "kept_stopword", "kept_unknown", "kept_no_share")}
    rows = [{**row, **(counts if row["dataset"] == "a" else {})} for row in records]
    results = Results.from_records([{**dict.fromkeys(counts), **row} for row in rows])
    assert results.frame["clear_share"].dropna().tolist() == pytest.approx([0.5] * 8)
    assert not results.counts_words
    assert results.without(results.list_lacking(results.choose_metric("clear_share"))).counts_words


@settings(max_examples=30)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(random):
    records = make_records(lambda *place: sum(place) + place[0] * place[3])
    shuffled = random.sample(records, len(records))
    one, other = Results.from_records(records), Results.from_records(shuffled)
    for column in ("level", "decomposition", "distribution", "relative_gain"):
        # Data sets have no usual order, so that only they come as the rows do.
        names = ["dataset", "level", "decomposition", "distribution"]
        assert list(one.frame.astype({"dataset": str}).sort_values(names)[column]) == list(
            other.frame.astype({"dataset": str}).sort_values(names)[column]
        )


def test_levels_with_names_of_their_own_are_ordered_by_budget():
    budgets = {"loose": 50, "tight": 1, "middle": 7}
    records = make_records(lambda *place: sum(place), levels=tuple(budgets))
    results = Results.from_records([{**record, "epsilon": budgets[record["level"]]} for record in records])
    assert results.values("level") == ["tight", "middle", "loose"]
    assert str(results.groups[0]) == "a, level tight, epsilon 1"


@pytest.mark.parametrize(
    ("budgets", "order"),
    [
        ({"a": {"high": 50, "medium": 7, "low": 1}, "b": {"high": 80, "medium": 9, "low": 2}}, "low medium high"),
        ({"a": {"high": 50, "medium": 100}, "b": {"medium": 1, "low": 5}}, "high medium low"),
        ({"a": {"high": 5, "low": 5}, "b": {"medium": 1, "high": 5}}, "medium low high"),
        ({"a": {"high": 5, "low": 6}, "b": {"high": 2, "low": 1}}, "low high"),
    ],
    ids=["against their names", "over data sets", "some are equal", "data sets disagree"],
)
def test_levels_follow_their_epsilon_rather_than_their_names(budgets, order):
    records = [
        {**record, "epsilon": epsilon}
        for dataset, levels in budgets.items()
        for level, epsilon in levels.items()
        for record in make_records(lambda *place: sum(place), datasets=(dataset,), levels=(level,))
    ]
    assert Results.from_records(records).values("level") == order.split()


def test_the_share_of_words_in_clear_leaves_stopwords_aside(records):
    counts = {"perturbed": 50, "drawn": 10, "kept_stopword": 1000, "kept_unknown": 30, "kept_no_share": 10}
    rows = [{**record, **{f"words_{name}": count for name, count in counts.items()}} for record in records]
    results = Results.from_records(rows)
    assert results.counts_words
    assert set(results.frame["clear_share"]) == {0.4}
    nothing = [{**row, **dict.fromkeys([f"words_{name}" for name in counts], 0)} for row in rows]
    assert set(Results.from_records(nothing).frame["clear_share"]) == {0.0}
    partly = [{name: value for name, value in row.items() if name != "words_drawn"} for row in rows]
    assert not Results.from_records(partly).counts_words


def test_settings_are_split_by_mechanism_and_profile():
    records = make_records(lambda *place: sum(place), profile=("paper", "strict"), mechanism=("madlib", "own"))
    results = Results.from_records(records)
    assert results.varying == ("decomposition", "distribution", "mechanism", "profile")
    parts = results.split()
    assert list(parts) == [
        "mechanism madlib, profile strict",
        "mechanism madlib, profile paper",
        "mechanism own, profile strict",
        "mechanism own, profile paper",
    ]
    part = parts["mechanism own, profile paper"]
    assert len(part.frame) == 16
    assert part.values("mechanism") == ["own"]
    assert part.varying == ("decomposition", "distribution")
    assert list(part.split()) == [""]


@pytest.mark.parametrize(
    ("axes", "combination", "settings"),
    [
        ({}, ("decomposition", "distribution"), [""]),
        ({"distributions": ("uniform",)}, ("decomposition", "distribution"), [""]),
        ({"distributions": ("uniform",), "mechanism": ("madlib", "own")}, ("decomposition", "mechanism"), [""]),
        (
            {"decompositions": ("words",), "distributions": ("uniform",), "mechanism": ("madlib", "own")},
            ("decomposition", "mechanism"),
            [""],
        ),
        (
            {"distributions": ("uniform",), "mechanism": ("madlib", "own"), "profile": ("strict", "paper")},
            ("decomposition", "mechanism"),
            ["profile strict", "profile paper"],
        ),
    ],
)
def test_the_first_two_axes_that_vary_are_combined_and_the_others_are_settings(axes, combination, settings):
    results = Results.from_records(make_records(lambda *place: sum(place), **axes))
    assert results.combination == combination
    assert list(results.split()) == settings


def test_a_metric_is_chosen_by_its_name(records):
    results = Results.from_records(records)
    assert results.choose_metric("Relative Gain") is GAIN
    with pytest.raises(UnknownNameError, match="do not have 'perplexity'. Set `response` to one of: relative_gain"):
        results.choose_metric("perplexity")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decompositions": ("pos",), "distributions": ("ic",)}, "Every factor has only one value"),
        ({"datasets": ("a",), "levels": ("high",)}, r"One data set at one level \(a, level high\)"),
    ],
)
def test_results_that_cannot_be_compared_are_refused(options, message):
    results = Results.from_records(make_records(lambda *place: sum(place), **options))
    with pytest.raises(ParameterError, match=message):
        check_comparable(results, GAIN)


@pytest.mark.parametrize("gain", [lambda *_: 0.5, lambda *place: 0.1 + 0.3 * place[1] + 1e-16 * place[2]])
def test_a_response_that_is_constant_within_data_sets_and_levels_is_refused(gain):
    message = "The values of relative gain are the same for all combinations in every data set and level"
    with pytest.raises(ParameterError, match=message):
        check_comparable(Results.from_records(make_records(gain)), GAIN)


def test_data_sets_and_levels_must_overlap(records):
    apart = [record for record in records if (record["dataset"], record["level"]) in {("a", "high"), ("b", "low")}]
    with pytest.raises(ParameterError, match="do not overlap"):
        check_comparable(Results.from_records(apart), GAIN)
    three = [record for record in records if (record["dataset"], record["level"]) != ("a", "high")]
    check_comparable(Results.from_records(three), GAIN)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "csv.gz"])
def test_every_format_of_tables_is_read(records, tmp_path, ending):
    path = tmp_path / f"results.{ending}"
    if ending == "jsonl":
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    elif ending == "parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), path)
    else:
        import gzip

        with (gzip.open if ending.endswith("gz") else open)(path, "wt", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, records[0])
            writer.writeheader()
            writer.writerows(records)
    assert read_results(path).frame.equals(Results.from_records(records).frame)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the paper's results are not at hand")
def test_the_papers_own_file_is_read():
    results = read_results(PUBLISHED)
    assert len(results.frame) == 180
    assert [str(group) for group in results.groups][:2] == [
        "trustpilot, level high, epsilon 5.2",
        "trustpilot, level medium, epsilon 52",
    ]
    assert results.frame["utility_f1"].max() < 1
    assert results.frame["pi_remaining"].iloc[0] == pytest.approx(0.0076)
    assert len(results.metrics) == 7


def test_the_frame_has_means_over_draws(records):
    rows = repeat([{**record, "relative_gain_caveats": ""} for record in records], noise=0.0)
    for place, row in enumerate(rows):
        row["relative_gain"] += (-0.03, 0.01, 0.02)[place // 16]
        row["relative_gain_caveats"] = "Few rows." if place == 40 else None
    results, once = Results.from_records(rows), Results.from_records(records)
    assert (len(results.rows), len(results.frame), results.draws, once.draws) == (48, 16, 3, 1)
    assert list(results.frame["relative_gain"]) == pytest.approx(list(once.frame["relative_gain"]))
    for name in ("dataset", "level", "decomposition", "distribution"):
        assert list(results.frame[name]) == list(once.frame[name])
    assert list(results.frame["draws"]) == [3] * 16
    assert list(results.list_caveats(GAIN).values()) == [("Few rows.",)]
    assert len(results.without([results.groups[0]]).frame) == 12


def test_a_metric_that_one_draw_lacks_is_not_used_in_its_data_set_and_level(records):
    rows = [{**row, "perplexity": 5.0} for row in repeat(records)]
    rows[17]["perplexity"] = None
    results = Results.from_records(rows)
    assert [str(each) for each in results.missing] == ["a, level high (1 of 12 cells)"]
    assert results.frame["perplexity"].isna().sum() == 4

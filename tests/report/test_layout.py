from tests.report.conftest import repeat
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.anova import compare_factors
from textveil.lab.report.results import Results
from textveil.lab.report.tables import ANOVA_HEAD, AVERAGE, lay_out_anova, lay_out_results, show_interval


def rows_of(table):
    return [row for rows in table.blocks.values() for row in rows]


GAIN = METRIC_COLUMNS["relative_gain"]


def test_the_papers_table_of_a_group(records):
    rows = [
        {**record, "perplexity": 10 * place, "perplexity_std": "" if place else 2}
        for place, record in enumerate(records)
    ]
    results = Results.from_records(rows)
    table = lay_out_results(results, results.groups[0], GAIN)
    found = rows_of(table)
    assert [(name, row.metric.name) for name, rows in table.blocks.items() for row in rows] == [
        (name, metric) for name in ("words", "pos", AVERAGE) for metric in ("perplexity", "relative_gain")
    ]
    words, _, pos, gain, *_ = found
    assert [entry.text for entry in words.entries] == ["0", "10"]
    assert [entry.best for entry in words.entries] == [True, False]  # less is better
    assert [entry.best_of_row for entry in pos.entries] == [True, False]
    assert not any(entry.best for entry in pos.entries)
    assert [(entry.best, entry.best_of_row) for entry in gain.entries] == [(False, False), (True, True)]
    assert words.average == "5"
    assert [entry.text for entry in found[-2].entries] == ["10", "20"]
    assert found[-2].average == "15"


def test_where_all_are_the_same_none_is_best(records):
    results = Results.from_records([{**record, "perplexity": 5} for record in records])
    row = rows_of(lay_out_results(results, results.groups[1], GAIN))[0]
    assert row.metric == METRIC_COLUMNS["perplexity"]
    assert not any(entry.best or entry.best_of_row for entry in row.entries)


def test_words_in_clear_are_a_row_of_their_own(example):
    paper = example.settings[1].results
    laid_out = lay_out_results(paper, paper.groups[0], example.response)
    rows = [row for row in rows_of(laid_out) if row.metric.name == "clear_share"]
    assert [entry.text for entry in rows[0].entries] == ["1.0", "5.0", "21.0"]


def test_originals_and_chance_are_columns_of_every_table(example):
    for setting in example.settings:
        for group in setting.results.groups:
            laid_out = lay_out_results(setting.results, group, example.response)
            assert laid_out.titles == ["originals", "chance"]
            found = {row.metric.name: row.references for row in rows_of(laid_out)}
            assert found["static_f1"] == ["80.0" if group.dataset == "letters" else "90.0", "50.0"]
            assert found["utility_f1"] == ["92.0" if group.dataset == "letters" else "85.0", "50.0"]
            assert found["cosine_similarity"] == ["1.000", ""]
            assert found["perplexity"] == ["", ""]


def test_results_without_references_have_no_such_columns(records):
    results = Results.from_records([{**record, "perplexity": 5} for record in records])
    laid_out = lay_out_results(results, results.groups[0], METRIC_COLUMNS["perplexity"])
    assert [row.references for row in rows_of(laid_out) if row.metric.name == "perplexity"] == [[""]] * 3
    assert laid_out.titles == ["originals"]  # of relative gain: it is 0 by definition


def test_intervals_are_shown_with_their_values(example):
    laid_out = lay_out_results(example.settings[0].results, example.results.groups[0], example.response)
    entry = next(row for row in rows_of(laid_out) if row.metric.name == "static_f1").entries[0]
    assert (entry.text, entry.interval) == ("42.5", "40.5\N{EN DASH}44.5")
    assert show_interval(GAIN, -0.12, 0.03) == "-0.120 to 0.030"
    assert show_interval(GAIN, float("nan"), 0.03) == show_interval(GAIN, None, None) == ""


def test_the_response_is_shown_even_if_it_is_a_detail(records):
    results = Results.from_records([{**record, "clear_text_released": 0.5, "perplexity": 5} for record in records])
    shown = [rows_of(lay_out_results(results, results.groups[0], metric)) for metric in (GAIN, results.responses[1])]
    names = [{row.metric.name for row in rows} for rows in shown]
    assert names == [{"perplexity", "relative_gain"}, {"perplexity", "relative_gain", "clear_text_released"}]


def test_the_rows_of_an_analysis_of_variance(example):
    rows = lay_out_anova(example.settings[1].anova)
    assert [row[0] for row in rows][-2:] == ["decomposition x distribution", "residual"]
    assert rows[0] == ["decomposition", "27.52", "2.31e-08", "0.567", "2", "0.0054"]
    assert rows[-1] == ["residual", "", "", "", "42", "0.0041"]
    assert {len(row) for row in rows} == {len(ANOVA_HEAD)}


def test_values_of_several_draws_have_a_margin(records):
    rows = repeat(records, noise=0.0)
    for place, row in enumerate(rows):
        row["relative_gain"] += (-0.005, 0.0, 0.005)[place // 16]
    results = Results.from_records(rows)
    table = lay_out_results(results, results.groups[3], GAIN)
    assert [entry.margin for row in rows_of(table) for entry in row.entries] == ["0.012"] * 4 + [
        ""
    ] * 2  # 4.3 x 0.005 / 3^0.5
    once = lay_out_results(Results.from_records(records), results.groups[3], GAIN)
    assert not any(entry.margin for row in rows_of(once) for entry in row.entries)


def test_noise_is_below_the_residual(records):
    rows = lay_out_anova(compare_factors(Results.from_records(repeat(records)), GAIN))
    assert [row[0] for row in rows[-2:]] == ["residual", "noise within cells"]
    assert rows[-1][ANOVA_HEAD.index("df")] == "32"

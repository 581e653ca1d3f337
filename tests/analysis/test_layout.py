from textveil.analysis import Results
from textveil.analysis.layout import ANOVA_HEAD, AVERAGE, lay_out_anova, lay_out_results
from textveil.evaluation import METRIC_COLUMNS


def test_the_papers_table_of_a_group(records):
    rows = [
        {**record, "perplexity": 10 * place, "perplexity_std": "" if place else 2}
        for place, record in enumerate(records)
    ]
    results = Results.from_records(rows)
    found = lay_out_results(results, results.groups[0])
    assert [(row.decomposition, row.metric.name) for row in found] == [
        (name, metric) for name in ("words", "pos", AVERAGE) for metric in ("perplexity", "relative_gain")
    ]
    words, _, pos, gain, *_ = found
    assert [entry.text for entry in words.entries] == ["0", "10"]
    assert [entry.std for entry in words.entries] == ["2", ""]
    assert [entry.best for entry in words.entries] == [True, False]  # less is better
    assert [entry.best_of_row for entry in pos.entries] == [True, False]
    assert not any(entry.best for entry in pos.entries)
    assert [(entry.best, entry.best_of_row) for entry in gain.entries] == [(False, False), (True, True)]
    assert words.average == "5"
    assert [entry.text for entry in found[-2].entries] == ["10", "20"]
    assert found[-2].average == "15"


def test_where_all_are_the_same_none_is_best(records):
    results = Results.from_records([{**record, "perplexity": 5} for record in records])
    row = lay_out_results(results, results.groups[1])[0]
    assert row.metric == METRIC_COLUMNS["perplexity"]
    assert not any(entry.best or entry.best_of_row for entry in row.entries)


def test_words_in_clear_are_a_row_of_their_own(example):
    paper = example.settings[1].results
    rows = [row for row in lay_out_results(paper, paper.groups[0]) if row.metric.name == "clear_share"]
    assert [entry.text for entry in rows[0].entries] == ["1.0", "5.0", "21.0"]


def test_the_rows_of_an_analysis_of_variance(example):
    rows = lay_out_anova(example.settings[1].anova)
    assert [row[0] for row in rows][-2:] == ["decomposition x distribution", "residual"]
    assert rows[0] == ["decomposition", "0.0054", "2", "27.52", "2.31e-08", "0.567"]
    assert rows[-1] == ["residual", "0.0041", "42", "", "", ""]
    assert {len(row) for row in rows} == {len(ANOVA_HEAD)}

import io
import re
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from tests.report.conftest import make_records
from textveil.lab.report.figures import (
    COLORS,
    INK,
    MARKERS,
    draw_all,
    draw_combinations,
    draw_heat_map,
    draw_levels,
    inline_svg,
    render_png,
    render_svg,
)
from textveil.lab.report.findings import analyze
from textveil.lab.report.results import Results


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)  # noqa: S314
    return ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("}text")]


def test_every_setting_has_its_figures(figures):
    assert list(figures) == [
        "heat_map",
        "levels_decomposition",
        "levels_distribution",
        "levels_profile",
        "combinations_profile_strict",
        "levels_decomposition_profile_strict",
        "levels_distribution_profile_strict",
        "combinations_profile_paper",
        "levels_decomposition_profile_paper",
        "levels_distribution_profile_paper",
        "words_in_clear",
    ]


def test_the_heat_map_shows_every_mean(example):
    found = texts(render_svg(draw_heat_map(example)))
    means = example.as_dict()["settings"][1]["combinations"]
    assert f"{means['pos + yake']['relative_gain']:.3f}" == "0.289"
    for row in means.values():
        assert f"{row['relative_gain']:.3f}" in found
    assert {"words", "pmi", "pos", "uniform", "ic", "yake"} <= set(found)
    assert any("profile strict" in text for text in found)


def test_darker_is_better_whichever_way_the_response_goes(example):
    findings = analyze(example.results, response="perplexity")
    (axes, *_) = draw_heat_map(findings).axes[1:]
    drawn = axes.collections[0].get_array().reshape(3, 3)
    means = np.array([row["perplexity"] for row in findings.as_dict()["settings"][1]["combinations"].values()]).reshape(
        3, 3
    )
    assert np.argmax(drawn) == np.argmin(means)


def test_levels_are_drawn_in_their_order_and_unit(example):
    results = example.settings[1].results
    axes = draw_levels(results, "distribution", example.response).axes[0]
    line = next(line for line in axes.lines if line.get_label() == "yake")
    expected = (
        results.frame[results.frame["distribution"] == "yake"].groupby("level", observed=True)["utility_f1"].mean()
    )
    assert [label.get_text() for label in axes.get_xticklabels()] == ["high", "medium", "low"]
    assert list(line.get_ydata()) == pytest.approx(list(100 * expected))
    assert len({line.get_color() for line in axes.lines[:3]}) == 3


def test_originals_and_chance_are_lines_in_every_figure(drawings, example):
    for name, drawing in drawings.items():
        found = texts(drawing)
        assert any("originals" in text for text in found), name
        if name.startswith(("levels", "combinations")):
            assert "chance" in found, name
    axes = draw_levels(example.settings[0].results, "decomposition", example.response).axes
    panel = next(panel for panel in axes if panel.get_title(loc="left").startswith("static"))
    lines = {line.get_label(): line.get_ydata()[0] for line in panel.lines}
    assert lines["originals"] == pytest.approx(85)  # the mean of both data sets
    assert lines["chance"] == pytest.approx(50)


def test_intervals_are_whiskers(example):
    axes = draw_levels(example.settings[0].results, "decomposition", example.response).axes
    panel = next(panel for panel in axes if panel.get_title(loc="left").startswith("static"))
    spans = [segment[:, 1] for lines in panel.collections for segment in lines.get_segments()]
    assert len(spans) == 9
    assert [high - low for low, high in spans] == pytest.approx([4.0] * 9)
    assert not next(panel for panel in axes if panel.get_title(loc="left").startswith("perplexity")).collections


def test_results_without_references_and_intervals_are_drawn(records):
    findings = analyze(Results.from_records([{**row, "static_f1": 0.5 + row["relative_gain"] / 9} for row in records]))
    figures = draw_all(findings)
    found = texts(render_svg(figures["levels_decomposition"]))
    assert "chance" not in found
    assert "originals" not in texts(render_svg(figures["combinations"]))
    assert "static attacker F1 % \N{DOWNWARDS ARROW}" in found


def test_the_scale_includes_originals_and_chance(example):
    figure = draw_combinations(example.settings[0], example.response)
    lines = {line.get_label(): list(line.get_ydata()) for line in figure.axes[0].lines}
    places = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert lines["originals"][places.index("F1")] == pytest.approx(1.0)
    assert lines["originals"][places.index("static")] == pytest.approx(0.0)
    known = [place for place, value in zip(places, lines["chance"], strict=True) if not np.isnan(value)]
    assert known == ["F1", "static", "adaptive"]  # no line runs over metrics without chance


def test_the_same_findings_give_the_same_bytes(example):
    first, second = draw_heat_map(example), draw_heat_map(example)
    assert render_svg(first) == render_svg(second) == render_svg(first)
    assert render_png(first) == render_png(second)
    assert "<dc:date>" not in render_svg(first)


def test_a_file_is_drawn_once_in_its_layout(example, monkeypatch):
    with mpl.rc_context({"figure.autolayout": True}):  # what a user may have chosen
        figure = draw_heat_map(example)
    assert figure.get_layout_engine() is None
    draw, drawn = Figure.draw, []
    monkeypatch.setattr(Figure, "draw", lambda *arguments: drawn.append(draw(*arguments)))
    render_svg(figure)
    assert len(drawn) == 1


def test_a_png_is_on_white(example):
    picture = Image.open(io.BytesIO(render_png(draw_heat_map(example)))).convert("RGB")
    assert picture.width > 1500
    assert picture.getpixel((2, 2)) == (255, 255, 255)


def test_on_a_page_ids_are_apart_and_colors_are_the_pages(example):
    svg = render_svg(draw_heat_map(example))
    one, other = inline_svg(svg, "one"), inline_svg(svg, "other")
    ids = [set(re.findall(r'id="([^"]+)"', page)) for page in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", one))
    assert used <= ids[0]
    assert INK not in one
    assert "currentColor" in one
    assert "<metadata" not in one
    assert "white" not in one
    ElementTree.fromstring(one)  # noqa: S314


def test_names_are_drawn_as_they_are(hostile):
    """A dollar sign begins no formula, and a bracket no element."""
    found = texts(render_svg(draw_heat_map(analyze(hostile))))
    assert hostile.values("decomposition")[1] in found


@pytest.fixture(scope="module")
def crowded():
    """Nine decompositions and eight distributions with long names."""
    return analyze(
        Results.from_records(
            make_records(
                lambda *place: sum(place) * 0.01 + 0.001 * place[0] * place[2],
                decompositions=tuple(f"a-method-with-a-very-long-name-{number}" for number in range(9)),
                distributions=tuple(f"distribution-long-{number}" for number in range(8)),
            )
        )
    )


def test_names_over_the_heat_map_turn_where_they_do_not_fit(crowded, example):
    for findings, rotation in ((crowded, 40), (example, 0)):
        for axes in draw_heat_map(findings).axes:
            assert {label.get_rotation() for label in axes.get_xticklabels()} == {rotation}


def test_legends_fit_into_the_figure(crowded):
    (setting,) = crowded.settings
    for figure in (
        draw_levels(setting.results, "decomposition", crowded.response),
        draw_combinations(setting, crowded.response),
    ):
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert box.y1 <= min(axes.get_tightbbox().y0 for axes in figure.axes if axes.get_visible())


def test_methods_are_told_apart_without_color():
    assert len(set(MARKERS)) == len(MARKERS)
    assert len(set(COLORS)) == len(COLORS)
    assert len({(COLORS[order % len(COLORS)], MARKERS[order % len(MARKERS)]) for order in range(40)}) == 40

import pytest

from textveil.lab.calibration import Calibration
from textveil.lab.calibration.calibration import EXACT, Point, Reading, Sample
from textveil.lab.calibration.figure import describe, draw_curve, draw_page, tell

SETTINGS = {
    "bundle": {"name": "tiny", "version": "1", "sha256": "0" * 64},
    "profile": "strict",
    "stopwords": "keep",
    **{axis: {"name": axis[:4]} for axis in ("decomposition", "distribution", "mechanism")},
}
CURVE = (
    Point(1.0, {"unchanged": Reading(0.1, 0.15, True)}),
    Point(3.0, {"unchanged": Reading(0.2, 0.25, True)}),
    Point(10.0, {"unchanged": Reading(0.5, 0.6, False)}),
)


def make(sample=Sample("given", 60), targets=None, curve=CURVE, **options):  # noqa: B008 # never changed
    return Calibration(targets or {"unchanged": 0.3}, 3.0, None, 0.95, SETTINGS, sample, curve, **options)


def test_the_result_is_a_sentence():
    assert tell(make()) == "3 per word meets unchanged=0.3 with 95 % confidence."
    assert tell(make(Sample(EXACT, 0), {"log-ratio": 6.0}, ())) == "3 per word meets log-ratio=6."


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (Sample("given", 60), "60 texts of your own, so the epsilon depends on them"),
        (Sample("everyday", 60), "60 public texts that ship with textveil (everyday)"),
        (Sample(EXACT, 0), "the bound follows from the mechanism"),
    ],
)
def test_the_texts_are_named(sample, words):
    assert words in dict(describe(make(sample)))["texts"]


def test_a_curve_has_a_marker_for_every_epsilon():
    (axes,) = draw_curve("unchanged", 0.3, CURVE, 3.0).axes
    markers = [line for line in axes.lines if line.get_marker() == "o"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in markers] == [(1.0, 0.1), (3.0, 0.2), (10.0, 0.5)]
    assert [line.get_markerfacecolor() == line.get_color() for line in markers] == [
        True,
        True,
        False,
    ]  # hollow: not met
    assert axes.get_xscale() == "log"


def test_a_page_has_the_curve_the_table_and_the_caveats():
    page = draw_page(make(caveats=("Only a few & more.",)))
    assert page.count("<svg") == 1
    assert "Only a few &amp; more." in page
    assert "0.500 (0.600), not met" in page
    assert "<script" not in page


def test_a_page_without_a_curve_has_no_figure():
    page = draw_page(make(Sample(EXACT, 0), {"log-ratio": 6.0}, ()))
    assert "<svg" not in page
    assert "3 per word meets log-ratio=6." in page

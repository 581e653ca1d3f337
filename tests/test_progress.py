"""The signature of progress callbacks, which long work calls by position."""

from typing import get_args

from textveil.progress import Progress, ignore_progress


def test_a_callback_gets_a_stage_an_amount_and_perhaps_a_fraction():
    parameters, returned = get_args(Progress)
    assert parameters == [str, int, float | None]
    assert returned is None


def test_the_default_callback_accepts_the_same_and_prints_nothing(capsys):
    for fraction in (None, 0.5):
        assert ignore_progress("counting words", 7, fraction) is None
    assert capsys.readouterr() == ("", "")

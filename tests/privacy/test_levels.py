"""Levels of protection."""

import pytest

from textveil.errors import UnknownNameError
from textveil.privacy.levels import LEVELS, find_rate


def test_more_protection_returns_fewer_words():
    assert list(LEVELS) == ["high", "medium", "low"]
    assert find_rate("high") < find_rate("medium") < find_rate("low")


def test_an_unknown_level():
    with pytest.raises(UnknownNameError, match="There is no level 'hihg'. Did you mean 'high'"):
        find_rate("hihg")

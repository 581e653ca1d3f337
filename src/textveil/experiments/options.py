"""What methods and metrics let choose, as their constructors say it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from textveil.registry import unknown_name


def list_options(kind: type) -> tuple[str, ...]:
    """The names of the options that a class takes, those of its bases included.

    >>> from textveil.distribution import DISTRIBUTORS
    >>> list_options(DISTRIBUTORS.load("gradients"))
    ('batch_size', 'device', 'model', 'steps')
    """
    found = set()
    for base in kind.__mro__[:-1]:
        if "__init__" in vars(base):
            parameters = inspect.signature(vars(base)["__init__"]).parameters.values()
            found |= {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    return tuple(sorted(found))


def check_options(kind: type, name: str, given: Mapping[str, Any]) -> None:
    """Refuse options that a class does not take.

    Raises:
        UnknownNameError: There is one.
    """
    for option in given:
        if option not in list_options(kind):
            raise unknown_name(f"option of {name}", option, list_options(kind))

"""Options of methods and metrics in a study file, checked by what each class declares."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from textveil.registry import Method, Option, unknown_name


def list_options(kind: type[Method]) -> dict[str, Option]:
    """The options of a class by name.

    >>> from textveil.distribution import DISTRIBUTORS
    >>> sorted(list_options(DISTRIBUTORS.load("gradients")))
    ['batch_size', 'device', 'model', 'steps']
    """
    return kind.list_options() or _read_constructor(kind)


def check_options(kind: type[Method], given: Mapping[str, Any]) -> None:
    """Refuse an option that a class does not have, or a value of the wrong kind.

    Raises:
        ParameterError: There is one.
    """
    declared = list_options(kind)
    if not declared or kind.list_options():
        kind.check_options(given)
    for name, value in given.items():
        if name not in declared:
            raise unknown_name(f"option of the {kind.kind} {kind.name!r}", name, declared)
        declared[name].check(value, of=kind.name)


def find_undescribed(kind: type[Method], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given options that change results and that the description of the method does not state.

    Only a class that does not declare its options has any. Remove it together with ``_read_constructor``.
    """
    if kind.list_options():
        return {}
    changing = {name for name, option in _read_constructor(kind).items() if option.changes_results}
    return {name: value for name, value in given.items() if name in changing}


def _read_constructor(kind: type[Method]) -> dict[str, Option]:
    """The keyword-only parameters of a constructor as options.

    For metrics and classifiers that do not declare their options. Remove it as soon as all of them do.
    """
    described = ("model", "models", "bundle", "classifier", "classifier_options", "seeds")
    unchanging = (*described, "batch_size", "device")
    found: dict[str, Option] = {}
    for base in reversed(kind.__mro__[:-1]):
        if "__init__" in vars(base):
            for parameter in inspect.signature(vars(base)["__init__"]).parameters.values():
                if parameter.kind is parameter.KEYWORD_ONLY:
                    name = parameter.name
                    found[name] = Option(name, object, parameter.default, "", changes_results=name not in unchanging)
    return found

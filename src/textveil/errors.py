"""The errors textveil raises, all of them below one root, and its warning.

    TextveilError
    ├── ParameterError          an argument is wrong: change the call (the command exits with 2)
    │   ├── BudgetError         an epsilon that is not positive and finite
    │   ├── UnknownNameError    a method, profile or bundle that does not exist
    │   ├── ProfileError        a combination that the profile does not allow
    │   ├── ColumnError         a column that the file does not have
    │   ├── StudyError          a study file has an invalid key or value
    │   ├── TargetError         a target of a calibration cannot be met, or contradicts another one
    │   └── OutputExistsError   an output that would be overwritten, or an unfinished run
    ├── InputError              a file cannot be read, or is not what its name says
    │   └── SmallCorpusError    a corpus has too little text for the thresholds
    ├── OutputError             a file cannot be written
    ├── LedgerError             a ledger is damaged, has another key, or cannot be written
    │   └── SpentBudgetError    a release would pass the budget of its document
    ├── BundleError             a bundle is incomplete, changed or of a newer format
    ├── ResourceError           a resource is not installed, broken, or cannot be fetched
    ├── PluginError             another package offers a method that cannot be used
    ├── ContractError           a method does not keep the contract of its kind
    ├── ExecutionError          workers died, or a cluster does not answer
    ├── ServiceError            a service refused a request of the client, or failed
    └── MissingExtraError       an optional dependency is not installed
    TextveilWarning             what a user should know before a result is released; the work goes on

A message names the next step. It gives positions (line, row, byte), never a document's text. Parameters stand in
backticks, as Python spells them: "Set `overwrite=True` to replace it." The command line turns them into flags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

LONGEST_MESSAGE = 2_000
"""Characters of a message. A longer one quotes something that is longer than anybody reads, and loses its middle."""

_PARAMETER = re.compile(r"`(\w+)(?:=([^`]*))?`")


class TextveilError(Exception):
    """The root of everything textveil raises on purpose.

    Args:
        message: The message.
    """

    def __init__(self, message: str = "") -> None:
        if len(message) > LONGEST_MESSAGE:
            message = f"{message[: LONGEST_MESSAGE // 2]} ... {message[-LONGEST_MESSAGE // 2 :]}"
        super().__init__(message)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that the message mentions.

        >>> BudgetError("Set `epsilon` or `epsilon_per_word`, not both.").parameters
        ('epsilon', 'epsilon_per_word')
        """
        return tuple(dict.fromkeys(name for name, _ in _PARAMETER.findall(str(self))))

    def spell(self, spell_parameter: Callable[[str, str | None], str]) -> str:
        """The message with every parameter, and its value if there is one, spelled in another way."""
        return spell_parameters(str(self), spell_parameter)


def spell_parameters(message: str, spell_parameter: Callable[[str, str | None], str]) -> str:
    """A message with every parameter, and its value if there is one, spelled in another way."""
    return _PARAMETER.sub(lambda found: spell_parameter(found[1], found[2]), message)


class TextveilWarning(UserWarning):
    """Something that a user should know before a result is released. The work goes on."""


class ParameterError(TextveilError, ValueError):
    """An argument is wrong; the call has to change."""


class BudgetError(ParameterError):
    """An epsilon is not positive and finite."""


class UnknownNameError(ParameterError):
    """A name is not among the known ones."""


class ProfileError(ParameterError):
    """The profile does not allow this combination."""


class ColumnError(ParameterError):
    """The file has no such column."""


class StudyError(ParameterError):
    """A study file has an invalid key or value."""


class TargetError(ParameterError):
    """A target of a calibration cannot be met, or contradicts another one.

    Args:
        message: The message.
        curve: What was tried, a point for every epsilon.
    """

    def __init__(self, message: str, curve: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.curve = tuple(curve)


class OutputExistsError(ParameterError):
    """The output, or an unfinished run of it, is there already."""


class InputError(TextveilError):
    """A file cannot be read, or is not what its name says."""


class SmallCorpusError(InputError):
    """A corpus has too little text for the thresholds."""


class OutputError(TextveilError):
    """A file cannot be written."""


class LedgerError(TextveilError):
    """A ledger is damaged, has another key, or cannot be written."""


class SpentBudgetError(LedgerError):
    """A release would pass the budget of its document."""


class BundleError(TextveilError):
    """A bundle is incomplete, changed or of a newer format."""


class ResourceError(TextveilError):
    """A resource is not installed, broken, or cannot be fetched."""


class PluginError(TextveilError):
    """Another package offers a method that cannot be used."""


class ContractError(TextveilError, AssertionError):
    """A method does not keep the contract of its kind."""


class ExecutionError(TextveilError):
    """Workers died, or a cluster does not answer."""


class ServiceError(TextveilError):
    """A service refused a request of the client, or failed.

    Args:
        message: What the service says.
        status: The status of its answer.
        kind: The class of the error there, such as ``ResourceError``.
    """

    def __init__(self, message: str, status: int, kind: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class MissingExtraError(TextveilError, ImportError):
    """An optional dependency is not installed."""


def describe_bug(error: Exception) -> str:
    """Where an unexpected exception happened, without what it says: that may be a document's text."""
    import traceback  # costs as much as the rest of this module, and is hardly ever needed

    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"a {type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"

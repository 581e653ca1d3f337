"""Watching the use of inputs: their exceptions, their time, and everything that they say."""

from __future__ import annotations

import io
import logging
import signal
import traceback
import warnings
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple, Self

import textveil
from textveil.errors import TextveilError

_SOURCE = str(Path(textveil.__file__).parent)


WAITING = 5
"""How many times its limit of processor time an input may take altogether, on a busy machine."""


class BrokenPromiseError(AssertionError):
    """A result is not what textveil promises. The message must not hold the input."""


class TooSlowError(BaseException):
    """The time limit of an input has passed. Not an Exception, so that no code swallows it."""


class Problem(NamedTuple):
    """What went wrong, and where."""

    kind: str
    place: str


class _Log(logging.Handler):
    """Collects all log messages."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class Watcher:
    """Watches the use of inputs. It listens from its creation until it is closed, because that takes time.

    Args:
        marker: The word that no message may repeat.
        seconds: The limit of processor time of an input. It may take :data:`WAITING` times as long altogether.
        causes: Whether the causes of an error count, which a person sees if nothing catches it.
    """

    def __init__(self, marker: str, *, seconds: float, causes: bool = True) -> None:
        self._marker, self._seconds, self._causes = marker, seconds, causes
        self._log, self._printed = _Log(), io.StringIO()
        self._warned: list[warnings.WarningMessage] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            root = logging.getLogger()
            stack.callback(root.setLevel, root.level)
            root.setLevel(logging.DEBUG)
            stack.callback(root.removeHandler, self._log)
            root.addHandler(self._log)
            self._warned = stack.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always")
            stack.enter_context(redirect_stdout(self._printed))
            stack.enter_context(redirect_stderr(self._printed))
            for number in (signal.SIGALRM, signal.SIGPROF):
                stack.callback(signal.signal, number, signal.signal(number, _stop))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def watch(self, use: Callable[[], None]) -> Problem | None:
        """Use an input; return the first problem, if there is one.

        Args:
            use: Uses the input. It may raise TextveilError, or BrokenPromiseError for a wrong result.
        """
        problem = None
        try:
            signal.setitimer(signal.ITIMER_REAL, WAITING * self._seconds)
            signal.setitimer(signal.ITIMER_PROF, self._seconds)
            try:
                use()
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
        except TextveilError as error:
            problem = self._judge(error)
        except BrokenPromiseError as error:
            problem = Problem("wrong", str(error))
        except TooSlowError as error:
            problem = Problem("hang", f"more than {self._seconds:g} s in {_locate(error).partition(' in ')[2]}")
        except Exception as error:  # noqa: BLE001 # whatever it is, it is a finding
            problem = Problem("crash", _locate(error))
        said = self._collect()
        if problem is None and any(_repeats(self._marker, line) for line in said):
            problem = Problem("marker", "a warning, a log message or the standard streams")
        return problem

    def _judge(self, error: TextveilError) -> Problem | None:
        if _repeats(self._marker, str(error)):
            return Problem("marker", f"the message of {_locate(error)}")
        # Without the lines of code, which hold no text and take most of the time.
        if self._causes and _repeats(self._marker, "".join(traceback.format_exception(error, limit=0))):
            return Problem("marker", f"the causes of {_locate(error)}")
        return None

    def _collect(self) -> list[str]:
        """Everything that was logged, warned of or printed since the last time."""
        said = [*self._log.lines, *(str(warning.message) for warning in self._warned)]
        self._log.lines.clear()
        self._warned.clear()
        if self._printed.tell():
            said.append(self._printed.getvalue())
            self._printed.seek(0)
            self._printed.truncate()
        return said


def _stop(*_: object) -> None:
    raise TooSlowError


def _repeats(marker: str, message: str) -> bool:
    return marker in message.casefold()


def _locate(error: BaseException) -> str:
    """The type of an exception and the last line of textveil that it passed, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_SOURCE)] or frames
    place = f"{Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else "an unknown place"
    return f"{type(error).__name__} in {place}"

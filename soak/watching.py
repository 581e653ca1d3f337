"""Watching the use of one input: its exceptions, its time, and everything that it says."""

from __future__ import annotations

import io
import logging
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import textveil
from textveil.errors import TextveilError

_SOURCE = str(Path(textveil.__file__).parent)


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


WAITING = 5
"""How many times its limit of processor time an input may take altogether, on a busy machine."""


@contextmanager
def limiting(seconds: float) -> Iterator[None]:
    """Stop the block after some seconds of processor time, or after five times as many seconds altogether."""

    def stop(*_: object) -> None:
        raise TooSlowError

    timers = {
        signal.ITIMER_REAL: (signal.SIGALRM, WAITING * seconds),
        signal.ITIMER_PROF: (signal.SIGPROF, seconds),
    }
    before = [(number, signal.signal(number, stop)) for number, _ in timers.values()]
    for timer, (_, limit) in timers.items():
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect everything that is logged, warned of or printed. The list is filled when the block ends."""
    said: list[str] = []
    log, printed, root = _Log(), io.StringIO(), logging.getLogger()
    level = root.level
    root.addHandler(log)
    root.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(printed), redirect_stderr(printed):
            warnings.simplefilter("always")
            yield said
    finally:
        root.removeHandler(log)
        root.setLevel(level)
        said += [*log.lines, *(str(warning.message) for warning in warned), printed.getvalue()]


def watch(use: Callable[[], None], marker: str, *, seconds: float, causes: bool = True) -> Problem | None:
    """Use an input; return the first problem, if there is one.

    Args:
        use: Uses the input. It may raise TextveilError, or BrokenPromiseError for a wrong result.
        marker: The word that no message may repeat.
        seconds: The time limit.
        causes: Whether the causes of an error count, which a person sees if nothing catches it.
    """
    problem = None
    with listening() as said:
        try:
            with limiting(seconds):
                use()
        except TextveilError as error:
            if _repeats(marker, str(error)):
                problem = Problem("marker", f"the message of {_locate(error)}")
            elif causes and _repeats(marker, "".join(traceback.format_exception(error))):
                problem = Problem("marker", f"the causes of {_locate(error)}")
        except BrokenPromiseError as error:
            problem = Problem("wrong", str(error))
        except TooSlowError as error:
            problem = Problem("hang", f"more than {seconds:g} s in {_locate(error).partition(' in ')[2]}")
        except Exception as error:  # noqa: BLE001 # whatever it is, it is a finding
            problem = Problem("crash", _locate(error))
    if problem is None and any(_repeats(marker, line) for line in said):
        problem = Problem("marker", "a warning, a log message or the standard streams")
    return problem


def _repeats(marker: str, message: str) -> bool:
    return marker in message.casefold()


def _locate(error: BaseException) -> str:
    """The type of an exception and the last line of textveil that it passed, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_SOURCE)] or frames
    place = f"{Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else "an unknown place"
    return f"{type(error).__name__} in {place}"

"""Auditees: functions and commands that answer texts with texts, and the samples that are drawn from them."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from textveil.audit.events import Coder, Numbers
from textveil.errors import ParameterError, describe_bug
from textveil.progress import Progress, ignore_progress

Auditee: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Obfuscates texts: one answer for each of them, in order, with fresh noise."""

AT_A_TIME = 20_000
"""The number of texts in a call."""
PROBES = 5
"""Copies of each text by which a deterministic auditee is recognized."""
_SAME_AGAIN = (
    "The auditee answered the same texts twice in the same way: it is deterministic, has a fixed seed, or has a budget "
    "so large that noise changes nothing. An audit needs fresh noise for every text. Remove the seed, or lower the "
    "budget."
)


class Command:
    """A command that reads texts from standard input and writes answers to standard output, one per line.

    Args:
        line: The command with its arguments, as a shell would split it. No shell runs it.
    """

    def __init__(self, line: str) -> None:
        try:
            self._arguments = shlex.split(line)
        except ValueError as error:
            raise ParameterError("The `command` has a quote that is not closed.") from error
        if not self._arguments:
            raise ParameterError("The `command` is empty. Give a program that reads lines and writes lines.")

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """The answers of a single run of the command; what it writes to standard error is passed on."""
        given = "".join(f"{text}\n" for text in texts).encode()
        try:
            finished = subprocess.run(self._arguments, input=given, stdout=subprocess.PIPE, check=False)
        except OSError as error:
            raise ParameterError(f"The `command` cannot be started: {error.strerror}. Check its path.") from error
        if finished.returncode != 0:
            ended = f"signal {-finished.returncode}" if finished.returncode < 0 else f"code {finished.returncode}"
            raise ParameterError(f"The `command` ended with {ended}. Try it with a few lines of text first.")
        answers = finished.stdout.decode(errors="replace").split("\n")
        return answers[:-1] if answers[-1] == "" else answers


def draw_samples(
    auditee: Auditee, texts: Sequence[str], draws: int, coder: Coder, progress: Progress = ignore_progress
) -> list[Numbers]:
    """The numbers of the answers to each text, a number of draws each.

    The texts take turns, so that an auditee that changes over time treats all of them alike.

    Raises:
        ParameterError: The auditee fails, does not answer each text, or is deterministic.
    """
    check_noise(auditee, texts)
    rounds = max(1, AT_A_TIME // len(texts))
    parts: list[list[Numbers]] = [[] for _ in texts]
    done = 0
    while done < draws:
        copies = min(rounds, draws - done)
        answers = ask(auditee, list(texts) * copies)
        for number in range(len(texts)):
            parts[number].append(coder.encode(answers[number :: len(texts)]))
        done += copies
        progress("drawing answers", done * len(texts), done / draws)
    return [np.concatenate(numbers) for numbers in parts]


def check_noise(auditee: Auditee, texts: Sequence[str]) -> None:
    """Ask for the same answers twice.

    Raises:
        ParameterError: Both times, all answers are the same.
    """
    probe = list(texts) * PROBES
    if ask(auditee, probe) == ask(auditee, probe):
        raise ParameterError(_SAME_AGAIN)


def ask(auditee: Auditee, texts: Sequence[str]) -> list[str]:
    """The answers of an auditee.

    Raises:
        ParameterError: The auditee fails, or the number of answers is wrong.
    """
    try:
        answers = list(auditee(texts))
    except (ParameterError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise ParameterError(
            f"The auditee failed with {describe_bug(error)}. Try it with a few texts first."
        ) from error
    if len(answers) != len(texts):
        few = "few" if len(answers) < len(texts) else "many"
        raise ParameterError(
            f"The auditee gave too {few} answers: {len(answers):,} to {len(texts):,} texts. It must write exactly one "
            "line for each line that it reads, also for an empty one."
        )
    if not all(isinstance(answer, str) for answer in answers):
        raise ParameterError("The auditee gave an answer that is not a string. It must return strings.")
    return answers

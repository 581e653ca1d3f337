"""The start of ``textveil``: one text with few flags is obfuscated at once, and all else goes to the full command line.

The parser of the full command line and its commands take longer to import than the obfuscation of a text.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from textveil.results import Obfuscation

FLAGS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "--epsilon": ("epsilon", float),
    "-e": ("epsilon", float),
    "--epsilon-per-word": ("epsilon_per_word", float),
    "--level": ("level", str),
    "--seed": ("seed", int),
}
"""The flags that are read here: the parameter of each, and the type of its value."""
CONFIGURED = "TEXTVEIL_OBFUSCATE_"
"""The beginning of environment variables that stand for flags. They are left to the full command line."""
INTERRUPTED = 130


class QuickRequest(NamedTuple):
    """A text on the command line, and the values of its flags."""

    text: str
    given: dict[str, Any]


def read_arguments(arguments: Sequence[str], environment: Mapping[str, str]) -> QuickRequest | None:
    """The request, if it is a text with few flags and nothing unusual; ``None`` for the full command line.

    >>> read_arguments(["obfuscate", "A text.", "--seed", "1"], {})
    QuickRequest(text='A text.', given={'seed': 1})
    >>> read_arguments(["obfuscate", "A text.", "--seed", "x"], {}) is None
    True
    """
    if arguments[:1] != ["obfuscate"] or any(name.startswith(CONFIGURED) for name in environment):
        return None
    texts: list[str] = []
    given: dict[str, Any] = {}
    remaining = iter(arguments[1:])
    for argument in remaining:
        if not argument.startswith("-") and argument.isprintable():
            texts.append(argument)
            continue
        name, kind = FLAGS.get(argument, ("", str))
        value = next(remaining, "-")
        if not name or name in given or not value or value.startswith("-"):
            return None
        try:
            given[name] = kind(value)
        except ValueError:
            return None
    return QuickRequest(texts[0], given) if len(texts) == 1 and texts[0] and not is_file(texts[0]) else None


def is_file(text: str) -> bool:
    """Whether a text is the path of something to read. A folder is not: its name may be a word."""
    return os.path.exists(text) and not os.path.isdir(text)  # noqa: PTH110, PTH112 # unlike Path, for any text


def _obfuscate(request: QuickRequest) -> Obfuscation | None:
    """The result; ``None`` after an error, which the full command line meets again and reports."""
    try:
        from textveil.obfuscator import Obfuscator

        return next(Obfuscator(**request.given).obfuscate_all([request.text]))
    except Exception:  # noqa: BLE001 # nothing was written yet
        return None


def _show(result: Obfuscation) -> None:
    """Print the text, and warnings if there are any."""
    from textveil import summary

    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.stdout.write(f"{result.text}\n")
    sys.stdout.flush()
    if summary.list_warnings(result.certificate):
        from textveil.cli.reporting import list_warnings, report

        for warning in list_warnings(result.certificate):
            report(warning)


def _report_failures(result: Obfuscation) -> None:
    """Print the result; if that fails, end as the full command line does."""
    try:
        _show(result)
    except Exception as error:  # noqa: BLE001 # all are reported
        from textveil.cli.reporting import end

        sys.exit(end(error, main))


def main() -> None:
    """Run the command line."""
    try:
        request = read_arguments(sys.argv[1:], os.environ) if hasattr(sys.stdout, "reconfigure") else None
        gc.disable()  # there is nothing to collect before a single text is done
        result = None if request is None else _obfuscate(request)
        if result is not None:
            _report_failures(result)
            return
        gc.enable()
        from textveil.cli.main import main as run_command
    except KeyboardInterrupt:  # nothing was begun that must be ended
        sys.exit(INTERRUPTED)
    run_command()


if __name__ == "__main__":
    main()

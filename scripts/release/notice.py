"""The statements of NOTICE: which file comes from where, on what terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

FIELDS = ("Files", "Origin", "License")
CODE = ".py"
"""Files with this ending need no statement: LICENSE covers them."""


@dataclass(frozen=True)
class Statement:
    """A paragraph of NOTICE.

    Attributes:
        patterns: The paths that it covers, as in the installed package. A star stands for any characters.
        origin: Where the files come from.
        license: On what terms they are shipped.
    """

    patterns: tuple[str, ...]
    origin: str
    license: str

    def covers(self, path: str) -> bool:
        """Whether the paragraph is about a file."""
        return any(fnmatchcase(path, pattern) for pattern in self.patterns)


def read_notice(path: Path) -> list[Statement]:
    """Read all statements of a NOTICE.

    Raises:
        ValueError: A paragraph that begins with ``Files:`` lacks its origin or its license.
    """
    return list(_parse(path.read_text(encoding="utf-8")))


def _parse(text: str) -> Iterator[Statement]:
    for paragraph in re.split(r"\n\s*\n", text):
        if not paragraph.lstrip().startswith("Files:"):
            continue
        parts = re.split(rf"^({'|'.join(FIELDS)}):", paragraph.strip(), flags=re.MULTILINE)
        values = {name: " ".join(value.split()) for name, value in zip(parts[1::2], parts[2::2], strict=True)}
        missing = [name for name in FIELDS if not values.get(name)]
        if missing:
            raise ValueError(f"A paragraph of NOTICE lacks {', '.join(missing)}: {values.get('Files', '')[:60]}")
        yield Statement(tuple(values["Files"].split()), values["Origin"], values["License"])


def find_uncovered(paths: Iterable[str], statements: Sequence[Statement]) -> list[str]:
    """The data files that no statement covers."""
    data = (path for path in paths if PurePosixPath(path).suffix != CODE)
    return sorted(path for path in data if not any(statement.covers(path) for statement in statements))


def find_unused(paths: Iterable[str], statements: Sequence[Statement]) -> list[str]:
    """The patterns that match no file: what they covered was moved or removed."""
    known = list(paths)
    patterns = (pattern for statement in statements for pattern in statement.patterns)
    return [pattern for pattern in patterns if not any(fnmatchcase(path, pattern) for path in known)]

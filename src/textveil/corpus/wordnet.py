"""The multi-word expressions of WordNet in all inflected forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from textveil.bundles.building import LexiconTable
from textveil.errors import ResourceError
from textveil.language.matching import LONGEST
from textveil.language.senses import ENDINGS
from textveil.resources import install_command

_SEVERAL_WORDS = re.compile(rf"[^\W_]+(?:_[^\W_]+){{1,{LONGEST - 1}}}")


def read_wordnet_table(folder: Path) -> LexiconTable:
    """The lexicon of WordNet as a table for a bundle, with its license."""
    license_text = "\n".join(_read(folder / "LICENSE")) + "\n"
    return LexiconTable(list_expressions(folder), origin={"source": "WordNet 3.0"}, license=license_text)


def list_expressions(folder: Path) -> list[str]:
    """The sorted n-grams of two to four words for which NLTK's ``wordnet.synsets`` finds a sense.

    Args:
        folder: The folder of WordNet, as ``resources.find("wordnet")`` returns it.
    """
    forms = {form for part in ENDINGS for form in _list_forms(folder, part)}
    return sorted(form.replace("_", " ") for form in forms if _SEVERAL_WORDS.fullmatch(form))


def _list_forms(folder: Path, part: str) -> Iterator[str]:
    """The forms of all entries of a part of speech."""
    entries = {line.split(" ", 1)[0] for line in _read(folder / f"index.{part}") if not line.startswith(" ")}
    exceptions = {form: bases for form, *bases in map(str.split, _read(folder / f"{part}.exc"))}
    yield from entries
    yield from (form for form, bases in exceptions.items() if not entries.isdisjoint(bases))
    for entry in entries:
        for inflected, base in ENDINGS[part]:
            form = entry.removesuffix(base) + inflected
            if entry.endswith(base) and form not in exceptions:  # rules do not apply to exceptions
                yield form


def _read(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    if not lines:
        raise ResourceError(
            f"{str(path)!r} is empty or not a WordNet file. Install WordNet again: "
            f"{install_command('wordnet', force=True)}"
        )
    return lines

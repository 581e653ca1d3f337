"""Study files: presets with changes, and documents in place of a study.

A study file holds settings, and an error names the wrong one. So the marker stands in comments, and in documents.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import yaml
from hypothesis import strategies as st

from soak.base import Part
from soak.mutation import make_text, mutate_bytes, mutate_json, randoms, texts
from textveil.lab.study.study import list_presets, load_study, read_preset

PIECES = (
    "!!map [a]", "!!set {a}", "!!int ''", "!!bool x", "!!timestamp x", "!!float x", "!!python/name:os.system",
    "&a [*a]", "*b", "<<: {a: 1}", "? [a]", "? {a: b}", "? !!set {a}", "2001-99-99", "!!binary x", "!!omap [a]",
    "!!pairs [a]", "[[[[", "{{{{", "'", '"', "|", ">", "%YAML 9.9", "---", "...", "\t", "- ", ": ", "~", ".nan",
    ".inf", "0x", "1_0", "1:60", "!x y", "{0}", "{gt}", "\ufeff", "!!null x", "=", "!!str [a]", "!!seq {a: b}",
    "<<: [a]", "<<: 1", "!!omap {a: b}",
)  # fmt: skip


class Studies(Part):
    """Loads study files."""

    name = "studies"
    quotes_settings = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        contents = [read_preset(name) for name in list_presets()]
        self._presets = [(content, yaml.safe_load(content)) for content in contents]

    def strategy(self, marker: str) -> st.SearchStrategy[bytes]:
        """Presets with drawn changes, drawn YAML, and drawn texts."""
        changed = st.builds(self.draw, randoms(), st.just(marker))
        text = texts(marker).map(lambda text: f"# {marker}\n{text}".encode("utf-8", "surrogatepass"))
        pieces = st.lists(st.sampled_from(PIECES), max_size=8).map(
            lambda some: f"# {marker}\n{' '.join(some)}".encode()
        )
        nested = st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)
            ),
        ).map(lambda values: f"# {marker}\n{yaml.safe_dump(values)}".encode("utf-8", "surrogatepass"))
        return st.one_of(changed, text, pieces, nested)

    def draw(self, random: Random, marker: str) -> bytes:
        """A preset with other values, other pieces or other bytes; or a text."""
        content, intact = random.choice(self._presets)
        match random.randrange(4):
            case 0:
                return make_text(random, marker).encode("utf-8", "surrogatepass")
            case 1:
                values = mutate_json(random, intact)
                return f"# {marker}\n{yaml.safe_dump(values)}".encode("utf-8", "surrogatepass")
            case 2:
                lines = content.splitlines(keepends=True)
                for _ in range(random.randrange(1, 4)):
                    place = random.randrange(len(lines))
                    lines[place] = (
                        lines[place].rstrip("\n") + random.choice((" ", "\n", "\n  ")) + random.choice(PIECES) + "\n"
                    )
                return f"# {marker}\n{''.join(lines)}".encode()
            case _:
                return f"# {marker}\n".encode() + mutate_bytes(random, content.encode())

    def use(self, given: bytes, marker: str) -> None:
        """Load the study."""
        path = self.folder / "study.yaml"
        path.write_bytes(given)
        _ = load_study(path).study.size

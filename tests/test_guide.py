"""The rules of CONTRIBUTING about files and prose, and the guide and picture of the code in it."""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.draw_packages import Code, draw, read_code
from textveil import Obfuscator
from textveil.errors import ParameterError

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "textveil"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 # our own


@pytest.fixture(scope="module")
def our_code() -> Code:
    return read_code(ROOT)


def test_the_picture_of_the_packages_is_up_to_date(our_code: Code) -> None:
    picture = parse((ROOT / "docs/figures/packages.svg").read_text(encoding="utf-8"))
    assert picture.findtext(f"{SVG}desc") == our_code.summary, "Imports have changed: run make packages."


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a package of two modules, which both import the loose module below them."""
    source = tmp_path / "src" / "textveil"
    files = {
        "__init__.py": "from textveil.attic.lamp import Lamp\n",
        "attic/lamp.py": "import os\nfrom textveil.cellar import wine\nfrom textveil import cellar\n",
        "attic/chair.py": "def sit():\n    import textveil.cellar\n    from textveil.attic.lamp import Lamp\n",
        "cellar.py": "import numpy\n",
    }
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_architecture.py").write_text('LAYERS = {"low": ["cellar"], "high": ["attic"]}\n')
    return tmp_path


def test_a_house_has_rooms_layers_and_imports(checkout: Path) -> None:
    code = read_code(checkout)
    assert code.imports == {("attic", "cellar"): 2}  # modules, not statements; nothing inside a package
    assert code.layers == [("low", ["cellar"]), ("high", ["attic"])]
    assert (code.packages["attic"].title, code.packages["attic"].size) == ("attic/", "2 files, 6 lines")
    assert (code.packages["cellar"].title, code.packages["cellar"].size) == ("cellar.py", "1 lines")


def test_a_picture_names_every_package_and_layer(checkout: Path) -> None:
    picture = parse(draw(read_code(checkout), "Small & old"))
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"Small & old", "low", "high", "attic/", "cellar.py"} <= set(texts)


def test_a_change_of_imports_changes_the_summary(checkout: Path) -> None:
    before = read_code(checkout).summary
    (checkout / "src/textveil/attic/chair.py").write_text("")
    assert read_code(checkout).summary != before


def test_the_table_of_packages_lists_every_package_in_its_layer(our_code: Code) -> None:
    table = CONTRIBUTING.partition("## What's where")[2].partition("\n## ")[0]
    listed: dict[str, set[str]] = {}
    layer = ""
    for title, package in re.findall(r"^\| ([a-z ]*) ?\| `([^`]+)` \|", table, flags=re.MULTILINE):
        layer = title.strip() or layer
        listed.setdefault(layer, set()).add(package)
    layers = {
        title: {our_code.packages[name].title for name in names} - {"version.py"} for title, names in our_code.layers
    }
    assert listed == layers


def test_every_file_that_the_guide_names_exists() -> None:
    named = [name for name in re.findall(r"`([\w/.]+/[\w.]*)`", CONTRIBUTING) if not re.search(r"NAME|a/", name)]
    assert len(named) > 60
    for name in named:
        assert any((folder / name).exists() for folder in (SOURCE, ROOT, ROOT / "src")), name


def list_names(node: ast.AST) -> Iterator[str]:
    """The names that a node and everything in it define or hold as text: names of methods are text."""
    for child in ast.walk(node):
        match child:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.alias(name=name):
                yield name
            case ast.Constant(value=str(name)):
                yield name


def find_unknown(guide: str, sources: Iterable[tuple[str, str]]) -> list[str]:
    """The names in backticks that no module, class or attribute of the sources has, such as ``Owner.member``."""
    owners: dict[str, set[str]] = {}
    bases: dict[str, list[str]] = {}
    for module, source in sources:
        tree = ast.parse(source)
        owners.setdefault(module, set()).update(list_names(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                owners.setdefault(node.name, set()).update(list_names(node))
                bases.setdefault(node.name, []).extend(base.id for base in node.bases if isinstance(base, ast.Name))
    every = {*dir(builtins), *owners, *itertools.chain(*owners.values()), "textveil"}

    def has(owner: str, name: str) -> bool:
        return name in owners.get(owner, ()) or any(has(base, name) for base in bases.get(owner, ()) if base != owner)

    text = re.sub(r"```.*?```", "", guide, flags=re.DOTALL)
    unknown = []
    for owner, name in re.findall(r"`(?:(\w+)\.)?(\w+)(?:\([^`]*\)| ?=[^`]*)?`", text):
        is_file = name in {"py", "txt", "toml"}
        if not is_file and not (has(owner, name) if owner else name in every):
            unknown.append(f"{owner}.{name}" if owner else name)
    return unknown


def test_every_module_class_and_attribute_that_the_guide_names_exists() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", CONTRIBUTING, flags=re.DOTALL)
    sources = [("example", example)]
    for path in SOURCE.rglob("*.py"):
        module = path.parent.name if path.name == "__init__.py" else path.stem
        sources.append((module, path.read_text(encoding="utf-8")))
    assert find_unknown(CONTRIBUTING, sources) == []


def test_names_that_the_code_lacks_are_found_in_a_guide() -> None:
    source = "class Base:\n    def draw(self): ...\nclass Lamp(Base):\n    name = 'lamp'\n    def plan(self): ...\n"
    guide = "`Lamp.plan`, `Lamp.draw`, `attic.Lamp`, `attic.py`, `lamp`, `Lamp(size=3)`, `make test`"
    assert find_unknown(guide, [("attic", source)]) == []
    wrong = "`Lamp._plan`, `Base.plan`, `Chair`, `cellar.Lamp`, `sit(2)`"
    assert find_unknown(wrong, [("attic", source)]) == ["Lamp._plan", "Base.plan", "Chair", "cellar.Lamp", "sit"]


def test_the_example_of_a_method_works(tiny) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", CONTRIBUTING, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)  # noqa: S102 # our own
    length = names["Length"]
    assert length(shortest=4).description == "length (shortest 4)"
    with pytest.raises(ParameterError, match="`shortest` of length must be a whole number of at least 1. Got 0"):
        length(shortest=0)
    obfuscator = Obfuscator(tiny, decomposition="words", distribution=length(shortest=4), largest_share=math.inf)
    plot, music = obfuscator.obfuscate("plot music", epsilon=10).chunks
    assert (plot.share, music.share) == pytest.approx((5 / 9 * 10, 4 / 9 * 10))
    assert obfuscator.terms.distribution["options"] == {"shortest": 4}


def report(found: dict[Path, list[str]]) -> None:
    """Fail with a line for every file in which something was found."""
    lines = [f"{path.relative_to(ROOT)}: {', '.join(words)}" for path, words in sorted(found.items()) if words]
    if lines:
        pytest.fail("\n".join([f"{len(lines)} files:", *lines]), pytrace=False)


FLAG = re.compile(r"(?<![\w-])(?<!var\()--[a-z][a-z-]+")
_PROGRAM = (
    r"(?:(?:python -m )?pip|hf|textveil "
    r"(?:analyze|audit|bundle|compare|decompose|deniability|distribute|evaluate|experiment|obfuscate|prepare|resources|serve))"
)
COMMAND = re.compile(rf"\b{_PROGRAM}(?: \S*[^\s.,;:])+")
"""A complete shell command: a program and its arguments, up to a punctuation mark."""
COMMAND_LINES = [SOURCE / "resources" / "sources.py", SOURCE / "resources" / "catalog.py"]
"""Modules that put together commands of pip and of textveil."""


def read_strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """All string constants with their lines; an f-string is one, with ``{}`` for its values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
        yield node.lineno, "".join(parts)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from read_strings(part.value)
    else:
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.keyword) and child.arg == "flag"):  # an Option's spelling on the command line
                yield from read_strings(child)


def find_flags(source: str) -> list[str]:
    """The flags in string constants that are not part of a complete command, with their lines."""
    strings = read_strings(ast.parse(source))
    return [f"{line}: {flag}" for line, text in strings for flag in FLAG.findall(COMMAND.sub("", text))]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'Set --overwrite.'", ["1: --overwrite"]),
        ("f'Lower --min-count {count}.'", ["1: --min-count"]),
        ("f'{\"--column\"} is missing'", ["1: --column"]),
        ("def f():\n    '''Like --help.'''", ["2: --help"]),
        ("f'Install it: textveil resources install {name} --force'", []),
        ("'Run pip install x --upgrade, or hf download x --local-dir y.'", []),
        ("'textveil computes it from --certificate FILE'", ["1: --certificate"]),
        ("'Run textveil prepare x. Then set --overwrite.'", ["1: --overwrite"]),
        ("'fill: var(--muted)'", []),
        ("'a--b, -- or ---'", []),
        ("Option('model', flag='--encoder')", []),
    ],
)
def test_flags_are_found_outside_commands(source: str, expected: list[str]) -> None:
    assert find_flags(source) == expected


def test_no_message_outside_the_command_line_names_a_flag() -> None:
    paths = [path for path in SOURCE.rglob("*.py") if path not in COMMAND_LINES and SOURCE / "cli" not in path.parents]
    report({path: find_flags(path.read_text(encoding="utf-8")) for path in paths})

"""The rules about files: the guide to the house and its picture are up to date."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.draw_house import draw, read_house
from textveil import Obfuscator
from textveil.errors import ParameterError

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "textveil"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 # our own


def test_the_picture_of_the_house_is_up_to_date() -> None:
    picture = parse((ROOT / "docs/figures/house_after.svg").read_text(encoding="utf-8"))
    assert picture.findtext(f"{SVG}desc") == read_house(ROOT).summary, "Imports have changed: run make house."


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A house with a package of two modules, which both import the loose module below them."""
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
    house = read_house(checkout)
    assert house.imports == {("attic", "cellar"): 2}  # modules, not statements; nothing inside a room
    assert house.layers == [("low", ["cellar"]), ("high", ["attic"])]
    assert (house.rooms["attic"].title, house.rooms["attic"].size) == ("attic/", "2 files, 6 lines")
    assert (house.rooms["cellar"].title, house.rooms["cellar"].size) == ("cellar.py", "1 lines")


def test_layers_without_names_are_numbered(checkout: Path) -> None:
    (checkout / "tests/test_architecture.py").write_text('LAYERS = [{"cellar"}, {"attic"}]\n')
    assert read_house(checkout).layers == [("layer 1", ["cellar"]), ("layer 2", ["attic"])]


def test_a_picture_has_a_box_per_room_and_an_arrow_per_import(checkout: Path) -> None:
    picture = parse(draw(read_house(checkout), "Small & old"))
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"Small & old", "low", "high", "attic/", "cellar.py"} <= set(texts)
    boxes = [box for box in picture.iter(f"{SVG}rect") if box.get("fill") == "white" and box.get("rx")]
    assert len(boxes) == 2
    lines = [path for path in picture.iter(f"{SVG}path") if path.get("stroke")]
    assert len(lines) == 1


def test_a_change_of_imports_changes_the_summary(checkout: Path) -> None:
    before = read_house(checkout).summary
    (checkout / "src/textveil/attic/chair.py").write_text("")
    assert read_house(checkout).summary != before


def test_the_table_of_rooms_lists_every_room_in_its_layer() -> None:
    table = CONTRIBUTING.partition("## What's where")[2].partition("\n## ")[0]
    listed: dict[str, set[str]] = {}
    layer = ""
    for title, room in re.findall(r"^\| ([a-z ]*) ?\| `([^`]+)` \|", table, flags=re.MULTILINE):
        layer = title.strip() or layer
        listed.setdefault(layer, set()).add(room)
    house = read_house(ROOT)
    layers = {title: {house.rooms[name].title for name in names} - {"version.py"} for title, names in house.layers}
    assert listed == layers


def test_every_file_that_the_guide_names_exists() -> None:
    named = [name for name in re.findall(r"`([\w/.]+/[\w.]*)`", CONTRIBUTING) if not re.search(r"NAME|a/", name)]
    assert len(named) > 60
    for name in named:
        assert any((folder / name).exists() for folder in (SOURCE, ROOT, ROOT / "src")), name


def test_every_class_and_function_that_the_guide_names_exists() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    for owner, name in re.findall(r"`([A-Z]\w+)\.(\w+)`", CONTRIBUTING):
        assert f"class {owner}" in source, owner
        assert f"def {name}(" in source, f"{owner}.{name}"


def test_the_example_of_a_method_works(tiny) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", CONTRIBUTING, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)  # noqa: S102 # our own
    length = names["Length"]
    assert length(shortest=4).description == "length (shortest 4)"
    with pytest.raises(ParameterError, match="`shortest` of length must be a whole number of at least 1. Got 0"):
        length(shortest=0)
    obfuscator = Obfuscator(tiny, decomposition="words", distribution=length(shortest=4))
    plot, music = obfuscator.obfuscate("plot music", epsilon=10).chunks
    assert (plot.share, music.share) == pytest.approx((5 / 9 * 10, 4 / 9 * 10))
    assert obfuscator.terms.distribution["options"] == {"shortest": 4}

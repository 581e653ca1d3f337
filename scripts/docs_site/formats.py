"""Tables of the fields of certificates, study files and bundles, written from their schema and their classes."""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sphinx.errors import ExtensionError
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring
from sphinx.pycode import ModuleAnalyzer

from textveil.bundles import DEFAULT_BUNDLE, Bundle, Manifest
from textveil.lab.study import study

SCHEMA = Path(__file__).parents[2] / "docs" / "certificate.schema.json"


class Field(NamedTuple):
    """A line of a table."""

    name: str
    kind: str
    needed: str
    meaning: str


def write_format_tables() -> dict[str, str]:
    """The tables by name, in Markdown."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts: list[type[BaseModel]] = [study.Study, study.DatasetSource, study.Target, study.Sample, study.CalibratedLevel]
    return {
        "certificate": _write_table(list_schema_fields(schema)),
        "manifest": _write_table(list_manifest_fields()),
        **{f"study_{part.__name__.lower()}": _write_table(list_study_fields(part)) for part in parts},
    }


def list_schema_fields(schema: Mapping[str, Any]) -> list[Field]:
    """The fields of a JSON schema, with a path for those inside others."""
    return list(_walk(schema, schema, ""))


def _walk(part: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[Field]:
    inherited = [_follow(each, schema) for each in part.get("allOf", ())]
    for name, given in [item for each in [*inherited, part] for item in each.get("properties", {}).items()]:
        own = {**_follow(given, schema), **given}
        here = f"{path}{name}"
        needed = "yes" if any(name in each.get("required", ()) for each in [*inherited, part]) else "no"
        yield Field(here, _name_type(own, schema), needed, own.get("description", ""))
        yield from _walk(own, schema, f"{here}.")
        for choice in own.get("oneOf", ()):
            yield from _walk(choice, schema, f"{here}.")
        items = own.get("items", {})
        yield from _walk({**_follow(items, schema), **items}, schema, f"{here}[].")


def _follow(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = part.get("$ref", "")
    found: Mapping[str, Any] = schema["$defs"][reference.rpartition("/")[2]] if reference else {}
    return found


def _name_type(part: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    if "enum" in part:
        return ", ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    if "anyOf" in part or "oneOf" in part:
        each = [{**_follow(one, schema), **one} for one in part.get("anyOf", part.get("oneOf", []))]
        return " or ".join(_name_type(one, schema) for one in each)
    kinds = part.get("type", "any")
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


def list_study_fields(model: type[BaseModel]) -> list[Field]:
    """The keys of a part of a study file."""
    comments = ModuleAnalyzer.for_module(model.__module__).find_attr_docs()
    fields = []
    for name, info in model.model_fields.items():
        meaning = " ".join(" ".join(comments.get((model.__name__, name), ())).split())
        fields.append(Field(name, _name_annotation(info.annotation), _say_default(info), meaning))
    return fields


def _say_default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True)
    return "none" if value is None else f"`{json.dumps(value)}`"


_WORDS: dict[Any, str] = {
    study.Options: "options",
    study.Scalar: "value",
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Path: "path",
}


def _name_annotation(annotation: Any) -> str:
    """A type in words."""
    if annotation in _WORDS:
        return _WORDS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return ", ".join(f"`{value}`" for value in parts)
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(dict.fromkeys(_name_annotation(part) for part in parts if part is not types.NoneType))
    last = _name_annotation(parts[0 if origin in {tuple, typing.Annotated} else -1]) if parts else "any value"
    return {tuple: f"list of {last}", dict: f"mapping from names to {last}"}.get(origin, last)


def list_manifest_fields() -> list[Field]:
    """The fields of ``bundle.json``, in the order of the class ``Manifest``."""
    settings: Any = Config(napoleon_use_ivar=True)
    text = str(GoogleDocstring(inspect.getdoc(Manifest) or "", settings))
    meanings = dict(re.findall(r"^\s*:ivar (\w+): (.*)$", text, flags=re.MULTILINE))
    lacking = [name for name in Manifest.__slots__ if name not in meanings]
    if lacking:
        raise ExtensionError(f"The docstring of Manifest says nothing about {', '.join(lacking)}. Add these fields.")
    hints = typing.get_type_hints(Manifest)
    stored = [*json.loads(Bundle.load(DEFAULT_BUNDLE).manifest.to_json())][1:]
    fields = [Field("format", "whole number", "yes", "The version of the format of bundles.")]
    for key, name in zip(stored, meanings, strict=True):  # two of them are spelled differently
        hint = hints[name]
        kind = "object" if typing.get_origin(hint) not in {None, types.UnionType} else _name_annotation(hint)
        fields.append(Field(key, kind, "yes", meanings[name].replace("``None``", "null")))
    return fields


def _write_table(fields: Iterable[Field]) -> str:
    """A Markdown table. A field without a meaning fails the build."""
    fields = list(fields)
    if lacking := [field.name for field in fields if not field.meaning]:
        raise ExtensionError(
            f"These fields have no description: {', '.join(lacking)}. Describe them where they are declared."
        )
    third = "default" if any(field.needed not in {"yes", "no"} for field in fields) else "always"
    lines = [f"| field | type | {third} | meaning |", "|---|---|---|---|"]
    for field in fields:
        cells = [f"`{field.name}`", field.kind, field.needed, field.meaning.replace("``", "`")]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"

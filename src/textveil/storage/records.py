"""Records: JSON with a format version, such as a certificate or a calibration, and the shape that it must have."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from textveil.errors import InputError, TextveilError

T = TypeVar("T")


def check_shape(value: Any, shape: Any) -> None:
    """Refuse a value without the right shape.

    Args:
        value: The value, as JSON gives it.
        shape: A type, where ``float`` is any number that is not negative; the shapes of values by name, where ``str``
            is any name; a list with the shape of all its parts; several allowed shapes as a tuple; or an allowed value,
            such as ``None``.

    Raises:
        ValueError: The shape is another one, or a name is missing.
    """
    if not _fits(value, shape):
        raise ValueError


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, tuple):
        return any(_fits(value, each) for each in shape)
    if isinstance(shape, dict) and str in shape:
        return isinstance(value, dict) and all(_fits(each, shape[str]) for each in value.values())
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(name in value and _fits(value[name], shape[name]) for name in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(each, shape[0]) for each in value)
    if shape is float:
        return type(value) in (int, float) and 0 <= value <= sys.float_info.max  # a huge int is less than infinity
    return type(value) is shape if isinstance(shape, type) else bool(value == shape)


@contextmanager
def reading_record(values: Any, kind: str, version: int) -> Iterator[None]:
    """Read the values of a record.

    Args:
        values: The values.
        kind: What the record is; its values have the version of the format under this name.
        version: The only version that can be read.

    Raises:
        InputError: The values are not such a record, or are of another format, or the block could not read them.
    """
    found = values.get(kind) if isinstance(values, dict) else None
    if type(found) is not int:
        raise InputError(f"This is not a {kind}. Give one that textveil wrote.")
    if found > version:
        raise InputError(f"The {kind} has format {found}; textveil reads up to {version} here. Update it.")
    if found < version:
        raise InputError(f"The {kind} has format {found}, which textveil no longer reads. Make it again.")
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, TextveilError) as error:
        raise InputError(f"The {kind} is incomplete or damaged. Give one that textveil wrote.") from error


def load_record(path: str | Path, read: Callable[[Any], T]) -> T:
    """Read a record from a JSON file.

    Raises:
        InputError: The file cannot be read, or is no such record.
    """
    try:
        return read(json.loads(Path(path).read_bytes()))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}. Check the path.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not JSON. Give a file that textveil wrote.") from error
    except InputError as error:
        raise InputError(f"{str(path)!r}: {error}") from error


def dump_record(values: Any) -> str:
    """A record as indented JSON."""
    return json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

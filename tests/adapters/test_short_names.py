"""``textveil.pandas`` and ``textveil.polars``: adapters under their short names."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import textveil

both = pytest.mark.parametrize("name", ["pandas", "polars"])


@both
def test_the_short_name_needs_no_import(name):
    adapter = importlib.import_module(f"textveil.adapters.{name}")
    assert getattr(textveil, name).obfuscate is adapter.obfuscate
    assert name in dir(textveil)


@both
def test_the_short_name_can_be_imported(name):
    short = importlib.import_module(f"textveil.{name}")
    assert short.obfuscate.__module__ == f"textveil.adapters.{name}"
    assert short.ObfuscatedFrame.__module__ == "textveil.adapters.columns"


@both
def test_the_library_is_loaded_at_first_use(name):
    code = f"import sys, textveil; textveil.{name}.obfuscate; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"textveil.adapters.{name}" in done.stdout.split()
    assert name not in done.stdout.split()

from __future__ import annotations

import subprocess
import sys

import textveil


def test_the_short_name_needs_no_import():
    from textveil.adapters import polars

    assert textveil.polars.obfuscate is polars.obfuscate
    assert "polars" in dir(textveil)


def test_the_short_name_can_be_imported():
    from textveil.polars import ObfuscatedFrame, obfuscate

    assert obfuscate.__module__ == "textveil.adapters.polars"
    assert ObfuscatedFrame.__module__ == "textveil.adapters.columns"


def test_the_library_is_loaded_at_first_use():
    code = "import sys, textveil; textveil.polars.obfuscate; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "textveil.adapters.polars" in done.stdout.split()
    assert "polars" not in done.stdout.split()

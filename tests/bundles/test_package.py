"""The public names of the package, and what importing it loads."""

import subprocess
import sys

import pytest

from textveil import bundles
from textveil.bundles.building import build_bundle
from textveil.bundles.vector_files import write_vectors


def test_public_names_exist_and_are_listed():
    for name in bundles.__all__:
        assert getattr(bundles, name) is not None
    assert set(bundles.__all__) <= set(dir(bundles))
    assert set(bundles._LAZY) < set(bundles.__all__)


def test_names_for_building_are_those_of_their_modules():
    assert bundles.build_bundle is build_bundle
    assert bundles.write_vectors is write_vectors


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'textveil.bundles' has no attribute 'nothing'"):
        _ = bundles.nothing


def test_obfuscation_does_not_load_what_only_building_needs():
    code = (
        "import sys, textveil.obfuscator; "
        "print(*(name for name in sys.modules if name.startswith('textveil.bundles.')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    needed = "bundle entries exact_index files prior spelling vectors".split()
    assert set(shown.split()) == {f"textveil.bundles.{name}" for name in needed}

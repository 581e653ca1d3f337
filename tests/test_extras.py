import pytest

from textveil.errors import MissingExtraError
from textveil.extras import require, require_version


def test_a_missing_package_is_named_with_its_extra():
    with pytest.raises(MissingExtraError, match=r"package 'no_such_package'.*pip install 'textveil\[parquet\]'"):
        require("no_such_package.part", extra="parquet")


def test_an_installed_module_is_imported():
    import json

    assert require("json", extra="parquet") is json


def test_the_version_of_a_package_or_its_extra():
    assert require_version("numpy", extra="neural")[0].isdigit()
    with pytest.raises(MissingExtraError, match=r"'no-such-package'.*pip install 'textveil\[neural\]'"):
        require_version("no-such-package", extra="neural")

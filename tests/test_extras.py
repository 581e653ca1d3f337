import pytest

from textveil.errors import MissingExtraError
from textveil.extras import require


def test_what_is_missing_is_named_with_the_extra_that_brings_it():
    with pytest.raises(MissingExtraError, match=r"package 'no_such_package'.*pip install 'textveil\[parquet\]'"):
        require("no_such_package.part", extra="parquet")


def test_what_is_there_is_imported():
    import json

    assert require("json", extra="parquet") is json

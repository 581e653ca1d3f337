import math

import pytest

from textveil.errors import InputError, ParameterError, TextveilError
from textveil.service.settings import Settings, is_loopback


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("192.0.2.1", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example.org", False),
        ("", False),
    ],
)
def test_loopback_addresses(host, expected):
    assert is_loopback(host) is expected


def test_an_open_address_needs_a_token(tmp_path):
    with pytest.raises(ParameterError, match="needs a token. Set `token_file`"):
        Settings(host="192.0.2.1")
    assert Settings(host="192.0.2.1", token_file=tmp_path / "token").host == "192.0.2.1"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"workers": 0}, "`workers` must be a whole number of at least 1"),
        ({"bytes": 0}, "`bytes`"),
        ({"texts": 0}, "`texts`"),
        ({"requests": -1}, "`requests`"),
        ({"seconds": 0}, "`seconds` must be positive and finite"),
        ({"seconds": math.nan}, "`seconds`"),
        ({"seconds": math.inf}, "`seconds`"),
        ({"port": 65536}, "`port` must be from 0 to 65535"),
        ({"origins": ("*",)}, "`origins` must name the origins"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        Settings(**settings)


def test_the_token_is_that_of_the_file(tmp_path):
    path = tmp_path / "token"
    path.write_text("  0123456789abcdef\n")
    assert Settings(token_file=path).read_token() == b"0123456789abcdef"
    assert Settings().read_token() is None


@pytest.mark.parametrize("content", [b"", b"short\n", b"0123456789 abcdef", b"\xff" * 20, b"x" * 2_000])
def test_a_bad_token_is_refused_without_quoting_it(tmp_path, content):
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(InputError, match="must hold one token") as caught:
        Settings(token_file=path).read_token()
    assert "abcdef" not in str(caught.value)


def test_a_token_that_every_user_can_choose_is_refused(tmp_path):
    path = tmp_path / "token"
    path.write_text("0123456789abcdef")
    path.chmod(0o666)
    with pytest.raises(InputError, match="Every user of this machine can write .* chmod 600"):
        Settings(token_file=path).read_token()
    path.chmod(0o444)  # as in a container
    assert Settings(token_file=path).read_token()


def test_a_token_file_that_is_missing(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        Settings(token_file=tmp_path / "none").read_token()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"profile": "strikt"}, "no profile 'strikt'. Did you mean 'strict'"),
        ({"mechanism": "flunet"}, "no mechanism 'flunet'. Did you mean 'fluent'"),
        ({"load": ("yaek",)}, "no distribution 'yaek'"),
        ({"identifiers": "redct"}, "no treatment of identifiers .* Did you mean 'redact'"),
        ({"identifiers": "redact", "profile": "proven"}, "profile 'proven' does not allow"),
        ({"bundles": ("nowhere",)}, "no bundle or folder 'nowhere'"),
    ],
)
def test_wrong_names_are_told_before_the_start(wrong, message):
    with pytest.raises(TextveilError, match=message):
        Settings(**wrong).check_names()

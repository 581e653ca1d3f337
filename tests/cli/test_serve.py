from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.service.settings import Settings


@pytest.fixture
def run(monkeypatch):
    """Runs the command without a server; the result, and the settings that the server would get."""
    given = []

    def start(settings, announce):
        given.append(settings)
        announce("http://127.0.0.1:8000")

    monkeypatch.setattr("textveil.cli.serve.run", start)

    def run(*arguments, **environment):
        given.clear()
        return CliRunner().invoke(app, ["serve", *map(str, arguments)], env=environment), given

    return run


def test_the_defaults_are_those_of_the_service(run):
    result, given = run()
    assert result.exit_code == 0, result.output
    assert given == [Settings()]
    assert result.stderr == "textveil listens at http://127.0.0.1:8000 (stop with Ctrl-C)\n"


def test_flags(run, tmp_path):
    result, given = run(
        *("--host", "192.0.2.1", "--port", 9, "--token-file", tmp_path / "token", "--workers", 3, "--bundle", "a"),
        *(
            "--bundle",
            "b",
            "--mechanism",
            "fluent",
            "--identifiers",
            "perturb",
            "--load",
            "yake",
            "--allow-seeds",
            "--allow-origin",
            "https://a.org",
        ),
        *("--bytes", 5, "--texts", 6, "--requests", 7, "--seconds", 8),
    )
    assert given == [
        Settings(
            host="192.0.2.1",
            port=9,
            token_file=Path(tmp_path / "token"),
            workers=3,
            bundles=("a", "b"),
            mechanism="fluent",
            identifiers="perturb",
            load=("yake",),
            allow_seeds=True,
            origins=("https://a.org",),
            bytes=5,
            texts=6,
            requests=7,
            seconds=8.0,
        )
    ]
    assert "Their noise is predictable" in result.stderr


def test_a_file_and_variables(run, tmp_path):
    path = tmp_path / "textveil.toml"
    path.write_text('[serve]\nport = 9\nbundle = ["a", "b"]\n')
    _, given = run("--config", path, TEXTVEIL_SERVE_BUNDLE="c,d", TEXTVEIL_SERVE_ALLOW_SEEDS="false")
    assert given == [Settings(port=9, bundles=("c", "d"))]
    _, given = run("--config", path)
    assert given == [Settings(port=9, bundles=("a", "b"))]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--host", "192.0.2.1"), "needs a token. Set --token-file, or leave out --host."),
        (("--bytes", 0), "--bytes must be a whole number of at least 1"),
        (("--allow-origin", "*"), "--allow-origin must name the origins"),
    ],
)
def test_wrong_flags(run, flags, message):
    result, given = run(*flags)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not given


def test_a_signal_is_no_failure(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("textveil.cli.serve.run", stop)
    result = CliRunner().invoke(app, ["serve"])
    assert (result.exit_code, result.stderr) == (0, "Stopped.\n")

"""The steps of the Dockerfile are read; slow: they are done, and the service is tried."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.release.try_container import ROOT, Container, read_steps

DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_steps_are_read_one_per_line() -> None:
    assert read_steps("# why\nFROM a AS b\n\nRUN x  y\n") == [("FROM", "a AS b"), ("RUN", "x  y")]
    for wrong in ("RUN x \\\n  y", "  y"):
        with pytest.raises(ValueError, match="Not an instruction on one line"):
            read_steps(wrong)


def test_paths_of_the_container_lead_into_the_folder(tmp_path: Path) -> None:
    container = Container(tmp_path)
    container.take("FROM", "python")
    container.take("WORKDIR", "/source")
    container.take("ENV", "PATH=/opt/x/bin:$PATH")
    (tmp_path / "tmp").mkdir()
    container.take("RUN", "echo http://127.0.0.1/run >/tmp/told 2>/dev/null")
    container.take("CMD", '["textveil", "serve"]')
    assert (tmp_path / "tmp" / "told").read_text() == "http://127.0.0.1/run\n"
    assert container.environment["PATH"].startswith(f"{tmp_path}/opt/x/bin:{tmp_path}/bin:")
    assert container.command == ["textveil", "serve"]
    with pytest.raises(ValueError, match="cannot do ADD"):
        container.take("ADD", "x y")


def test_only_what_the_image_needs_is_sent_to_the_engine() -> None:
    copied = [name for step, text in read_steps(DOCKERFILE) if step == "COPY" for name in text.split()[:-1]]
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert ignored[0] == "*"
    assert [name for name in copied if "=" not in name and not name.startswith("/")] == [
        name.removeprefix("!") for name in ignored if name.startswith("!")
    ]


def test_compose_runs_the_image_without_rights() -> None:
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text())
    service = composed["services"]["textveil"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    steps = dict(read_steps(DOCKERFILE))
    assert service["ports"] == [f"127.0.0.1:{steps['EXPOSE']}:{steps['EXPOSE']}"]
    assert f"TEXTVEIL_SERVE_TOKEN_FILE=/run/secrets/{service['secrets'][0]}" in DOCKERFILE
    assert list(composed["secrets"]) == service["secrets"]
    assert json.loads(steps["CMD"]) == ["textveil", "serve"]


@pytest.mark.slow
def test_the_container_serves() -> None:
    command = [sys.executable, "-m", "scripts.release.try_container"]
    subprocess.run(command, cwd=ROOT, check=True)

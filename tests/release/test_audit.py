"""An audit that audited nothing never looks like a clean one."""

import os
import subprocess
from pathlib import Path

import pytest

from scripts.release import audit as module
from scripts.release.audit import CLEAN, INCOMPLETE, VULNERABLE, Audit, audit, read_report

SAFE = {"name": "numpy", "version": "2.4.6", "vulns": []}
SKIPPED = {"name": "torch", "skip_reason": "Dependency not found on PyPI and could not be audited: torch (2.13.0)"}
HOLES = {
    "name": "rich",
    "version": "1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}, {"id": "PYSEC-2", "fix_versions": []}],
}


@pytest.mark.parametrize(
    ("packages", "code", "words"),
    [
        ([SAFE], CLEAN, "1 packages were audited. Known vulnerabilities: 0."),
        ([SAFE, SKIPPED], INCOMPLETE, "NOT AUDITED: 1 packages: torch."),
        ([SKIPPED, SKIPPED], INCOMPLETE, "NOT AUDITED: the vulnerability service knows none of the 2 packages."),
        ([], INCOMPLETE, "NOT AUDITED"),
        (
            [SAFE, HOLES],
            VULNERABLE,
            "rich 1.0: PYSEC-1, fixed in 1.1\nrich 1.0: PYSEC-2, fixed in no version\n2 packages",
        ),
        ([HOLES, SKIPPED], VULNERABLE, "NOT AUDITED: 1 packages: torch."),
    ],
)
def test_a_report_is_read(packages: list[dict], code: int, words: str) -> None:
    found = read_report({"dependencies": packages, "fixes": []})
    assert found.code == code
    assert words in found.describe()


def test_an_incomplete_audit_does_not_deny_vulnerabilities() -> None:
    described = Audit(skipped=("numpy",)).describe()
    assert "Known vulnerabilities: 0" not in described


def test_no_answer_is_not_a_clean_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = tmp_path / "python"
    failing.write_text("#!/bin/sh\necho 'could not connect' >&2\nexit 1\n")
    failing.chmod(0o700)
    monkeypatch.setattr(module.sys, "executable", str(failing))
    found = audit(tmp_path / "constraints.txt")
    assert found.code == INCOMPLETE
    assert found.describe() == "NOT AUDITED: pip-audit got no answer (could not connect)."


@pytest.mark.slow
def test_pip_audit_takes_our_constraints() -> None:
    tools = Path(__file__).parents[2] / ".venv-release/bin/python"
    if not os.access(tools, os.X_OK):
        pytest.skip("the tools of a release are not installed: make audit installs them")
    command = [str(tools), "-m", "scripts.release.audit", "constraints.txt"]
    result = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert result.returncode in {CLEAN, VULNERABLE, INCOMPLETE}, result.stderr
    assert "audited" in result.stdout.lower()

"""Ask pip-audit for known vulnerabilities of the pinned dependencies.

    .venv-release/bin/python -m scripts.release.audit constraints.txt

pip-audit reports success if its service knows none of the packages, for example because the package index is a mirror.
This script does not: it ends with 0 only if every package was audited and none has a known vulnerability, with 1 if one
has, and with 2 if the audit is incomplete.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLEAN, VULNERABLE, INCOMPLETE = 0, 1, 2


@dataclass(frozen=True)
class Audit:
    """What pip-audit found.

    Attributes:
        audited: The number of packages that were audited.
        skipped: The packages that could not be audited.
        vulnerable: A line per known vulnerability.
        failure: Why there is no answer at all; empty if there is one.
    """

    audited: int = 0
    skipped: tuple[str, ...] = ()
    vulnerable: tuple[str, ...] = ()
    failure: str = ""

    @property
    def code(self) -> int:
        """The exit code."""
        if self.vulnerable:
            return VULNERABLE
        return INCOMPLETE if self.skipped or self.failure or not self.audited else CLEAN

    def describe(self) -> str:
        """The result in words."""
        lines = list(self.vulnerable)
        if self.failure:
            lines.append(f"NOT AUDITED: pip-audit got no answer ({self.failure}).")
        elif not self.audited:
            lines.append(
                f"NOT AUDITED: the vulnerability service knows none of the {len(self.skipped)} packages. A mirror "
                "of PyPI often lacks it. Run make audit where pypi.org can be reached."
            )
        else:
            lines.append(f"{self.audited} packages were audited. Known vulnerabilities: {len(self.vulnerable)}.")
            if self.skipped:
                lines.append(f"NOT AUDITED: {len(self.skipped)} packages: {', '.join(self.skipped)}.")
        return "\n".join(lines)


def read_report(report: dict[str, Any]) -> Audit:
    """Read the JSON report of pip-audit."""
    audited, skipped, vulnerable = 0, [], []
    for package in report["dependencies"]:
        if "skip_reason" in package:
            skipped.append(package["name"])
            continue
        audited += 1
        for known in package["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "no version"
            vulnerable.append(f"{package['name']} {package['version']}: {known['id']}, fixed in {fixed}")
    return Audit(audited, tuple(skipped), tuple(vulnerable))


def audit(requirements: Path, *, service: str = "pypi") -> Audit:
    """Run pip-audit on a file of exact versions."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(requirements), "--no-deps", "--disable-pip"]
    options = ["--vulnerability-service", service, "--format", "json", "--progress-spinner", "off"]
    result = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    try:
        return read_report(json.loads(result.stdout))
    except (json.JSONDecodeError, KeyError):
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        return Audit(failure=last)


def main() -> None:
    """Print the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("requirements", type=Path, help="a file with exact versions")
    parser.add_argument("--service", choices=("pypi", "osv"), default="pypi", help="the vulnerability service")
    arguments = parser.parse_args()
    found = audit(arguments.requirements, service=arguments.service)
    print(found.describe())
    sys.exit(found.code)


if __name__ == "__main__":
    main()

"""The analysis of a study's results: tests, means, figures and a report."""

from textveil.analysis.cells import Group
from textveil.analysis.findings import Findings, SettingFindings, analyze
from textveil.analysis.output import check_folder, write_report
from textveil.analysis.results import Results, read_results

__all__ = [
    "Findings",
    "Group",
    "Results",
    "SettingFindings",
    "analyze",
    "check_folder",
    "read_results",
    "write_report",
]

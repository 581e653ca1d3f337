"""Draw the figures of the documentation from results.

    python scripts/draw_figures.py RESULTS.csv --output docs/figures

``textveil analyze RESULTS.csv --output FOLDER`` writes the same figures, with a report and tables.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from textveil.lab.report.figures import draw_all, render_svg
from textveil.lab.report.findings import analyze
from textveil.lab.report.results import read_results
from textveil.storage.atomic import writing


def main() -> None:
    """Write every figure as SVG."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--prefix", default="", help="prefix of the file names")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for name, figure in draw_all(analyze(read_results(options.results))).items():
        with writing(options.output / f"{options.prefix}{name}.svg") as stream:
            stream.write(render_svg(figure).encode())


if __name__ == "__main__":
    main()

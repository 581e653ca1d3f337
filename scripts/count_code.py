"""Count the code of the package: files, lines of code, classes, functions, and public names.

A line of code is a line that is neither blank, nor a comment, nor part of a docstring.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "textveil"
_LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def list_code_lines(source: str) -> set[int]:
    """The numbers of the lines of code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return lines


def list_function_lengths(source: str) -> Iterator[int]:
    """The number of lines of code of each function."""
    lines = list_code_lines(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _FUNCTIONS):
            yield len(lines.intersection(range(node.lineno, (node.end_lineno or node.lineno) + 1)))


def main() -> None:
    """Print a row per package, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, nargs="?", default=SOURCE, help="The package. By default src/textveil.")
    root = parser.parse_args().source
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    lengths: list[int] = []
    for path in sorted(root.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        parts = path.relative_to(root).parts
        package = "/".join(parts[:2] if len(parts) > 2 else parts[:-1]) or "."
        files[package] += 1
        lines[package] += len(list_code_lines(source))
        classes.update(node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
        lengths += list_function_lengths(source)
    for package in sorted(files):
        print(f"{lines[package]:6,} lines {files[package]:4} files  {package}")
    print(f"{lines.total():6,} lines {files.total():4} files  in all")
    twice = sorted(name for name, count in classes.items() if count > 1)
    print(f"{classes.total()} classes, {len(twice)} class names used more than once: {', '.join(twice)}")
    print(f"{len(lengths)} functions; 95 % have at most {sorted(lengths)[int(0.95 * len(lengths))]} lines")


if __name__ == "__main__":
    main()

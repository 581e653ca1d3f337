"""The README's first example is found, run and compared."""

import os
from pathlib import Path

import pytest

from scripts.release.try_wheel import Step, compare, read_first_example

README = """# A

```python
print(1)
```

```console
$ echo "a b"
a b
$ true
$ printf 'c\\nd\\n'
c
d
```

```console
$ echo other
```
"""


def test_only_the_first_example_is_read() -> None:
    assert read_first_example(README) == [
        Step('echo "a b"', "a b\n"),
        Step("true", ""),
        Step("printf 'c\\nd\\n'", "c\nd\n"),
    ]


def test_a_readme_without_an_example_is_refused() -> None:
    with pytest.raises(ValueError, match="no example"):
        read_first_example("# A\n")


def test_the_readme_has_an_example_with_output() -> None:
    steps = read_first_example((Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8"))
    assert steps
    assert all(step.command.startswith("textveil ") and step.output for step in steps)


def test_an_example_that_holds_has_no_differences(tmp_path: Path) -> None:
    assert compare(read_first_example(README), tmp_path, dict(os.environ)) == []


@pytest.mark.parametrize("command", ["echo b", "echo a; false", "echo a; echo warning >&2"])
def test_differences_are_reported(command: str, tmp_path: Path) -> None:
    (problem,) = compare([Step(command, "a\n")], tmp_path, dict(os.environ))
    assert problem.startswith(f"$ {command}\nexpected:\na\n")

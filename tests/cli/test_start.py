import subprocess
import sys
from pathlib import Path

import pytest

TEXT = "The soup was cold, and the waiter rude."


def test_a_full_device_is_reported():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "textveil.cli.start", "obfuscate", TEXT],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: the system says:")


def test_a_text_loads_nothing_that_only_files_and_other_commands_need():
    code = (
        "import sys; from textveil.cli.start import main; sys.argv = ['textveil', 'obfuscate', 'lovely tea']\n"
        "try: main()\n"
        "except SystemExit: print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[1].split())
    assert not loaded & {
        "jinja2", "sqlite3", "nupunkt", "textveil.jobs", "textveil.ledger", "textveil.cli.prepare",
    }  # fmt: skip
    assert not any(name.startswith("textveil.lab") for name in loaded)


@pytest.mark.parametrize("module", ["typer", "textveil.cli.main", "textveil.cli.obfuscate"])
def test_an_interruption_during_the_imports_ends_quietly(module):
    program = f"""
import sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["textveil", "obfuscate", "tea"]
from textveil.cli.start import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr

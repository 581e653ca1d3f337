"""The entry point of ``textveil``, which ends quietly if it is interrupted while it starts."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line."""
    gc.disable()  # imports and the parser allocate much that stays, and nothing to collect
    try:
        from textveil.cli.main import main as run_command
    except KeyboardInterrupt:  # nothing was begun that must be ended
        sys.exit(130)
    gc.enable()
    run_command()


if __name__ == "__main__":
    main()

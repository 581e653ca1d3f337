"""The peak memory of a process."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def measure_peak() -> int | None:
    """The most bytes of memory that this process has used at a time; ``None`` if the system does not say.

    Files that are mapped into memory count as far as they are in memory, also if other processes share them.
    """
    try:
        # Unlike getrusage, this does not count what the parent used before it started the process.
        found = _PEAK.search(_STATUS.read_text(encoding="ascii", errors="replace"))
    except OSError:
        found = None
    return _measure_usage() if found is None else int(found[1]) << 10


def _measure_usage() -> int | None:
    """The peak by the counters of POSIX, in bytes on macOS and in KiB elsewhere."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10

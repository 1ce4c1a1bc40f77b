"""The memory that this process takes."""

import sys

import psutil


def peak_memory() -> int:
    """Return the most bytes that this process has held so far."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

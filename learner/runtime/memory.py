"""The memory that this process takes."""

import sys
from contextlib import suppress
from pathlib import Path

import psutil

SHARE = 0.9  # of the memory: the database and the app need some, too
CONTAINER = Path("/sys/fs/cgroup/memory.max")  # where Linux says how much a container may take


def peak_memory() -> int:
    """Return the most bytes that this process has held so far."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def limit_memory() -> None:
    """Let this process take what the machine, or its container, has and no more; on Linux alone.

    Otherwise the system ends any process when memory runs out, such as the database.
    """
    if sys.platform != "linux":
        return
    import resource

    total = psutil.virtual_memory().total
    with suppress(OSError, ValueError):  # no container, or one without a limit
        total = min(total, int(CONTAINER.read_text(encoding="utf-8")))
    most = int(SHARE * total)
    lowest, highest = resource.getrlimit(resource.RLIMIT_DATA)
    if lowest == resource.RLIM_INFINITY or most < lowest:
        resource.setrlimit(resource.RLIMIT_DATA, (most, highest))

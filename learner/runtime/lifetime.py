"""The lifetime of a process that another one started."""

import multiprocessing
import os
import threading
from multiprocessing import connection


def end_with_parent() -> None:
    """Make this process end as soon as its parent is gone, however that ended."""
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)

"""How a process is started by another one, and that it ends with it."""

import multiprocessing
import os
import threading
from multiprocessing import connection
from typing import Literal

START: Literal["spawn"] = "spawn"  # a fork would share the parent's threads and its GPU


def end_with_parent() -> None:
    """Make this process end as soon as its parent is gone, however that ended."""
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)

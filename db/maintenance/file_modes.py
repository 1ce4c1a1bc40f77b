"""Close what is stored to other users of the machine: earlier versions wrote what everybody could read."""

import os
import stat
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from allpairs.db.files.private import FILE, FOLDER, OTHER_USERS
from allpairs.db.schema.engine import artifacts, database_url, home, sqlite_file

# What we write in the home folder: if somebody names a folder with other files as home, those keep their modes.
OUR_FILES = ("allpairs.db*", "jobs.db*", "artifacts*", "backups", "cached")


def close_home() -> list[str]:
    """Close the home folder, the artifacts and the database; return a line each for what was closed and what not.

    There is no line if nothing was open.
    """
    trees = {artifacts(), *(place.resolve() for name in OUR_FILES for place in home().glob(name))}
    if (file := sqlite_file(database_url())) is not None:
        trees |= {Path(f"{file}{ending}") for ending in ("", "-wal", "-shm")}
    results = Counter(map(_close, chain([str(home())], *map(_at_or_below, trees))))
    lines = []
    if results[True]:
        lines.append(f"closed {_counted(results[True])} of {home()} to other users of this machine")
    if results[False]:
        problem = f"could not close {_counted(results[False])} of {home()} to other users of this machine"
        lines.append(f"{problem}: let their owner run chmod -R go= {home()}")
    return lines


def close_tree(tree: Path) -> None:
    """Close the folder and everything in it. Links are not followed."""
    for path in _at_or_below(tree):
        _close(path)


def _counted(number: int) -> str:
    return "1 file or folder" if number == 1 else f"{number:,} files and folders"


def _at_or_below(tree: Path) -> Iterator[str]:
    yield str(tree)
    for folder, folders, files in os.walk(tree):
        yield from (f"{folder}/{name}" for name in chain(folders, files))


def _close(path: str) -> bool | None:
    """Return whether the file or folder is closed now; None if it was before, is a link, or has just been removed."""
    try:
        mode = os.lstat(path).st_mode
        if os.name == "nt" or stat.S_ISLNK(mode) or not mode & OTHER_USERS:
            return None
        Path(path).chmod(FOLDER if stat.S_ISDIR(mode) else FILE)
        return not os.lstat(path).st_mode & OTHER_USERS  # some file systems take no modes
    except FileNotFoundError:
        return None
    except OSError:
        return False

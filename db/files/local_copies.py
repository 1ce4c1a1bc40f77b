"""This machine's copies of a store's artifacts.

A note for each one, in `ALLPAIRS_HOME/cached`, lists its files and tells by its age when it was last used. The files
themselves are in the artifact folder, where jobs write theirs. Users of an artifact hold a shared lock on it, and only
unlocked artifacts are removed to make room. The system releases the locks of a killed process.
"""

import json
import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

import portalocker
from portalocker import LockFlags

from allpairs.db.errors import InputError
from allpairs.db.files.home import artifacts, home

BYTES = 50 * 2**30  # unless ALLPAIRS_CACHE_BYTES says otherwise
LEFT = 86_400  # seconds after which a partial file must be left by a killed process


@contextmanager
def held_copy(name: str, flags: LockFlags = LockFlags.SHARED) -> Iterator[None]:
    """Keep other processes from removing the copy until the block ends. Raises AlreadyLocked if it does not wait."""
    with _locked(_beside(name, "lock"), flags):
        yield


@contextmanager
def written_copy(name: str) -> Iterator[None]:
    """Keep other processes from removing or writing what is here under this name until the block ends."""
    with held_copy(name), _locked(_beside(name, "written"), LockFlags.EXCLUSIVE):
        yield


@contextmanager
def at_rest(name: str) -> Iterator[bool]:
    """Yield whether nobody is writing it here, which would be newer than the store's, and keep it so."""
    try:
        file = _locked(_beside(name, "written"), LockFlags.SHARED | LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked:
        yield False
        return
    with file:
        yield True


def note(name: str, files: Collection[str]) -> None:
    """Note the files of the copy and that it was just used; remove files that it no longer has."""
    _remove(name, set(_noted(name)) - set(files))
    part = new_part()  # threads of one process may write the same note
    part.write_text(json.dumps(sorted(files)), encoding="utf-8")
    part.replace(_beside(name, "json"))


def forget_copy(name: str) -> None:
    """Remove the copy."""
    _remove(name, _noted(name))
    for ending in ("json", "lock", "written"):
        with suppress(PermissionError):  # Windows removes no file that is open
            _beside(name, ending).unlink(missing_ok=True)


def new_part() -> Path:
    """Return a temporary path on the right disk for a file that is being fetched."""
    return _folder() / f"{uuid4().hex}.part"


def make_room() -> None:
    """Remove the least recently used copies that nobody holds, until all copies fit the limit."""
    for part in _folder().glob("*.part"):
        if time.time() - _about(part)[0] > LEFT:
            part.unlink(missing_ok=True)
    names = [_name(note) for note in sorted(_folder().rglob("*.json"), key=_about)]
    sizes = {name: sum(_about(file)[1] for file in _there(name, _noted(name))) for name in names}
    over = sum(sizes.values()) - _limit()
    for name in names:
        if over <= 0:
            return
        with suppress(portalocker.AlreadyLocked), held_copy(name, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING):
            forget_copy(name)
            over -= sizes[name]


def _limit() -> int:
    limit = os.environ.get("ALLPAIRS_CACHE_BYTES", str(BYTES))
    if not limit.isdecimal():
        raise InputError(
            f"ALLPAIRS_CACHE_BYTES={limit} is not a number of bytes: set it to a whole number, or unset it"
        )
    return int(limit)


def _noted(name: str) -> list[str]:
    """Return the files of the copy, by their paths in the artifact; none if there is no copy."""
    try:
        return list(json.loads(_beside(name, "json").read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return []


def _remove(name: str, files: Collection[str]) -> None:
    for file in _there(name, files):
        file.unlink(missing_ok=True)


def _there(name: str, files: Collection[str]) -> list[Path]:
    return [path for file in files if (path := artifacts() / name / file).is_file()]


def _about(path: Path) -> tuple[float, int]:
    """Return when the file was changed, and its size; zeros if it has just been removed."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0.0, 0
    return status.st_mtime, status.st_size


def _locked(path: Path, flags: LockFlags) -> IO[str]:
    """Open the file and lock it; the lock ends when the file is closed."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf-8")
        try:
            portalocker.lock(file, flags)
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        except FileNotFoundError:  # removed while waiting: try the next one, as below
            pass
        except BaseException:
            file.close()
            raise
        file.close()


def _name(note: Path) -> str:
    return note.relative_to(_folder()).as_posix().removesuffix(".json")


def _beside(name: str, ending: str) -> Path:
    return _folder() / f"{name}.{ending}"


def _folder() -> Path:
    return home() / "cached"

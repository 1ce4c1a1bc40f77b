"""What this machine has of a store's artifacts: a note for each one, in `ALLPAIRS_HOME/cached`, which says when it was
used last. The files themselves lie in the artifact folder, where jobs write theirs.

Whoever uses an artifact holds a shared lock on it, and only what nobody holds is removed to make room. The system
lets go of the locks of a process that was killed.
"""

import fcntl
import json
import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from db.errors import InputError
from db.files.home import artifacts, home

BYTES = 50 * 2**30  # unless ALLPAIRS_CACHE_BYTES says otherwise
LEFT = 86_400  # seconds after which a part is one that a killed process left


@contextmanager
def held(name: str, how: int = fcntl.LOCK_SH) -> Iterator[None]:
    """Nothing; until the end of the block no other process removes the copy. Raises BlockingIOError as flock does."""
    with _locked(_beside(name, "lock"), how):
        yield


@contextmanager
def written(name: str) -> Iterator[None]:
    """Nothing; until the end of the block no other process removes or writes what lies here under this name."""
    with held(name), _locked(_beside(name, "written"), fcntl.LOCK_EX):
        yield


@contextmanager
def at_rest(name: str) -> Iterator[bool]:
    """Whether nobody is writing it here, which then is newer than the store's; nor begins to, until the block ends."""
    try:
        file = _locked(_beside(name, "written"), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
        return
    with file:
        yield True


def note(name: str, files: Collection[str]) -> None:
    """Nothing; these are the files of the copy, and it was used just now. Those it had beside them are gone."""
    _remove(name, set(_noted(name)) - set(files))
    part = new_part()  # threads of one process note the same one, too
    part.write_text(json.dumps(sorted(files)))
    part.replace(_beside(name, "json"))


def forget(name: str) -> None:
    """Nothing; there is no copy."""
    _remove(name, _noted(name))
    for ending in ("json", "lock", "written"):
        _beside(name, ending).unlink(missing_ok=True)


def new_part() -> Path:
    """Where a file on its way from the store can lie, on the disk on which it is to be."""
    return _folder() / f"{uuid4().hex}.part"


def make_room() -> None:
    """Nothing; all copies together have no more bytes than they may, or are in use. Those used last stay."""
    for part in _folder().glob("*.part"):
        if time.time() - _about(part)[0] > LEFT:
            part.unlink(missing_ok=True)
    names = [_name(note) for note in sorted(_folder().rglob("*.json"), key=_about)]
    sizes = {name: sum(_about(file)[1] for file in _there(name, _noted(name))) for name in names}
    over = sum(sizes.values()) - _limit()
    for name in names:
        if over <= 0:
            return
        with suppress(BlockingIOError), held(name, fcntl.LOCK_EX | fcntl.LOCK_NB):
            forget(name)
            over -= sizes[name]


def _limit() -> int:
    said = os.environ.get("ALLPAIRS_CACHE_BYTES", str(BYTES))
    if not said.isdecimal():
        raise InputError(f"ALLPAIRS_CACHE_BYTES={said} is no number of bytes: set it to one, or leave it out")
    return int(said)


def _noted(name: str) -> list[str]:
    """The files of the copy, by their paths in the artifact; none where there is no copy."""
    try:
        return list(json.loads(_beside(name, "json").read_text()))
    except (FileNotFoundError, ValueError):
        return []


def _remove(name: str, files: Collection[str]) -> None:
    for file in _there(name, files):
        file.unlink(missing_ok=True)


def _there(name: str, files: Collection[str]) -> list[Path]:
    return [path for file in files if (path := artifacts() / name / file).is_file()]


def _about(path: Path) -> tuple[float, int]:
    """When the file was changed, and its bytes; nothing of one that is gone by now."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return 0.0, 0
    return about.st_mtime, about.st_size


def _locked(path: Path, how: int) -> IO[str]:
    """The open file with this lock on it, which ends when it is closed."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
        try:
            fcntl.flock(file, how)
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        except FileNotFoundError:  # removed while it was waited for; then the next one counts, as it does below
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

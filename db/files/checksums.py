"""Checksums of files that jobs write to the artifact folder: stored when written, verified when loaded."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from zipfile import ZipFile

from allpairs.db.errors import InputError
from allpairs.db.files.arrays import DAMAGE
from allpairs.db.files.atomic import atomic_write

FILE = "checksums.json"  # in a folder: the SHA-256 of its files by path


class Damaged(InputError):
    """A file or object is damaged or missing, and may be made again if possible."""


def seal(folder: Path, files: Iterable[Path] | None = None) -> None:
    """Store the checksums of these files of the folder, or of all its files."""
    before: dict[str, str] = {}
    if files is None:
        files = (path for path in folder.rglob("*") if path.is_file() and path.name != FILE)
    with suppress(InputError):  # unreadable checksums are replaced
        before = _noted(folder)
    noted = before | {str(path.relative_to(folder)): file_digest(path) for path in files}
    with atomic_write(folder / FILE) as part:
        part.write_text(json.dumps(noted, indent=1), encoding="utf-8")


def seal_models(folder: Path) -> None:
    """Store the checksums of every folder of weights at or below this one."""
    for model in {path.parent for path in folder.rglob("*.safetensors")}:
        seal(model)


def is_whole(path: Path) -> bool:
    """Return whether the file matches its folder's checksums; True if they do not name it."""
    try:
        noted = _noted(path.parent).get(path.name)
    except InputError:
        return False
    return path.is_file() and noted in (None, file_digest(path))


def damaged(folder: Path) -> Iterator[Path]:
    """Yield the files that are missing or do not match the folder's checksums; none without checksums."""
    for name, noted in _noted(folder).items():
        path = folder / name
        if not path.is_file() or file_digest(path) != noted:
            yield path


def require_whole(folder: Path) -> None:
    """Raise InputError if a file of the folder is missing or does not match its checksum."""
    for path in damaged(folder):
        raise not_whole(path, folder)


def not_whole(path: Path, folder: Path) -> Damaged:
    """Return the error that says that this file of the folder is damaged or missing, and what to do."""
    return Damaged(
        f"the file {path} is damaged or missing: its checksum does not match. Restore {folder} from a "
        "back-up, or remove that folder and prepare the next batch, which trains a new model"
    )


def problems_below(folder: Path) -> Iterator[str]:
    """Yield a sentence for each damaged file below the folder, by checksums and by the CRCs of .npz files.

    What is in hidden folders is being made, or was when its maker was killed.
    """
    for noted in _seen_below(folder, FILE):
        try:
            yield from (f"the file is damaged or missing: {path}" for path in damaged(noted.parent))
        except InputError as error:
            yield str(error)
    for path in _seen_below(folder, "*.npz"):
        if not _is_readable(path):
            yield f"the file is damaged: {path}"


def _seen_below(folder: Path, pattern: str) -> list[Path]:
    paths = folder.rglob(pattern)
    return sorted(path for path in paths if not any(name.startswith(".") for name in path.relative_to(folder).parts))


def _is_readable(path: Path) -> bool:
    try:
        with ZipFile(path) as archive:
            return archive.testzip() is None
    except FileNotFoundError:  # a job has just removed it
        return True
    except DAMAGE:
        return False


def _noted(folder: Path) -> dict[str, str]:
    """Return the folder's checksums. Raises InputError if they cannot be read."""
    file = folder / FILE
    try:
        noted = dict(json.loads(file.read_text(encoding="utf-8")))
        if not all(is_below(name) for name in noted):
            raise ValueError("names outside the folder")
        return noted
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, TypeError, RecursionError):
        raise InputError(f"the file {file} is damaged: restore it from a back-up, or remove {folder}") from None


def is_below(name: str) -> bool:
    """Return whether the name is a path below a folder, whatever the system: from somebody else it may be none."""
    parts = name.replace("\\", "/").split("/")
    return name.isprintable() and ":" not in name and not {"", ".", ".."} & set(parts)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of the file, computed once as long as it does not change."""
    status = path.stat()
    return _digest_of(path, status.st_size, status.st_mtime_ns, status.st_ino)


@lru_cache(maxsize=1_000)  # each search reads the same vectors; for a million items hashing takes seconds
def _digest_of(path: Path, size: int, changed: int, inode: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

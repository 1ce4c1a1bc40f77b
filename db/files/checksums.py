"""Checksums of what jobs leave in the artifact folder: noted when it is written, compared when it is loaded."""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from db.errors import InputError
from db.files.atomic import atomic_write

FILE = "checksums.json"  # in a folder: the SHA-256 of its files, by their paths in it
DAMAGE = (BadZipFile, EOFError, KeyError, ValueError, zlib.error)  # raised by a damaged .npz, a zip file with CRCs


class Damaged(InputError):
    """A file or object is damaged, or gone: what can be made again may be made again."""


def seal(folder: Path, files: Iterable[Path] | None = None) -> None:
    """Nothing; the folder's checksums name these files of it (all that lie in it) as they are now."""
    before: dict[str, str] = {}
    if files is None:
        files = (path for path in folder.rglob("*") if path.is_file() and path.name != FILE)
    with suppress(InputError):  # checksums that cannot be read are replaced
        before = _noted(folder)
    noted = before | {str(path.relative_to(folder)): digest(path) for path in files}
    with atomic_write(folder / FILE) as part:
        part.write_text(json.dumps(noted, indent=1))


def seal_models(folder: Path) -> None:
    """Nothing; each folder of weights in this one, and itself, has its checksums."""
    for model in {path.parent for path in folder.rglob("*.safetensors")}:
        seal(model)


def is_whole(path: Path) -> bool:
    """Whether the file is as its folder's checksums say; where they do not name it, nothing is known against it."""
    try:
        noted = _noted(path.parent).get(path.name)
    except InputError:
        return False
    return path.is_file() and noted in (None, digest(path))


def damaged(folder: Path) -> Iterator[Path]:
    """The files that are missing or are not what the folder's checksums say; none where it has no checksums."""
    for name, noted in _noted(folder).items():
        path = folder / name
        if not path.is_file() or digest(path) != noted:
            yield path


def require_whole(folder: Path) -> None:
    """Nothing. Raises InputError where a file of the folder is missing or is not what its checksums say."""
    for path in damaged(folder):
        raise not_whole(path, folder)


def not_whole(path: Path, folder: Path) -> Damaged:
    """The error that says that this file of the folder is damaged or missing, and what to do."""
    return Damaged(
        f"{path} is damaged or missing: it is not the file that was written there. Bring {folder} back from a "
        "back-up, or remove that folder and make the next batch, which trains a new model"
    )


def problems_below(folder: Path) -> Iterator[str]:
    """A sentence for each damaged file below the folder: by checksums, and by the CRCs that .npz files have."""
    for noted in sorted(folder.rglob(FILE)):
        try:
            yield from (f"the file is damaged or missing: {path}" for path in damaged(noted.parent))
        except InputError as error:
            yield str(error)
    for path in sorted(folder.rglob("*.npz")):
        if not _is_readable(path):
            yield f"the file is damaged: {path}"


def _is_readable(path: Path) -> bool:
    try:
        with ZipFile(path) as archive:
            return archive.testzip() is None
    except FileNotFoundError:  # a job has removed it meanwhile
        return True
    except DAMAGE:
        return False


def _noted(folder: Path) -> dict[str, str]:
    """What the folder's checksums say. Raises InputError where they cannot be read."""
    file = folder / FILE
    try:
        return dict(json.loads(file.read_text()))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, TypeError):
        raise InputError(f"{file} is damaged: bring it back from a back-up, or remove {folder}") from None


def digest(path: Path) -> str:
    """The SHA-256 of the file, worked out once as long as it does not change."""
    about = path.stat()
    return _digest_of(path, about.st_size, about.st_mtime_ns, about.st_ino)


@lru_cache(maxsize=1_000)  # a search asks for the same vectors each time: seconds, of a million items
def _digest_of(path: Path, size: int, changed: int, inode: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

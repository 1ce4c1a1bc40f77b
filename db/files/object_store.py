"""Artifacts in an object store reached through fsspec: objects, and a manifest for each name, written last.

    manifests/project-3/ab/model.json                   the files: size, SHA-256, object
    objects/project-3/ab/model/20261122T143000-4f…/…    files of one `put`; the prefix tells its time

Objects are never changed. A name without a manifest does not exist, whatever objects lie below it.
"""

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from allpairs.db.errors import InputError
from allpairs.db.files.checksums import Damaged, file_digest, is_below

MANIFESTS = "manifests"
OBJECTS = "objects"
TIME = "%Y%m%dT%H%M%S"
OBSTORE = ("s3", "gs", "az")  # address schemes for obstore, which replaces each vendor's client
FULL = (errno.ENOSPC, errno.EDQUOT)
NEVER = datetime.max.replace(tzinfo=UTC)
PATIENCE = timedelta(seconds=30)  # how long to retry a server that does not respond


@dataclass(frozen=True)
class Entry:
    """A file of an artifact: its size, its SHA-256, and the object that holds it."""

    size: int
    sha256: str
    key: str

    def is_in(self, path: Path) -> bool:
        """Return whether the path holds this file."""
        return path.is_file() and path.stat().st_size == self.size and file_digest(path) == self.sha256


Manifest = dict[str, Entry]  # by the file's path in the artifact; the path is empty if the artifact is a file


class Store:
    """The artifacts below an address. Errors of the server become an InputError that names the address."""

    def __init__(self, address: str) -> None:
        self.address = address
        with self._asked():
            self.files, self.root = _opened(address)

    def read(self, name: str) -> Manifest | None:
        """Return the files of the artifact; None if it does not exist. Raises InputError for a damaged manifest."""
        key = self._manifest(name)
        try:
            with self._asked():
                text = self.files.cat_file(key)
        except FileNotFoundError:
            return None
        try:
            entries = {path: Entry(**entry) for path, entry in json.loads(text).items()}
            if not all(path == "" or is_below(path) for path in entries):
                raise ValueError("files outside the artifact")
            return entries
        except (ValueError, TypeError, AttributeError):
            raise Damaged(f"{self.address}: the object {key} is damaged: restore it from a back-up") from None

    def put(self, name: str, files: Mapping[str, Path], within: str = "", replace: bool = False) -> Manifest:
        """Replace the artifact's files at or below `within` by these, all or none; return the new manifest.

        Files that are already there are not sent, unless `replace`: their objects may be damaged.
        """
        before = self._readable(name) if replace else self.read(name) or {}
        version = f"{OBJECTS}/{name}/{datetime.now(UTC):{TIME}}-{uuid4().hex[:8]}"
        after = {path: entry for path, entry in before.items() if not is_within(path, within)}
        for path, file in files.items():
            entry = None if replace else before.get(path)
            while entry is None or not entry.is_in(file):  # repeat if the file changed while it was sent
                entry = Entry(file.stat().st_size, file_digest(file), f"{version}/{path or Path(name).name}")
                self._send(file, entry.key)
            after[path] = entry
        text = json.dumps({path: asdict(entry) for path, entry in after.items()})
        with self._asked():
            self._make_folder(self._manifest(name))
            self.files.pipe_file(self._manifest(name), text.encode())
        return after

    def _readable(self, name: str) -> Manifest:
        """Return the files of the artifact; none if its manifest is damaged, so that it can be replaced."""
        try:
            return self.read(name) or {}
        except Damaged:
            return {}

    def _send(self, file: Path, key: str) -> None:
        with self._asked():
            self._make_folder(f"{self.root}/{key}")
            self.files.put_file(str(file), f"{self.root}/{key}")

    def _make_folder(self, key: str) -> None:
        """Create the folder of this key, for file systems that have folders, unlike object stores."""
        self.files.makedirs(key.rpartition("/")[0], exist_ok=True)

    def fetch(self, entry: Entry, path: Path) -> bool:
        """Fetch the file; return whether it is complete, False if the object is missing or damaged."""
        try:
            with self._asked():
                self.files.get_file(f"{self.root}/{entry.key}", str(path))
        except FileNotFoundError:
            return False
        return entry.is_in(path)

    def delete(self, name: str) -> None:
        """Delete the artifact. Objects that only a damaged manifest names are left as garbage."""
        entries = self._readable(name)
        self.remove(f"{MANIFESTS}/{name}.json")
        for entry in entries.values():
            self.remove(entry.key)

    def remove(self, key: str) -> None:
        """Delete the object, if it exists."""
        with self._asked(), suppress(FileNotFoundError):
            self.files.rm_file(f"{self.root}/{key}")

    def names(self, below: str = "") -> list[str]:
        """Return the names of the artifacts at or below a place, sorted."""
        ending = len(".json")
        keys = (key[:-ending] for key in self._keys(MANIFESTS, below.rpartition("/")[0]))
        return sorted(name for name in keys if is_within(name, below))

    def objects(self) -> dict[str, int]:
        """Return the sizes of all objects by key, whether or not a manifest names them."""
        return {f"{OBJECTS}/{key}": size for key, size in self._keys(OBJECTS, "").items()}

    def _keys(self, kind: str, below: str) -> dict[str, int]:
        """Return the sizes of the objects of a kind by the rest of their keys."""
        top = f"{self.root}/{kind}"
        with self._asked():
            self.files.invalidate_cache()
            files = self.files.find(f"{top}/{below}".rstrip("/"), detail=True)
        return {str(entry["name"]).removeprefix(f"{top}/"): int(entry["size"]) for entry in files.values()}

    def _manifest(self, name: str) -> str:
        return f"{self.root}/{MANIFESTS}/{name}.json"

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Turn exceptions of the server or its client into one line, except for missing files and a full local disk."""
        try:
            yield
        except (FileNotFoundError, InputError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise
            message = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"cannot use the object store {self.address} ({message}): check that it is running, and that "
                "ALLPAIRS_ARTIFACTS and its access keys are right"
            ) from error


def is_within(path: str, place: str) -> bool:
    """Return whether the path is at or below the place; everything is below the empty place."""
    return not place or path == place or path.startswith(f"{place}/")


def written_at(key: str) -> datetime:
    """Return when the `put` started that wrote the object; NEVER for an object of anybody else."""
    times = (_time(part) for part in reversed(key.split("/")[:-1]))
    return next((time for time in times if time is not None), NEVER)


def _time(part: str) -> datetime | None:
    try:
        return datetime.strptime(part.partition("-")[0], TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


@lru_cache(maxsize=4)  # connections are reused
def _opened(address: str) -> tuple[Any, str]:
    """Return the file system of the address, and the path in it. Raises InputError if a package is missing."""
    try:
        import fsspec

        kind: Any
        kind, _, path = address.partition("://")
        if kind in OBSTORE:
            from obstore.fsspec import FsspecStore

            return FsspecStore(kind, retry_config={"retry_timeout": PATIENCE}), path.strip("/")
        files, path = fsspec.core.url_to_fs(address, use_listings_cache=False)
        return files, path.rstrip("/")
    except ImportError as error:
        raise InputError(
            f"ALLPAIRS_ARTIFACTS={address} needs {error.name or error}: run pip install -r requirements-s3.txt"
        ) from None

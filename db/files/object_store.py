"""Artifacts in a store that fsspec reaches: a manifest for each name, written last, and the objects that it names.

manifests/project-3/ab/model.json                   the files: size, SHA-256, object
objects/project-3/ab/model/20261122T143000-4f…/…    files as one `put` left them; its beginning says when

An object is never changed. A name without a manifest does not exist, whatever lies below it.
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

from db.errors import InputError
from db.files.checksums import Damaged, digest

MANIFESTS, OBJECTS, TIME = "manifests", "objects", "%Y%m%dT%H%M%S"
OBSTORE = ("s3", "gs", "az")  # kinds of address that obstore speaks, in place of a client of each maker
FULL = (errno.ENOSPC, errno.EDQUOT)
NEVER = datetime.max.replace(tzinfo=UTC)
PATIENCE = timedelta(seconds=30)  # for a server that does not answer


@dataclass(frozen=True)
class Entry:
    """A file of an artifact: its size, its SHA-256, and the object that holds it."""

    size: int
    sha256: str
    key: str

    def is_in(self, path: Path) -> bool:
        """Whether the path holds this file."""
        return path.is_file() and path.stat().st_size == self.size and digest(path) == self.sha256


Manifest = dict[str, Entry]  # by the file's path in the artifact; the empty one where the artifact is a file


class Store:
    """The artifacts below an address. Whatever the server refuses is an InputError that names the address."""

    def __init__(self, address: str) -> None:
        self.address = address
        with self._asked():
            self.files, self.root = _opened(address)

    def read(self, name: str) -> Manifest | None:
        """The files of the artifact; nothing where there is none. Raises InputError for a damaged manifest."""
        key = self._manifest(name)
        try:
            with self._asked():
                text = self.files.cat_file(key)
        except FileNotFoundError:
            return None
        try:
            return {path: Entry(**entry) for path, entry in json.loads(text).items()}
        except (ValueError, TypeError, AttributeError):
            raise Damaged(f"{self.address}: the object {key} is damaged: bring it back from a back-up") from None

    def put(self, name: str, files: Mapping[str, Path], within: str = "", again: bool = False) -> Manifest:
        """The artifact's files, of which those at or below `within` are now these: all of them, or nothing has changed.

        A file that is there already is not sent, unless `again`: its object may be damaged.
        """
        before = self._readable(name) if again else self.read(name) or {}
        version = f"{OBJECTS}/{name}/{datetime.now(UTC):{TIME}}-{uuid4().hex[:8]}"
        after = {path: entry for path, entry in before.items() if not is_within(path, within)}
        for path, file in files.items():
            entry = None if again else before.get(path)
            while entry is None or not entry.is_in(file):  # nor is it after it was sent, if it was changed meanwhile
                entry = Entry(file.stat().st_size, digest(file), f"{version}/{path or Path(name).name}")
                self._send(file, entry.key)
            after[path] = entry
        text = json.dumps({path: asdict(entry) for path, entry in after.items()})
        with self._asked():
            self._make_folder(self._manifest(name))
            self.files.pipe_file(self._manifest(name), text.encode())
        return after

    def _readable(self, name: str) -> Manifest:
        """The files of the artifact; none where its manifest is damaged and is to be replaced."""
        try:
            return self.read(name) or {}
        except Damaged:
            return {}

    def _send(self, file: Path, key: str) -> None:
        with self._asked():
            self._make_folder(f"{self.root}/{key}")
            self.files.put_file(str(file), f"{self.root}/{key}")

    def _make_folder(self, key: str) -> None:
        """Nothing; what has folders, as no object store has, has the one of this key."""
        self.files.makedirs(key.rpartition("/")[0], exist_ok=True)

    def fetch(self, entry: Entry, path: Path) -> bool:
        """Whether the path holds the file now, as it was written; not where the object is gone or damaged."""
        try:
            with self._asked():
                self.files.get_file(f"{self.root}/{entry.key}", str(path))
        except FileNotFoundError:
            return False
        return entry.is_in(path)

    def delete(self, name: str) -> None:
        """Nothing; there is no such artifact any more. Objects that a damaged manifest named are left as garbage."""
        entries = self._readable(name)
        self.remove(f"{MANIFESTS}/{name}.json")
        for entry in entries.values():
            self.remove(entry.key)

    def remove(self, key: str) -> None:
        """Nothing; there is no such object any more."""
        with self._asked(), suppress(FileNotFoundError):
            self.files.rm_file(f"{self.root}/{key}")

    def names(self, below: str = "") -> list[str]:
        """The names of the artifacts at or below a place, in their order."""
        ending = len(".json")
        found = (key[:-ending] for key in self._keys(MANIFESTS, below.rpartition("/")[0]))
        return sorted(name for name in found if is_within(name, below))

    def objects(self) -> dict[str, int]:
        """The sizes of all objects by their keys, whether a manifest names them or not."""
        return {f"{OBJECTS}/{key}": size for key, size in self._keys(OBJECTS, "").items()}

    def _keys(self, kind: str, below: str) -> dict[str, int]:
        """The sizes of the objects of a kind by the rest of their keys."""
        top = f"{self.root}/{kind}"
        with self._asked():
            self.files.invalidate_cache()
            found = self.files.find(f"{top}/{below}".rstrip("/"), detail=True)
        return {str(about["name"]).removeprefix(f"{top}/"): int(about["size"]) for about in found.values()}

    def _manifest(self, name: str) -> str:
        return f"{self.root}/{MANIFESTS}/{name}.json"

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Turns what a server or its client raises into one line; what is not there, and a full disk here, stay."""
        try:
            yield
        except (FileNotFoundError, InputError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"the store {self.address} does not answer, or refuses ({said}): see whether it runs, and whether "
                "ALLPAIRS_ARTIFACTS and the keys for it are right"
            ) from error


def is_within(path: str, place: str) -> bool:
    """Whether the path is the place or below it; everything is below the empty one."""
    return not place or path == place or path.startswith(f"{place}/")


def written_at(key: str) -> datetime:
    """When the `put` began that left the object of this key; never, for an object of somebody else."""
    times = (_time(part) for part in reversed(key.split("/")[:-1]))
    return next((time for time in times if time is not None), NEVER)


def _time(part: str) -> datetime | None:
    try:
        return datetime.strptime(part.partition("-")[0], TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


@lru_cache(maxsize=4)  # a connection is kept, and used again
def _opened(address: str) -> tuple[Any, str]:
    """The file system of the address, and its path there. Raises InputError where a package for it is missing."""
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
            f"ALLPAIRS_ARTIFACTS={address} needs {error.name or error}: pip install -r requirements-s3.txt"
        ) from None

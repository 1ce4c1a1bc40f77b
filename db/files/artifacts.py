"""Artifacts as local paths, and the object store that shares them between machines.

A path below the artifact folder is the same on all machines. Readers use `held`, writers use `publishing`. Without an
object store the folder itself is shared, and neither does anything.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from shutil import rmtree

from allpairs.db.files import local_copies
from allpairs.db.files.checksums import not_whole
from allpairs.db.files.home import artifacts, name_of, place_of, store_address
from allpairs.db.files.object_store import Entry, Store, is_within
from allpairs.db.files.private import private_files

TMP = ".tmp"  # suffix of files and folders that are being written


def store() -> Store | None:
    """Return the object store of `ALLPAIRS_ARTIFACTS`; None if that is a folder."""
    address = store_address()
    return Store(address) if address else None


@contextmanager
def held(path: Path) -> Iterator[Path]:
    """Yield the path with a complete local copy of what the store has at or below it, until the block ends.

    Raises InputError if the store's file is damaged or missing, and if the store does not respond.
    """
    with ExitStack() as stack:
        if location := _in_store(path):
            with private_files():  # commands that write elsewhere read artifacts, too
                _hold(stack, *location)
        yield path


def _hold(stack: ExitStack, remote: Store, place: str) -> None:
    """Lock the local copies of all that is at or below the place until the stack ends, and complete them."""
    brought = False
    for name in _names(remote, place):
        stack.enter_context(local_copies.held_copy(name))
        brought |= _bring(remote, name, place)
    if brought:
        local_copies.make_room()


@contextmanager
def publishing(path: Path) -> Iterator[Path]:
    """Yield the path and publish what the block writes at or below it; until then only this machine sees it."""
    location = _in_store(path)
    name = name_of(location[1]) if location else None
    with local_copies.written_copy(name) if name else nullcontext():
        yield path
        publish_files(path)


def publish_files(path: Path, replace: bool = False) -> None:
    """Send what lies at or below the path to the store, replacing what it had, for all to see at once.

    replace: also send files that the store already has, since they may be damaged there.
    """
    if not (location := _in_store(path)):
        return
    remote, place = location
    for name in sorted({name for file in _files(path) if (name := name_of(str(place_of(file))))}):
        with local_copies.held_copy(name):
            root = artifacts() / name
            within = _within(place, name)
            files = {_path_in(root, file): file for file in _files(root / within)}
            local_copies.note(name, remote.put(name, files, within, replace))
    local_copies.make_room()


def is_there(path: Path) -> bool:
    """Return whether there is anything at the path, on any machine."""
    if not (location := _in_store(path)):
        return path.exists()
    remote, place = location
    name = name_of(place)
    if name is None:
        return bool(remote.names(place))
    return any(is_within(file, _within(place, name)) for file in remote.read(name) or ())


def size_of(path: Path) -> int:
    """Return the number of bytes at or below the path."""
    if not (location := _in_store(path)):
        return sum(file.stat().st_size for file in _files(path))
    remote, place = location
    return sum(entry.size for name in remote.names(place) for entry in (remote.read(name) or {}).values())


def children(folder: Path) -> set[str]:
    """Return the names of what lies in the folder, here and in the store."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if location := _in_store(folder):
        remote, place = location
        names |= {name.removeprefix(f"{place}/").split("/")[0] for name in remote.names(place)}
    return names


def discard(path: Path) -> None:
    """Remove everything at the path, here and in the store."""
    if location := _in_store(path):
        remote, place = location
        for name in remote.names(place):
            remote.delete(name)
            local_copies.forget_copy(name)
    if path.is_dir():
        rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _in_store(path: Path) -> tuple[Store, str] | None:
    """Return the store and the path's place in it; None without a store or outside the artifact folder."""
    remote = store()
    place = place_of(path) if remote is not None else None
    return None if remote is None or place is None else (remote, place)


def _names(remote: Store, place: str) -> list[str]:
    """Return the artifacts that the place is, is part of, or contains."""
    name = name_of(place)
    return remote.names(place) if name is None else [name]


def _bring(remote: Store, name: str, place: str) -> bool:
    """Fetch the missing files of the artifact at or below the place; return whether there were any."""
    brought = False
    with local_copies.at_rest(name) as at_rest:
        manifest = remote.read(name) if at_rest else None
        for file, entry in (manifest or {}).items():
            target = artifacts() / name / file
            if is_within(file, _within(place, name)) and not entry.is_in(target):
                _fetch(remote, entry, target)
                brought = True
        if manifest is not None:
            local_copies.note(name, manifest)
        elif at_rest:  # another machine may have removed it: forget the copy
            local_copies.forget_copy(name)
    return brought


def _fetch(remote: Store, entry: Entry, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = local_copies.new_part()  # elsewhere than the target: others may be reading its folder
    try:
        if not remote.fetch(entry, part):
            raise not_whole(target, target.parent)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _within(place: str, name: str) -> str:
    """Return the place as a path in the artifact; empty for all of it."""
    return place.removeprefix(name).removeprefix("/") if is_within(place, name) else ""


def _path_in(root: Path, file: Path) -> str:
    """Return the file's path in its artifact; empty if the artifact is a file."""
    return "" if file == root else file.relative_to(root).as_posix()


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return [file for file in path.rglob("*") if file.is_file() and not file.name.endswith(TMP)]

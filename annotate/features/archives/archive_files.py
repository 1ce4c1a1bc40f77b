"""The files of a project's archive, as they arrive: where each belongs, and how much all of them may take up."""

import shutil
from collections.abc import Sequence
from errno import ENOSPC
from pathlib import Path, PurePosixPath
from typing import Final
from zipfile import ZipFile, ZipInfo

import numpy as np

from allpairs.annotate.features.archives.project_export import COPIED, DESIGNS, MODELS, OLD_SCORES, VECTORS
from allpairs.db.domain import PICKLED
from allpairs.db.maintenance.transfer import Numbering
from allpairs.db.projects.matchers import SCORES
from allpairs.db.schema.engine import artifacts

MOST_PACKED: Final = 200  # an archive may unpack to so many times its size; tables of text reach 30
PACKED = (".npz", ".zip")
DECKS = "decks.npz"  # of a design
# in sampling orders and scores: arrays of item ids
SIDES = ("left.npy", "right.npy", "decided_left.npy", "decided_right.npy")


def require_room(members: Sequence[ZipInfo], packed: Path) -> None:
    """Raise ValueError if the file unpacks to more than is plausible, OSError if the disk lacks the space."""
    size = _plausible_size(members, packed)
    artifacts().mkdir(parents=True, exist_ok=True)
    if size > shutil.disk_usage(artifacts()).free:
        raise OSError(ENOSPC, f"it unpacks to {size:,} bytes, but the disk has less space")


def _plausible_size(members: Sequence[ZipInfo], packed: Path) -> int:
    """Return how many bytes the file unpacks to. Raises ValueError if they are very many for its size."""
    size = sum(info.file_size for info in members)  # reading stops at these sizes, whatever follows
    if size > MOST_PACKED * max(packed.stat().st_size, 1 << 20):
        raise ValueError(f"it would unpack to {size:,} bytes")
    return size


def unpack(bundle: ZipFile, folder: Path, packed: Path) -> None:
    """Unpack the files of models, vectors and designs to where a project keeps them.

    Raises ValueError for a bad name, and if the file unpacks to very much for its size. What is packed in its files
    counts unpacked, too: it is read into the memory.
    """
    folder.mkdir(parents=True)
    members = list(bundle.infolist())
    for info in bundle.infolist():
        place = _place(info)
        if place is None:
            continue
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        with bundle.open(info) as source, target.open("wb") as out:
            shutil.copyfileobj(source, out, COPIED)
        if target.suffix in PACKED:
            with ZipFile(target) as inner:
                members += inner.infolist()
            _plausible_size(members, packed)


def _place(info: ZipInfo) -> Path | None:
    """Return where a file of the archive belongs below the project's folder; None for tables. Raises ValueError."""
    parts = PurePosixPath(info.filename).parts
    rounds = ("round-{}",)
    kinds = {MODELS: (*rounds, "model"), OLD_SCORES: rounds, VECTORS: rounds, DESIGNS: ("design-{}",)}
    if info.is_dir() or not parts or parts[0] not in kinds:
        return None
    if len(parts) < 3 or not parts[1].isdecimal() or any(part in ("..", "/") or "\\" in part for part in parts):
        raise ValueError(f"bad file name {info.filename[:60]!r}")
    if parts[-1].lower().endswith(PICKLED):
        raise ValueError(f"{info.filename[:60]!r} could run code when it is read: save the model as safetensors")
    return Path(*(part.format(parts[1]) for part in kinds[parts[0]]), *parts[2:])


def renumber_files(folder: Path, items: Numbering) -> None:
    """Give sampling orders and scores the new item ids. Raises KeyError and ValueError for what they cannot hold."""
    for file in (*folder.glob(f"design-*/{DECKS}"), *folder.glob(f"round-*/{SCORES}")):
        _renumber(file, items)


def _renumber(file: Path, items: Numbering) -> None:
    """Rewrite the file of arrays with the new item ids. Other arrays are copied in chunks."""
    partial = file.with_suffix(".tmp")
    with ZipFile(file) as source, ZipFile(partial, "w") as target:
        require_room(source.infolist(), file)
        for info in source.infolist():
            with source.open(info) as old, target.open(info.filename, "w", force_zip64=True) as new:
                if info.filename in SIDES:
                    ids = np.lib.format.read_array(old, allow_pickle=False)
                    renewed = np.array([items.of(id_) for id_ in ids.tolist()], dtype=np.int64)
                    np.lib.format.write_array(new, renewed, allow_pickle=False)
                else:
                    shutil.copyfileobj(old, new, COPIED)
    partial.replace(file)

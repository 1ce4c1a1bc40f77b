"""Where Allpairs keeps its files, and which of them are separate artifacts."""

import os
import re
from pathlib import Path

# Artifacts below the artifact folder: a folder or file that is complete on its own and has this name in a store.
_NAMES = re.compile(
    r"project-\d+/matches(?=/|$)"
    r"|project-\d+/explore/searches/[^/]+"
    r"|project-\d+/(?!explore/searches$)[^/]+/[^/]+"
    r"|pipelines/[^/]+/suggestions/[^/]+"
    r"|pipelines/[^/]+/(?!suggestions$)[^/]+"
    r"|experiments/[^/]+"
)


def home() -> Path:
    """Return the folder of all stored data: `ALLPAIRS_HOME`, else `.allpairs` in the working folder."""
    return Path(os.environ.get("ALLPAIRS_HOME", ".allpairs")).resolve()


def artifacts() -> Path:
    """Return the folder of models and embeddings: `ALLPAIRS_ARTIFACTS` if that is a folder, else one in `home()`.

    If it is the address of an object store, the folder holds this machine's copies.
    """
    place = os.environ.get("ALLPAIRS_ARTIFACTS", "")
    return Path(place).resolve() if place and not is_address(place) else (home() / "artifacts").resolve()


def store_address() -> str | None:
    """Return the address of the object store for artifacts, `s3://bucket/prefix`; None if they are in a folder."""
    place = os.environ.get("ALLPAIRS_ARTIFACTS", "")
    return place if is_address(place) else None


def is_address(place: str) -> bool:
    """Return whether this is the address of an object store, not a folder."""
    return "://" in place


def place_of(path: Path) -> str | None:
    """Return the path below the artifact folder; None for a path elsewhere."""
    try:
        place = path.resolve().relative_to(artifacts()).as_posix()
    except ValueError:
        return None
    return "" if place == "." else place


def name_of(place: str) -> str | None:
    """Return the name of the artifact that a place is, or is part of; None for folders above."""
    match = _NAMES.match(place)
    return match[0] if match else None

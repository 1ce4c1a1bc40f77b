"""Where Allpairs keeps its files, and which of them are artifacts of their own."""

import os
import re
from pathlib import Path

# What jobs leave below the artifact folder, each part as a whole: a folder or a file that a store knows by this name.
_NAMES = re.compile(
    r"project-\d+/matches(?=/|$)"
    r"|project-\d+/explore/searches/[^/]+"
    r"|project-\d+/(?!explore/searches$)[^/]+/[^/]+"
    r"|pipelines/[^/]+/(?:opinions|suggestions)/[^/]+"
    r"|pipelines/[^/]+/(?!(?:opinions|suggestions)$)[^/]+"
    r"|experiments/[^/]+"
)


def home() -> Path:
    """The folder of everything that Allpairs stores: `ALLPAIRS_HOME`, else `.allpairs` in the working folder."""
    return Path(os.environ.get("ALLPAIRS_HOME", ".allpairs")).resolve()


def artifacts() -> Path:
    """The folder of models and embeddings: `ALLPAIRS_ARTIFACTS`, where that is a folder, else one in `home()`.

    Where it is the address of a store, the folder holds what this machine has of it.
    """
    place = os.environ.get("ALLPAIRS_ARTIFACTS", "")
    return Path(place).resolve() if place and not is_address(place) else (home() / "artifacts").resolve()


def store_address() -> str | None:
    """The address of the store in which artifacts lie: `s3://bucket/prefix`; nothing where the folder is all."""
    place = os.environ.get("ALLPAIRS_ARTIFACTS", "")
    return place if is_address(place) else None


def is_address(place: str) -> bool:
    """Whether this is the address of a store, not a folder."""
    return "://" in place


def place_of(path: Path) -> str | None:
    """The path below the artifact folder; nothing for what lies elsewhere."""
    try:
        place = path.resolve().relative_to(artifacts()).as_posix()
    except ValueError:
        return None
    return "" if place == "." else place


def name_of(place: str) -> str | None:
    """The name of the artifact that a place below the artifact folder is, or is part of; nothing for folders above."""
    found = _NAMES.match(place)
    return found[0] if found else None

"""Explorations: what the worker prepares of a project under one matcher, in a folder that the app reads.

A folder holds `pairs.npz`, the best pairs of all items, the best first: left, right (int64, item ids), score (float32);
and `known.npz`, every labelled and every gold pair: left, right, score, label and gold (int8: 1, 0, or -1 for none),
and equal texts of two lists, equal: bool.
`exploration.json` is written last: a folder that has it is complete.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import UTC
from pathlib import Path

from allpairs.db.files.artifacts import children, discard
from allpairs.db.files.json_file import read_json, write_json
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import StoredModel

FOLDER = "explore"  # below the project's
PAIRS = "pairs.npz"
KNOWN = "known.npz"
_DETAILS = "exploration.json"
_SEARCHES = "searches"
MOST_SEARCHES = 100  # results to keep for each project


@dataclass(frozen=True)
class Exploration:
    """What was prepared. pairs: of all items; kept: how many of the best are stored; seconds: time taken.

    cutoff: the last answer among the known pairs. times: how many times as many pairs there are for each match as among
    evaluation pairs; 1 without evaluation pairs.
    """

    number: int
    pairs: int
    kept: int
    known: int
    cutoff: int
    times: float
    seconds: float
    texts: int = 0  # number of the newest change of texts


@dataclass(frozen=True)
class Hit:
    """An item that a search found, its score, and p if the matcher has an output layer.

    why: what each part adds to the log-odds of a match, in words; empty where the search did not ask, or the score has
    only one part.
    """

    item_id: int
    score: float
    p: float | None
    why: str = ""


@dataclass(frozen=True)
class Search:
    """The query, a text or an item, and the nearest items under the matcher of this number, best first."""

    job_id: str
    number: int
    text: str
    item_id: int | None
    hits: list[Hit]


def exploration_folder(matcher: StoredModel) -> Path:
    """Return the folder of the exploration under this matcher; a matcher that replaces it has another one."""
    made = matcher.created_at.astimezone(UTC)
    return _project(matcher.project_id) / f"{matcher.number}-{made:%Y%m%d%H%M%S%f}"


def write_exploration(folder: Path, exploration: Exploration) -> None:
    """Mark the folder, which already has the arrays, as complete."""
    write_json(folder / _DETAILS, asdict(exploration))


def read_exploration(folder: Path) -> Exploration | None:
    """Return what was prepared; None if nothing was, or not completely."""
    try:
        return Exploration(**read_json(folder / _DETAILS))
    except FileNotFoundError:
        return None


def keep_explorations(project_id: int, folders: Collection[Path]) -> None:
    """Delete the project's explorations in other folders than these."""
    kept = {folder.name for folder in folders} | {_SEARCHES}
    for name in children(_project(project_id)) - kept:
        discard(_project(project_id) / name)


def write_search(project_id: int, search: Search) -> None:
    """Store the result of the search, and delete the oldest ones."""
    path = _search(project_id, search.job_id)
    write_json(path, asdict(search))
    for old in sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)[:-MOST_SEARCHES]:
        discard(old)


def read_search(project_id: int, job_id: str) -> Search | None:
    """Return the result of the search; None if there is none yet, or no longer."""
    try:
        stored = read_json(_search(project_id, job_id))
    except FileNotFoundError:
        return None
    return Search(**stored | {"hits": [Hit(**hit) for hit in stored["hits"]]})


def _project(project_id: int) -> Path:
    return artifacts() / f"project-{project_id}" / FOLDER


def _search(project_id: int, job_id: str) -> Path:
    return _project(project_id) / _SEARCHES / f"{job_id}.json"

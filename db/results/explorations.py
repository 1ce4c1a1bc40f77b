"""Explorations: what the worker prepares of a project under one matcher, in a folder that the app reads.

A folder holds `pairs.npz`, the best pairs of all items, the best first: left, right (int64, item ids), score (float32);
and `known.npz`, every labelled and every gold pair: left, right, score and, 1, 0 or -1 where there is none, label, gold
(int8). `exploration.json` is written last: a folder that has it is whole.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import UTC
from pathlib import Path

from db.files.artifacts import children, discard
from db.files.json_file import read_json, write_json
from db.schema.engine import artifacts
from db.schema.tables import Matcher

FOLDER = "explore"  # below the project's
PAIRS, KNOWN = "pairs.npz", "known.npz"
_DETAILS, _SEARCHES = "exploration.json", "searches"
MOST_SEARCHES = 100  # results that are kept for each project


@dataclass(frozen=True)
class Exploration:
    """What was prepared. pairs: of all items; kept: the best of them, which lie in the file; seconds: what it took.

    cutoff: the last answer that is among the known pairs. times: how many times as many pairs there are
    for each right one as among evaluation pairs; 1 where none measure.
    """

    number: int
    pairs: int
    kept: int
    known: int
    cutoff: int
    times: float
    seconds: float


@dataclass(frozen=True)
class Hit:
    """An item that a search found, its score with what was asked for, and p where the matcher has an output layer."""

    item_id: int
    score: float
    p: float | None


@dataclass(frozen=True)
class Search:
    """What was asked for, a text or an item, and the nearest items under the matcher of this number, best first."""

    job_id: str
    number: int
    text: str
    item_id: int | None
    hits: list[Hit]


def exploration_folder(matcher: Matcher) -> Path:
    """Where the exploration under this matcher lies; a matcher that takes its place has another one."""
    made = matcher.created_at.astimezone(UTC)
    return _project(matcher.project_id) / f"{matcher.number}-{made:%Y%m%d%H%M%S%f}"


def write_exploration(folder: Path, exploration: Exploration) -> None:
    """Nothing; the folder, in which the arrays lie already, is whole."""
    write_json(folder / _DETAILS, asdict(exploration))


def read_exploration(folder: Path) -> Exploration | None:
    """What was prepared; nothing where nothing was, or not all of it."""
    try:
        return Exploration(**read_json(folder / _DETAILS))
    except FileNotFoundError:
        return None


def keep_explorations(project_id: int, folders: Collection[Path]) -> None:
    """Nothing; explorations of the project in other folders than these are gone."""
    kept = {folder.name for folder in folders} | {_SEARCHES}
    for name in children(_project(project_id)) - kept:
        discard(_project(project_id) / name)


def write_search(project_id: int, search: Search) -> None:
    """Nothing; the result can be read, and the oldest ones are gone."""
    path = _search(project_id, search.job_id)
    write_json(path, asdict(search))
    for old in sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)[:-MOST_SEARCHES]:
        discard(old)


def read_search(project_id: int, job_id: str) -> Search | None:
    """The result of the search; nothing while there is none, and where it is too long ago."""
    try:
        stored = read_json(_search(project_id, job_id))
    except FileNotFoundError:
        return None
    return Search(**stored | {"hits": [Hit(**hit) for hit in stored["hits"]]})


def _project(project_id: int) -> Path:
    return artifacts() / f"project-{project_id}" / FOLDER


def _search(project_id: int, job_id: str) -> Path:
    return _project(project_id) / _SEARCHES / f"{job_id}.json"

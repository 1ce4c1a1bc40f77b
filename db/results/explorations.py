"""Explorations: what the worker prepares of a project under one matcher, in a folder that the app reads.

A folder holds `pairs.npz`, the best pairs of all items, the best first: left, right (int64, item ids), score (float32);
and `known.npz`, every labelled and every gold pair: left, right, score, label and gold (int8: 1, 0, or -1 for none),
and equal texts of two lists, equal: bool.
`exploration.json` is written last: a folder that has it is complete.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from allpairs.db.files.artifacts import children, discard
from allpairs.db.files.json_file import write_json
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import StoredModel

FOLDER = "explore"  # below the project's
PAIRS = "pairs.npz"
KNOWN = "known.npz"
_DETAILS = "exploration.json"
SEARCHES = "searches"  # beside the folders of the matchers


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
    texts: int  # number of the newest change of texts


def exploration_folder(matcher: StoredModel) -> Path:
    """Return the folder of the exploration under this matcher; a matcher that replaces it has another one."""
    created_at = matcher.created_at.astimezone(UTC)
    return explorations_folder(matcher.project_id) / f"{matcher.number}-{created_at:%Y%m%d%H%M%S%f}"


def write_exploration(folder: Path, exploration: Exploration) -> None:
    """Mark the folder, which already has the arrays, as complete."""
    write_json(folder / _DETAILS, exploration)


def read_exploration(folder: Path) -> Exploration | None:
    """Return what was prepared; None if nothing was, or not completely."""
    return read_result(folder / _DETAILS, Exploration)


def keep_explorations(project_id: int, folders: Collection[Path]) -> None:
    """Delete the project's explorations in other folders than these."""
    names = {folder.name for folder in folders} | {SEARCHES}
    for name in children(explorations_folder(project_id)) - names:
        discard(explorations_folder(project_id) / name)


def explorations_folder(project_id: int) -> Path:
    """Return the folder of the project's explorations."""
    return artifacts() / f"project-{project_id}" / FOLDER

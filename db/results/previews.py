"""Previews: the first pairs that a batch would have, in a file that the worker writes and the app reads."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from allpairs.db.files.json_file import read_json, write_json
from allpairs.db.schema.engine import artifacts

FOLDER = "previews"  # below the project's; deleted as soon as the next round is made


@dataclass(frozen=True)
class PreviewPair:
    """Two items, their score under the newest model, and p if that has an output layer."""

    left_id: int
    right_id: int
    score: float
    p: float | None


@dataclass(frozen=True)
class Preview:
    """The first pairs of a batch under these settings.

    chosen_by: the strategy of the settings, or its replacement while no model is trained; matcher: the number of the
    newest model, 0 or None for the pre-trained encoder.
    """

    job_id: str
    settings: dict[str, Any]
    chosen_by: str
    matcher: int | None
    pairs: list[PreviewPair]

    @property
    def strategy(self) -> str:
        """The strategy that was previewed."""
        return str(self.settings["strategy"])


def write_preview(project_id: int, preview: Preview) -> None:
    """Store the preview in place of its strategy's previous one."""
    write_json(_folder(project_id) / f"{preview.strategy}.json", asdict(preview))


def read_preview(project_id: int, strategy: str) -> Preview | None:
    """Return the strategy's newest preview; None if there is none since the last round."""
    try:
        stored = read_json(_folder(project_id) / f"{strategy}.json")
    except FileNotFoundError:
        return None
    return Preview(**stored | {"pairs": [PreviewPair(**pair) for pair in stored["pairs"]]})


def _folder(project_id: int) -> Path:
    return artifacts() / f"project-{project_id}" / FOLDER

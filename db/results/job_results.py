"""Results of the jobs that answer a question and change nothing: the worker writes each to a file, the app reads it.

A preview is asked for by settings, a search by a text, suggested questions by a passage.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.db.files.artifacts import discard
from allpairs.db.files.json_file import write_json
from allpairs.db.results.explorations import SEARCHES, explorations_folder
from allpairs.db.results.pipelines import pipeline_folder
from allpairs.db.schema.engine import artifacts

PREVIEWS = "previews"  # below the project's folder; deleted as soon as the next round is made
MOST_SEARCHES = 100  # results to keep for each project


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


@dataclass(frozen=True)
class Hit:
    """An item near the query, its score, and p if the matcher has an output layer.

    why: what each part adds to the log-odds of a match, in words; empty where the search did not ask, or the score has
    only one part.
    """

    item_id: int
    score: float
    p: float | None
    why: str


@dataclass(frozen=True)
class Search:
    """The query, a text or an item, and the nearest items under the matcher of this number, best first."""

    job_id: str
    number: int
    text: str
    item_id: int | None
    hits: list[Hit]


@dataclass(frozen=True)
class SuggestionRequest:
    """What questions are suggested about: a generator, by its place in the outputs of its run, and a passage."""

    run_id: str
    number: int
    item_id: int

    @property
    def path(self) -> Path:
        """The file of the suggestions, in the run's folder."""
        return pipeline_folder(self.run_id) / "suggestions" / f"{self.number}-{self.item_id}.json"


@dataclass(frozen=True)
class Suggestion:
    """A question, and the generator's mean negative log-likelihood of its tokens: lower is likelier."""

    question: str
    nll: float


def preview_path(project_id: int, strategy: str) -> Path:
    """Return the file of the strategy's newest preview."""
    return artifacts() / f"project-{project_id}" / PREVIEWS / f"{strategy}.json"


def search_path(project_id: int, job_id: str) -> Path:
    """Return the file of the search's result."""
    return explorations_folder(project_id) / SEARCHES / f"{job_id}.json"


def write_search(project_id: int, search: Search) -> None:
    """Store the result of the search, and delete the oldest ones."""
    path = search_path(project_id, search.job_id)
    write_json(path, search)
    for old in sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)[:-MOST_SEARCHES]:
        discard(old)

"""Suggested questions about a passage, from a run's generator, stored by the worker in the run's folder."""

from dataclasses import asdict, dataclass
from pathlib import Path

from allpairs.db.files.json_file import read_json, write_json
from allpairs.db.results.pipelines import pipeline_folder

FOLDER = "suggestions"  # below the run's; deleted with it


@dataclass(frozen=True)
class Suggestion:
    """A question, and the generator's mean negative log-likelihood of its tokens: lower is likelier."""

    question: str
    nll: float


@dataclass(frozen=True)
class Asked:
    """A generator of a run, by its place in the run's outputs, and the passage to ask about."""

    run_id: str
    number: int
    item_id: int

    @property
    def path(self) -> Path:
        """The file of the suggestions."""
        return pipeline_folder(self.run_id) / FOLDER / f"{self.number}-{self.item_id}.json"


def write_suggestions(asked: Asked, found: list[Suggestion]) -> None:
    """Store the suggestions in place of the previous ones."""
    write_json(asked.path, [asdict(one) for one in found])


def read_suggestions(asked: Asked) -> list[Suggestion] | None:
    """Return the last suggestions, the likeliest first; None if nobody has asked."""
    try:
        return [Suggestion(**one) for one in read_json(asked.path)]
    except FileNotFoundError:
        return None

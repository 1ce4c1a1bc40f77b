"""Suggested questions: what a run's generator asks about a passage, left by the worker in the run's folder."""

from dataclasses import asdict, dataclass
from pathlib import Path

from db.files.json_file import read_json, write_json
from db.results.pipelines import pipeline_folder

FOLDER = "suggestions"  # below the run's; gone with it


@dataclass(frozen=True)
class Suggestion:
    """A question, and the generator's mean negative log-likelihood of its tokens: the lower the likelier."""

    question: str
    nll: float


@dataclass(frozen=True)
class Asked:
    """A generator of a run, by its place among what the run made, and the passage that it is to ask about."""

    run_id: str
    number: int
    item_id: int

    @property
    def path(self) -> Path:
        """Where the suggestions lie."""
        return pipeline_folder(self.run_id) / FOLDER / f"{self.number}-{self.item_id}.json"


def write_suggestions(asked: Asked, found: list[Suggestion]) -> None:
    """Nothing; these take the place of what was suggested before."""
    write_json(asked.path, [asdict(one) for one in found])


def read_suggestions(asked: Asked) -> list[Suggestion] | None:
    """What was suggested last, the likeliest first; nothing where nobody has asked."""
    try:
        return [Suggestion(**one) for one in read_json(asked.path)]
    except FileNotFoundError:
        return None

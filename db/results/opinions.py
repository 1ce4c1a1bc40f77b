"""Opinions in typed texts, found by a run's encoder and stored by the worker in the run's folder."""

from dataclasses import asdict, dataclass
from pathlib import Path

from allpairs.db.files.artifacts import discard
from allpairs.db.files.json_file import read_json, write_json
from allpairs.db.results.pipelines import pipeline_folder

FOLDER = "opinions"  # below the run's; deleted with it
MOST = 20  # results to keep for each run


@dataclass(frozen=True)
class Opinion:
    """A text, and the span of its characters that explains the opinion.

    margin: how much better it answers the question for a positive opinion than the other one, each less its baseline
    score on neutral text. Above 0 the opinion is positive.
    """

    text: str
    margin: float
    start: int
    end: int

    @property
    def positive(self) -> bool:
        return self.margin > 0


@dataclass(frozen=True)
class Opinions:
    """The opinions in the texts, in their order, and the questions for a positive and for a negative opinion."""

    positive: str
    negative: str
    found: list[Opinion]


def write_opinions(run_id: str, job_id: str, opinions: Opinions) -> None:
    """Store the result, and delete the run's oldest ones."""
    path = _path(run_id, job_id)
    write_json(path, asdict(opinions))
    for old in sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)[:-MOST]:
        discard(old)


def read_opinions(run_id: str, job_id: str) -> Opinions | None:
    """Return the result of the job; None if there is none yet, or no longer."""
    try:
        stored = read_json(_path(run_id, job_id))
    except FileNotFoundError:
        return None
    return Opinions(**stored | {"found": [Opinion(**one) for one in stored["found"]]})


def _path(run_id: str, job_id: str) -> Path:
    return pipeline_folder(run_id) / FOLDER / f"{job_id}.json"

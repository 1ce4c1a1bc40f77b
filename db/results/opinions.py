"""Opinions that a run's encoder has of typed texts, left by the worker in the run's folder."""

from dataclasses import asdict, dataclass
from pathlib import Path

from db.files.artifacts import discard
from db.files.json_file import read_json, write_json
from db.results.pipelines import pipeline_folder

FOLDER = "opinions"  # below the run's; gone with it
MOST = 20  # results that are kept for each run


@dataclass(frozen=True)
class Opinion:
    """A text, and the characters start to end of it that say why.

    margin: by how much it answers the question for a positive opinion better than the other one, both less what they
    score with words that say nothing. Above 0 the opinion is positive.
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
    """What was found of the texts, in their order, by the questions for a positive and for a negative opinion."""

    positive: str
    negative: str
    found: list[Opinion]


def write_opinions(run_id: str, job_id: str, opinions: Opinions) -> None:
    """Nothing; the result can be read, and the run's oldest ones are gone."""
    path = _path(run_id, job_id)
    write_json(path, asdict(opinions))
    for old in sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)[:-MOST]:
        discard(old)


def read_opinions(run_id: str, job_id: str) -> Opinions | None:
    """What the job found; nothing while it has not, and where it is too long ago."""
    try:
        stored = read_json(_path(run_id, job_id))
    except FileNotFoundError:
        return None
    return Opinions(**stored | {"found": [Opinion(**one) for one in stored["found"]]})


def _path(run_id: str, job_id: str) -> Path:
    return pipeline_folder(run_id) / FOLDER / f"{job_id}.json"

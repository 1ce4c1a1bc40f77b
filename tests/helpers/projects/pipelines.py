"""A small pipeline in place of few-shot mining: three stages that write files, and results like a real one's."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import altair as alt
import pyarrow.parquet
import pytest
from pydantic import Field
from sqlalchemy import Engine

from allpairs.annotate.features.studies.rating_studies import BEGUN, store_rating
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.db.projects.jobs import PIPELINE
from allpairs.db.projects.studies import CRITERIA, Unit, add_study, units_of
from allpairs.db.results.pipelines import ARTIFACTS, BEGAN, Began, pipeline_folder, results_folder
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Study
from allpairs.learner.light.catalog import PIPELINES
from allpairs.learner.light.catalog.mining import MiningInputs
from allpairs.learner.light.catalog.section import Section
from allpairs.learner.pipelines.pipeline import RESULTS, Artifact, Pipeline, Run, Stage, write_artifacts
from tests.helpers.figures.measured import add_job

NAME = "few-shot-mining"
Row = dict[str, object]


class Pace(Section):
    """The duration of the middle stage."""

    steps: int = Field(1, ge=0, le=10_000, description="Steps of a tenth of a second.")
    rate: float = Field(2e-5, gt=0, lt=1, description="A rate.")
    fails: bool = Field(False, description="Whether the stage fails.")
    kind: Literal["plain", "other"] = Field("plain", description="Its kind.")


class SmallConfig(Section):
    """The configuration of the small pipeline."""

    seed: int = Field(0, ge=0, description="Seed of everything random.")
    wanted: int = Field(20, ge=1, le=1_000, description="Pairs that are kept.")
    amounts: list[int] = Field([0, 10], min_length=1, max_length=3, description="Amounts to try.")
    pace: Pace = Field(default_factory=Pace)


def _check(run: Run) -> None:
    if len(_rows(run.inputs.corpus_x)) < 2:
        raise InputError("the first list has fewer than two texts")


def _rows(path: str) -> list[Row]:
    found: list[Row] = pyarrow.parquet.read_table(path).to_pylist()
    return found


def _read(run: Run, folder: Path, progress: Progress) -> None:
    (folder / "seeds.txt").write_text(str(len(_rows(run.inputs.seed_pairs))))


def _work(run: Run, folder: Path, progress: Progress) -> None:
    pace = run.config.pace
    (folder / "begun").touch()
    for step in range(pace.steps):
        progress(f"step {step + 1} of {pace.steps}", step / pace.steps)
        time.sleep(0.1)
    if pace.fails:
        raise InputError("the stage was told to fail")


def _results(run: Run, folder: Path, progress: Progress) -> None:
    left = _rows(run.inputs.corpus_x)
    right = _rows(run.inputs.corpus_y) if run.inputs.corpus_y else left
    pairs = [(x, y) for x in left for y in right if run.inputs.corpus_y or int(str(x["id"])) < int(str(y["id"]))]
    rows: list[Row] = [
        {"x_id": x["id"], "y_id": y["id"], "x": x["text"], "y": y["text"], "cos": 0.9 - 0.001 * at,
         "margin": 1.2 - 0.001 * at, "cross_score": None, "rank": at + 1}
        for at, (x, y) in enumerate(pairs[: run.config.wanted])
    ]  # fmt: skip
    write_results(folder, rows)


def write_results(folder: Path, rows: list[Row]) -> None:
    """Write what a run's last stage leaves to the folder, with these mined pairs and both models."""
    from allpairs.learner.pipelines.report import Report  # takes seconds, which collecting tests need not wait for

    report = Report(folder, "Few-shot mining")
    counted: list[Row] = [{"stage": "proposed", "pairs": 2 * len(rows)}, {"stage": "kept", "pairs": len(rows)}]
    markdown = "| stage | pairs |\n| --- | ---: |\n" + "".join(
        f"| {row['stage']} | {row['pairs']} |\n" for row in counted
    )
    report.table("funnel", "How many pairs are left", counted, markdown)
    bars = alt.layer(alt.Chart(alt.Data(values=counted)).mark_bar().encode(x="pairs:Q", y="stage:N"))
    report.figure("funnel", "Pairs after each stage", counted, [("Bars of the pairs after each stage.", bars)])
    report.close()
    (folder / "mined.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for model in ("biencoder", "crossencoder"):
        (folder / model).mkdir()
        (folder / model / "config.json").write_text("{}")
    write_artifacts(folder, [
        Artifact("pairs", "Mined pairs", "results/mined.jsonl", {"pairs": len(rows)}),
        Artifact("biencoder", "Bi-encoder", "results/biencoder", {"steps": 100}),
        Artifact("crossencoder", "Cross-encoder", "results/crossencoder", {"steps": 200}),
    ])  # fmt: skip


SMALL = Pipeline(_check, [Stage("read", 1, _read), Stage("work", 2, _work), Stage("results", 1, _results)])


def install(set_item: Callable[[dict[str, object], str, object], None] = dict.__setitem__) -> None:
    """Replace the catalog's few-shot mining by the small pipeline in this process."""
    place = ModuleType("allpairs.learner.pipelines.small")
    place.PIPELINE = SMALL  # type: ignore[attr-defined]
    set_item(sys.modules, "allpairs.learner.pipelines.small", place)  # type: ignore[arg-type]
    entry = PIPELINES[NAME].model_copy(update={"config": SmallConfig, "inputs": MiningInputs, "place": "small"})
    set_item(PIPELINES, NAME, entry)  # type: ignore[arg-type]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the small pipeline for one test."""
    install(monkeypatch.setitem)  # type: ignore[arg-type]


def finished_run(
    engine: Engine, project_id: int, run_id: str, pairs: Sequence[tuple[int, int]] = ((0, 1),) * 5
) -> None:
    """Add a finished run of this id that mined these pairs of item ids, best first."""
    add_job(engine, project_id, run_id, kind=PIPELINE, state="done")
    rows: list[Row] = [
        {"x_id": str(x), "y_id": str(y), "x": f"text of {x}", "y": f"text of {y}", "cos": 0.9, "margin": 1.2,
         "cross_score": 0.5, "rank": rank}
        for rank, (x, y) in enumerate(pairs, start=1)
    ]  # fmt: skip
    write_began(run_id, "2 positive labels are the seed.")
    results_folder(run_id).mkdir()
    write_results(results_folder(run_id), rows)


def write_began(run_id: str, words: str) -> None:
    """Record what the run began with."""
    pipeline_folder(run_id).mkdir(parents=True)
    began = Began(NAME, SmallConfig().model_dump(), words)
    (pipeline_folder(run_id) / BEGAN).write_text(json.dumps(asdict(began)))


def finished_questions(engine: Engine, project_id: int, run_id: str, passages: int = 6) -> None:
    """Add a run that asked about so many passages; the first two models ask the same about every third."""
    finished_run(engine, project_id, run_id)
    rows = [{"passage": f"Passage {i} tells what gradient number {i} does.", "reference": f"Why gradient {i}?",
             "questions": {model: f"What is it, {i}?" if at < 2 and i % 3 == 0 else f"What does model {at} ask of {i}?"
                           for at, model in enumerate(BEGUN)}} for i in range(passages)]  # fmt: skip
    (results_folder(run_id) / "test-questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = [{"kind": "test-questions", "title": "Questions about the test passages", "about": {"passages": passages},
             "path": "results/test-questions.jsonl"}]  # fmt: skip
    (results_folder(run_id) / ARTIFACTS).write_text(json.dumps(made))


def make_study(engine: Engine, project_id: int, passages: int = 4, models: Sequence[str] = BEGUN) -> int:
    """Make a study in which each model asks its own question about each passage in turn; return its id."""
    units = [Unit(f"Passage {i}.", f"Question {i} of model {at}?", [model])
             for i in range(passages) for at, model in enumerate(models)]  # fmt: skip
    with writing(engine) as session:
        study = Study(project_id=project_id, run_id="gone", models=list(models), per_model=passages, seed=0)
        return add_study(session, study, units)


def rate_all(engine: Engine, project_id: int, study_id: int, said: Mapping[str, Sequence[bool]]) -> None:
    """Store this rating by each rater for the first units, the same on all criteria."""
    with reading(engine) as session:
        units = [unit.id for unit in units_of(session, study_id)]
    for rater, answers in said.items():
        for unit_id, answer in zip(units, answers, strict=False):
            store_rating(engine, project_id, unit_id, rater, dict.fromkeys(CRITERIA, answer))


def table_rows(run: Run, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of the run's results."""
    found: list[dict[str, Any]] = json.loads((run.of(RESULTS) / "tables" / f"{name}.json").read_text())["rows"]
    return found

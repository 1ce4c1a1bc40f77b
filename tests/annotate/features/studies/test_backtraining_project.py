"""Back-training on a project: its inputs from this and from another project, and what is refused."""

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.papers import runs as pipelines
from allpairs.annotate.features.papers.mined_pairs import plan_use
from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.features.studies import rating_studies
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import AnswerKind, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import PIPELINE, add_job
from allpairs.db.results.pipelines import stored_outputs
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Gold, Item
from allpairs.learner.jobs import pipeline as steps
from allpairs.learner.jobs.data.pipeline_files import PipelineFiles, write_data
from tests.helpers.factories import make_project
from tests.helpers.files.papers import PAIRS, back_training_config
from tests.helpers.tiny import tiny_encoder

NAME = "back-training"
QUESTIONS, PASSAGES = [x for x, _ in PAIRS], [y for _, y in PAIRS]


def items(engine: Engine, project_id: int, side: Side) -> list[int]:
    with reading(engine) as session:
        mine = select(Item.id).where(Item.project_id == project_id, Item.side == side)
        return list(session.scalars(mine.order_by(Item.id)))


def add_gold(engine: Engine, project_id: int, places: range) -> None:
    left, right = items(engine, project_id, Side.LEFT), items(engine, project_id, Side.RIGHT)
    with writing(engine) as session:
        session.add_all(Gold(project_id=project_id, left_id=left[i], right_id=right[i], positive=True) for i in places)


def label(engine: Engine, project_id: int, places: range) -> None:
    left, right = items(engine, project_id, Side.LEFT), items(engine, project_id, Side.RIGHT)
    with writing(engine) as session:
        session.add_all(Answer(project_id=project_id, left_id=left[i], right_id=right[i], annotator="ann",
                               answer=AnswerKind.POSITIVE, key=f"key-{next(KEYS)}") for i in places)  # fmt: skip


KEYS = itertools.count()


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    """Return a project of twenty questions, the last four for evaluation, and their passages."""
    return make_project(engine, QUESTIONS, right=PASSAGES, evaluation=4)


def rows(path: str | None) -> list[tuple[Any, ...]]:
    assert path is not None
    return [tuple(row.values()) for row in pyarrow.parquet.read_table(path).to_pylist()]


def written(engine: Engine, project_id: int, folder: Path, **chosen: Any) -> PipelineFiles:
    with reading(engine) as session:
        return write_data(session, project_id, NAME, chosen, 0, folder / "data")


def test_a_projects_own_pairs_are_the_source(engine: Engine, project: int, tmp_path: Path) -> None:
    add_gold(engine, project, range(10, 20))
    begun = written(engine, project, tmp_path)
    assert sorted(rows(begun.files["source_pairs"])) == sorted(PAIRS[10:16])
    assert rows(begun.files["test_pairs"]) == PAIRS[16:] and "dev_pairs" not in begun.files
    questions, passages = rows(begun.files["questions"]), rows(begun.files["passages"])
    assert [text for _, text in questions] == QUESTIONS[:16] and [text for _, text in passages] == PASSAGES
    assert [int(id_) for id_, _ in passages] == items(engine, project, Side.RIGHT)
    assert "16 questions, 20 passages" in begun.words and "4 measure" in begun.words


def test_another_projects_pairs_are_the_source(engine: Engine, project: int, tmp_path: Path) -> None:
    other = make_project(engine, ["how old"] * 5, right=["very old"] * 5, name="Other")
    add_gold(engine, other, range(5))
    add_gold(engine, project, range(3))
    label(engine, project, range(2, 4))
    begun = written(engine, project, tmp_path, project="Other", source_id=other)
    assert rows(begun.files["source_pairs"]) == [("how old", "very old")] * 5
    assert rows(begun.files["dev_pairs"]) == PAIRS[:4] and "test_pairs" not in begun.files
    assert "'Other': 5 of 5" in begun.words and "4 pairs set" in begun.words


def test_one_list_and_unknown_projects_are_refused(engine: Engine, project: int, tmp_path: Path) -> None:
    one_list = make_project(engine, ["a", "b"], name="One")
    assert "project of two lists" in pipelines.run_hindrance(engine, one_list, NAME)
    assert pipelines.run_hindrance(engine, project, NAME) == ""  # another project's pairs may do
    for chosen, said in (({}, "at least 2 positive pairs"), ({"project": "None"}, "there is no project named 'None'")):
        with pytest.raises(InputError, match=said):
            pipelines.request_run(engine, project, NAME, {}, chosen)
    add_gold(engine, project, range(4))
    with pytest.raises(InputError, match="'One' has one list"):
        written(engine, project, tmp_path, project="One", source_id=one_list)


def test_a_project_is_read_by_its_number_and_not_by_its_name(
    engine: Engine, project: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[Any] = []
    monkeypatch.setattr(jobs, "enqueue_workflow", lambda *asked: queued.append(asked))
    checked = make_project(engine, ["how old"] * 5, right=["very old"] * 5, name="Other")
    add_gold(engine, checked, range(5))
    pipelines.request_run(engine, project, NAME, {}, {"project": " Other "})
    chosen = queued[0][-1]
    assert chosen["source_id"] == checked
    delete_project(engine, checked)
    add_gold(engine, make_project(engine, ["a secret"] * 5, right=["kept"] * 5, name="Other"), range(5))
    with pytest.raises(InputError, match="no project number"):
        written(engine, project, tmp_path, **chosen)
    with pytest.raises(InputError, match="source_id"):  # nobody but the check names it
        pipelines.request_run(engine, project, NAME, {}, {"source_id": 1})


def test_the_job_makes_what_the_project_can_use(
    engine: Engine, project: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allpairs.learner.pipelines.report.save_chart", lambda chart, path: None)
    tiny_encoder(tmp_path, [*QUESTIONS, *PASSAGES])
    add_gold(engine, project, range(4, 20))
    config = {
        key: value
        for key, value in back_training_config(tmp_path, {}, variants=["back-training"]).items()
        if key != "inputs"
    }
    config = json.loads(json.dumps(config))
    with writing(engine) as session:
        job_id = add_job(session, project, PIPELINE).id
    inputs = steps.write_inputs(job_id, project, NAME, config, {})
    for stage in steps.check_inputs(job_id, NAME, config, inputs):
        steps.do_stage(job_id, NAME, config, inputs, stage)
    kinds = [one["kind"] for one in stored_outputs(job_id)]
    assert kinds == ["pairs", "biencoder", "generator", "questions", "test-questions"]
    made = pipelines.run_output(engine, project, job_id, 0)
    assert made.figures["pairs"] > 0
    use = plan_use(engine, project, job_id, 0, 5)
    left, right = items(engine, project, Side.LEFT)[:16], items(engine, project, Side.RIGHT)
    assert use.new and all(x in left and y in right for x, y in use.new)
    asked = pipelines.run_output(engine, project, job_id, 4)
    assert rating_studies.asked_by(asked.path) == [*rating_studies.BEGUN[::2], rating_studies.REFERENCE]
    study = rating_studies.start_study(engine, project, job_id, 4, rating_studies.BEGUN[::2], 3, 0)
    first = rating_studies.desk(engine, project, study, "ann").unit
    assert first is not None and first.passage in PASSAGES

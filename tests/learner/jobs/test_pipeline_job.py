"""The job `pipeline`: its inputs, one step per stage, and what a kill, a failure or a cancel leaves."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.kit.jobs.open_jobs import cancel
from allpairs.annotate.kit.jobs.requests import request_pipeline
from allpairs.db.domain import AnswerKind
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.projects.jobs import PIPELINE, add_job
from allpairs.db.results import pipelines
from allpairs.db.results.pipelines import pipeline_folder, read_began, stored_outputs
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Gold, Item, Job
from allpairs.learner.jobs import pipeline as steps
from allpairs.learner.jobs.data.pipeline_files import PipelineFiles, write_data
from allpairs.learner.pipelines import pipeline as of_learner
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.projects.pipelines import NAME, SmallConfig, small  # noqa: F401  (a fixture)
from tests.helpers.services.workers import job_of, wait_for, wait_for_state

TEXTS = [f"text {i}" for i in range(10)]
CONFIG: dict[str, Any] = SmallConfig().model_dump()


@pytest.fixture
def project(engine: Engine) -> int:
    """Return ten texts, the last four for evaluation; neighbours match, and one known negative in each part."""
    project_id = make_project(engine, TEXTS, evaluation=4)
    add_gold(engine, project_id, [(i, i + 1, True) for i in range(9)] + [(0, 5, False), (6, 9, False)])
    return project_id


def items(engine: Engine, project_id: int) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)))


def add_gold(engine: Engine, project_id: int, pairs: list[tuple[int, int, bool]]) -> None:
    ids = items(engine, project_id)
    with writing(engine) as session:
        session.add_all(Gold(project_id=project_id, left_id=ids[i], right_id=ids[j], positive=positive)
                        for i, j, positive in pairs)  # fmt: skip


keys = itertools.count()


def label(engine: Engine, project_id: int, *pairs: tuple[int, int, AnswerKind]) -> None:
    ids = items(engine, project_id)
    with writing(engine) as session:
        session.add_all(Answer(project_id=project_id, left_id=ids[i], right_id=ids[j], annotator="ann", answer=kind,
                               key=f"label-{next(keys)}") for i, j, kind in pairs)  # fmt: skip


def rows(path: str | None) -> list[tuple[Any, ...]]:
    assert path is not None
    return [tuple(row.values()) for row in pyarrow.parquet.read_table(path).to_pylist()]


def written(engine: Engine, project_id: int, folder: Path, seed: int = 0, **chosen: Any) -> PipelineFiles:
    with reading(engine) as session:
        return write_data(session, project_id, NAME, chosen, seed, folder / "data")


def test_known_pairs_are_the_seed_where_nothing_is_labelled(engine: Engine, project: int, tmp_path: Path) -> None:
    begun = written(engine, project, tmp_path, known=3)
    ids = [str(id_) for id_ in items(engine, project)]
    assert rows(begun.files["corpus_x"]) == list(zip(ids[:6], TEXTS[:6], strict=True))
    assert "corpus_y" not in begun.files
    among = {(f"text {i}", f"text {i + 1}") for i in range(5)}  # text 5 and text 6 stand apart
    seeds = rows(begun.files["seed_pairs"])
    assert len(seeds) == len(set(seeds)) == 3 and set(seeds) <= among
    assert rows(begun.files["gold"]) == sorted(
        [(ids[i], ids[i + 1], 1) for i in range(5)] + [(ids[0], ids[5], 0)], key=lambda row: (int(row[0]), int(row[1]))
    )
    assert rows(begun.files["test_pairs"]) == [(f"text {i}", f"text {i + 1}") for i in (6, 7, 8)]
    for part in ("3 of 5 known pairs", "6 texts", "6 known pairs measure", "3 measure retrieval"):
        assert part in begun.words
    drawn = {
        tuple(rows(written(engine, project, tmp_path, seed=seed, known=3).files["seed_pairs"])) for seed in range(5)
    }
    assert len(drawn) > 1
    assert tuple(rows(written(engine, project, tmp_path, known=3).files["seed_pairs"])) == tuple(seeds)


def test_labels_go_before_known_pairs(engine: Engine, project: int, tmp_path: Path) -> None:
    yes, no = AnswerKind.POSITIVE, AnswerKind.NEGATIVE
    label(engine, project, (0, 2, yes), (1, 2, no), (6, 8, yes), (4, 6, yes))
    assert "known pairs, drawn" in written(engine, project, tmp_path).words  # one label that trains is too few
    label(engine, project, (1, 3, yes))
    begun = written(engine, project, tmp_path)
    assert rows(begun.files["seed_pairs"]) == [("text 0", "text 2"), ("text 1", "text 3")]
    assert begun.words.startswith("2 positive labels")
    assert written(engine, project, tmp_path, source="known pairs").words.startswith("5 of 5 known pairs")


@pytest.mark.parametrize(
    ("chosen", "what"),
    [({}, "0 known positive pairs"), ({"source": "labels"}, "0 positive labels")],
)
def test_too_few_positive_pairs_are_refused(engine: Engine, tmp_path: Path, chosen: dict[str, str], what: str) -> None:
    project_id = make_project(engine, TEXTS)
    with pytest.raises(InputError, match=f"{what} .* at least 2"):
        written(engine, project_id, tmp_path, **chosen)


def test_two_lists_stay_two(engine: Engine, tmp_path: Path) -> None:
    project_id = make_project(engine, ["a", "b", "c"], right=["x", "y"], evaluation=1)
    add_gold(engine, project_id, [(0, 3, True), (1, 4, True), (2, 3, True)])
    begun = written(engine, project_id, tmp_path)
    ids = [str(id_) for id_ in items(engine, project_id)]
    assert rows(begun.files["corpus_x"]) == [(ids[0], "a"), (ids[1], "b")]
    assert rows(begun.files["corpus_y"]) == [(ids[3], "x"), (ids[4], "y")]
    assert (rows(begun.files["seed_pairs"]), rows(begun.files["test_pairs"])) == (
        [("a", "x"), ("b", "y")],
        [("c", "x")],
    )


def ranking_data(engine: Engine, project_id: int, folder: Path, **chosen: Any) -> PipelineFiles:
    with reading(engine) as session:
        return write_data(session, project_id, "multi-view-reranking", chosen, 0, folder / "data")


def test_reranking_learns_from_labels_and_is_measured_elsewhere(engine: Engine, project: int, tmp_path: Path) -> None:
    label(engine, project, (0, 1, AnswerKind.NEGATIVE), (0, 2, AnswerKind.POSITIVE), (6, 9, AnswerKind.POSITIVE))
    begun = ranking_data(engine, project, tmp_path)
    ids = [str(id_) for id_ in items(engine, project)]
    judged = {(ids[i], ids[i + 1]): 1 for i in range(1, 5)} | {
        (ids[0], ids[1]): 0,
        (ids[0], ids[5]): 0,
        (ids[0], ids[2]): 1,
    }
    both_ways = {(*pair, positive) for (one, two), positive in judged.items() for pair in ((one, two), (two, one))}
    assert set(rows(begun.files["qrels"])) == both_ways  # labels go before known pairs
    assert rows(begun.files["queries"]) == rows(begun.files["passages"]) == list(zip(ids[:6], TEXTS[:6], strict=True))
    tested = list(zip(ids[6:], TEXTS[6:], strict=True))
    assert rows(begun.files["test_queries"]) == rows(begun.files["test_passages"]) == tested
    assert len(rows(begun.files["test_qrels"])) == 6 and all(row[2] == 1 for row in rows(begun.files["test_qrels"]))
    for part in ("5 right and 2 wrong pairs", "6 passages", "3 known pairs of evaluation texts measure"):
        assert part in begun.words
    assert len(rows(ranking_data(engine, project, tmp_path, source="known pairs").files["qrels"])) == 12
    with pytest.raises(InputError, match="1 positive labels or known"):
        ranking_data(engine, project, tmp_path, source="labels")


def test_reranking_of_two_lists_asks_with_the_left_one(engine: Engine, tmp_path: Path) -> None:
    project_id = make_project(engine, ["a", "b", "c"], right=["x", "y"])
    add_gold(engine, project_id, [(0, 3, True), (1, 4, True), (2, 3, True)])
    begun = ranking_data(engine, project_id, tmp_path)
    ids = [str(id_) for id_ in items(engine, project_id)]
    assert rows(begun.files["qrels"]) == [(ids[0], ids[3], 1), (ids[1], ids[4], 1), (ids[2], ids[3], 1)]
    assert [row[1] for row in rows(begun.files["passages"])] == ["x", "y"]
    assert "test_qrels" not in begun.files and "share of their queries" in begun.words


def start(engine: Engine, project_id: int) -> str:
    with writing(engine) as session:
        return add_job(session, project_id, PIPELINE).id


def run(engine: Engine, project_id: int, config: dict[str, Any]) -> str:
    """Run the workflow's steps in order, and return the job's id."""
    job_id = start(engine, project_id)
    inputs = steps.write_inputs(job_id, project_id, NAME, config, {})
    for stage in steps.check_inputs(job_id, NAME, config, inputs):
        steps.do_stage(job_id, NAME, config, inputs, stage)
    return job_id


def test_the_job_leaves_results_and_says_how_far_it_is(engine: Engine, project: int, small: None) -> None:  # noqa: F811
    job_id = run(engine, project, CONFIG)
    job = job_of(engine, job_id)
    assert (job.stage, job.fraction) == ("results (3 of 3)", 0.75)
    began = read_began(job_id)
    assert began is not None and (began.pipeline, began.config) == (NAME, CONFIG)
    assert [one["kind"] for one in stored_outputs(job_id)] == ["pairs", "biencoder", "crossencoder"]
    assert steps.tell(job_id, NAME) == "Few-shot mining: Mined pairs, Bi-encoder, Cross-encoder"


def test_a_stage_that_fails_is_repeated_alone(engine: Engine, project: int, small: None) -> None:  # noqa: F811
    config = SmallConfig.model_validate({"pace": {"fails": True}}).model_dump()
    job_id = start(engine, project)
    inputs = steps.write_inputs(job_id, project, NAME, config, {})
    stages = steps.check_inputs(job_id, NAME, config, inputs)
    steps.do_stage(job_id, NAME, config, inputs, stages[0])
    first = (pipeline_folder(job_id) / "read" / "seeds.txt").stat().st_mtime_ns
    with pytest.raises(InputError, match="told to fail"):
        steps.do_stage(job_id, NAME, config, inputs, stages[1])
    assert not (pipeline_folder(job_id) / "work").exists()
    for stage in stages[:1]:
        steps.do_stage(job_id, NAME, config, inputs, stage)
    assert (pipeline_folder(job_id) / "read" / "seeds.txt").stat().st_mtime_ns == first


def test_a_cancel_ends_the_stage_at_hand(engine: Engine, project: int, small: None) -> None:  # noqa: F811
    config = SmallConfig.model_validate({"pace": {"steps": 50}}).model_dump()
    job_id = start(engine, project)
    inputs = steps.write_inputs(job_id, project, NAME, config, {})
    with writing(engine) as session:
        session.get_one(Job, job_id).cancel = True
    with pytest.raises(Cancelled):
        steps.do_stage(job_id, NAME, config, inputs, "work")
    assert not (pipeline_folder(job_id) / "work").exists()


def test_unusable_inputs_stop_a_pipeline_before_any_stage(engine: Engine, small: None) -> None:  # noqa: F811
    project_id = make_project(engine, ["a", "b"], right=["x", "y"], evaluation=1)
    label(engine, project_id, (0, 2, AnswerKind.POSITIVE), (0, 3, AnswerKind.POSITIVE))
    with pytest.raises(InputError, match="fewer than two texts"):
        run(engine, project_id, CONFIG)


def test_app_and_worker_call_the_files_by_the_same_names() -> None:
    assert (pipelines.RUN, pipelines.RESULTS, pipelines.ARTIFACTS) == (
        of_learner.RUN,
        of_learner.RESULTS,
        of_learner.ARTIFACTS,
    )


@contextmanager
def worker() -> Iterator[subprocess.Popen[str]]:
    """Yield a worker process that knows the small pipeline; kill it at the end."""
    code = "from tests.helpers.projects.pipelines import install; install()"
    code += "; from allpairs.learner.worker import run_worker; run_worker('desk')"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_killed_worker_repeats_the_stage_at_hand_alone(engine: Engine, project: int) -> None:
    config = SmallConfig.model_validate({"pace": {"steps": 30}}).model_dump()
    job_id = request_pipeline(engine, project, NAME, config, {})
    folder = pipeline_folder(job_id)
    with worker() as process:
        wait_for(lambda: job_of(engine, job_id).stage.startswith("work (2 of 3): step"))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert (folder / ".work").is_dir() and not (folder / "work").exists()
    kept = [folder / "data" / "corpus_x.parquet", folder / "read" / "seeds.txt"]
    before = [path.stat().st_mtime_ns for path in kept]
    begun = (folder / ".work" / "begun").stat().st_mtime_ns
    with worker():
        wait_for_state(engine, job_id, "done")
        assert (folder / "work" / "begun").stat().st_mtime_ns > begun
        other = request_pipeline(engine, project, NAME, config, {})
        wait_for(lambda: job_of(engine, other).stage.startswith("work (2 of 3): step"))
        cancel(engine, other)
        wait_for(lambda: job_of(engine, other).stage == "", seconds=8)
    assert job_of(engine, other).state == "cancelled"
    assert [path.stat().st_mtime_ns for path in kept] == before
    assert len(stored_outputs(job_id)) == 3

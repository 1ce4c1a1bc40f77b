"""A re-ranker orders a batch: the strategy's pairs, audit tasks still blind, and a readable reason."""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from allpairs.annotate.exchange.project_export import export_project
from allpairs.annotate.exchange.project_import import import_project
from allpairs.annotate.explore.pair_reason import reasons
from allpairs.annotate.pipelines import runs as pipelines
from allpairs.annotate.pipelines.adopt_reranker import orders_batches, plan_order, stop_order, use_order
from allpairs.annotate.projects.projects import list_projects, update_settings
from allpairs.annotate.ui.label.why import _sentence
from allpairs.db.domain import Purpose
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import PIPELINE
from allpairs.db.projects.projects import project_settings
from allpairs.db.results.pipelines import RERANKER_FILE, pipeline_folder, require_reranker, results_folder
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Round, Task
from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking import reranker as learned
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import Reranker
from allpairs.learner.jobs.batch_order import ordering
from allpairs.learner.pipelines.pipeline import Artifact, write_artifacts
from allpairs.learner.scorers.scorer import load_rerank_scorer
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_job
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.projects.rounds import newest, run, texts
from tests.helpers.tiny import tiny_encoder

open_pipelines = partial(opened, ROOT / "annotate" / "pages" / "pipelines.py")
open_settings = partial(opened, ROOT / "annotate" / "pages" / "settings.py")
RUN = "r"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an encoder, and an untrained re-ranker."""
    made = tmp_path_factory.mktemp("order")
    tiny_encoder(made, [*texts(), "Query: Document: Relevant: true false"])
    Reranker(load_generator(str(made / "bert"), 1, device="cpu"), Reading(source_length=64)).save(made / "model")
    return made


def made_run(engine: Engine, project_id: int, built: Path) -> str:
    """Add a run that made the re-ranker, and return the re-ranker's folder."""
    add_job(engine, project_id, RUN, kind=PIPELINE, state="done")
    folder = results_folder(RUN)
    folder.mkdir(parents=True)
    shutil.copytree(built / "model", folder / "model")
    write_artifacts(folder, [Artifact("reranker", "Re-ranker", "results/model", {})])
    return str((folder / "model").resolve())


@pytest.fixture
def project(engine: Engine, home: Path, built: Path) -> int:
    """Return a project of 30 texts without known evaluation pairs: audit tasks are mixed in."""
    return make(engine, built)


def make(engine: Engine, built: Path, name: str = "Plain", **settings: Any) -> int:
    here = {"encoder": str(built / "tiny"), "first": 8, "neighbours": 10, "audit_every": 3} | settings
    return make_project(engine, texts(), name=name, evaluation=10, **here)


def batch_of(engine: Engine, project_id: int) -> tuple[Round, list[Task]]:
    run(engine, project_id)
    return newest(engine, project_id)


def places(tasks: list[Task]) -> list[tuple[int, int, bool]]:
    """Return both items' positions in their project of 30, and whether the task is an audit, in queue order."""
    return [((task.left_id - 1) % 30, (task.right_id - 1) % 30, task.purpose == Purpose.AUDIT) for task in tasks]


@pytest.mark.parametrize("order", ["likely first", "contested first"])
def test_the_strategys_batch_in_a_rerankers_order(engine: Engine, project: int, built: Path, order: str) -> None:
    plain, before = batch_of(engine, project)
    batch, after = batch_of(engine, make(engine, built, order, reranker=str(built / "model"), batch_order=order))
    was, now = places(before), places(after)
    assert (batch.size, batch.note, batch.ordered, plain.ordered) == (plain.size, "", order, None)
    assert [pair[2] for pair in now] == [pair[2] for pair in was]  # audit tasks are where they were by chance
    chosen, kept = ([pair for pair in pairs if not pair[2]] for pairs in (now, was))  # audit pairs are drawn anew
    assert sorted(chosen[:8]) == sorted(kept[:8]) and chosen[:8] != kept[:8] and chosen[8:] == kept[8:]
    mine = [task for task in after[: batch.size] if task.purpose == Purpose.TRAIN]
    scores = [task.rerank for task in mine]
    assert len(mine) == 8 and all(score is not None for score in scores)
    assert {task.rerank for task in after if task not in mine} == {None}
    if order == "likely first":
        assert scores == sorted(scores, reverse=True) and len(set(scores)) > 1
    else:
        ranks = [sorted(values, reverse=True).index for values in (scores, [task.score for task in mine])]
        apart = [abs(ranks[0](task.rerank) - ranks[1](task.score)) for task in mine]
        assert apart == sorted(apart, reverse=True) and apart[0] > 0


def test_the_stored_score_is_the_rerankers(engine: Engine, home: Path, built: Path) -> None:
    batch, tasks = batch_of(engine, make(engine, built, reranker=str(built / "model")))
    assert batch.strategy == "half-spread"
    scorer = load_rerank_scorer(str(built / "model"), texts(), "cpu")
    for task in tasks:
        if task.rerank is not None:
            [score] = scorer.score(np.array([task.left_id - 1]), np.array([task.right_id - 1]))
            assert task.rerank == pytest.approx(float(score), abs=1e-4)


def test_a_missing_reranker_is_one_line_and_the_batch_goes_on(engine: Engine, project: int, built: Path) -> None:
    _, before = batch_of(engine, project)
    gone = make(engine, built, "Gone", reranker=str(built / "nowhere"))
    batch, after = batch_of(engine, gone)
    chosen, kept = ([pair for pair in places(tasks) if not pair[2]] for tasks in (after, before))
    assert chosen == kept and len(kept) > 8 and batch.ordered is None
    assert "strategy's order" in batch.note and str(built / "nowhere") in batch.note
    assert {task.rerank for task in after} == {None}


def test_a_pair_says_who_put_it_in_its_place(engine: Engine, home: Path, built: Path) -> None:
    project_id = make(engine, built, reranker=str(built / "model"))
    batch, tasks = batch_of(engine, project_id)
    said = {task.id: _sentence(reasons(engine, project_id, task.id)) for task in tasks}
    for task in tasks:
        ordered = task.purpose == Purpose.TRAIN and task.position < batch.size
        assert (f"scored this pair **{task.rerank or 0:.2f}**" in said[task.id]) == ordered
        assert ("A re-ranker ordered the batch: " in said[task.id]) == ordered


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-1, 1)), max_size=20))
def test_an_order_has_every_pair_once(pairs: list[tuple[float, float]]) -> None:
    rerank, score = np.array(pairs).reshape(-1, 2).T
    likely, contested = ordering(rerank, score, "likely first"), ordering(rerank, score, "contested first")
    assert sorted(likely.tolist()) == sorted(contested.tolist()) == list(range(len(pairs)))
    assert (np.diff(rerank[likely]) <= 0).all()
    assert ordering(score, score, "contested first").tolist() == list(range(len(pairs)))  # no dispute: as they were


def test_contested_is_where_ranks_differ_most() -> None:
    rerank, score = np.array([3.0, 9.0, 1.0, 2.0]), np.array([0.9, 0.8, 0.7, 0.6])
    assert ordering(rerank, score, "contested first").tolist() == [0, 1, 2, 3]
    assert ordering(np.array([1.0, 2.0, 3.0, 9.0]), score, "contested first").tolist() == [0, 3, 1, 2]


def test_a_runs_reranker_is_used_and_used_no_more(engine: Engine, project: int, built: Path) -> None:
    folder = made_run(engine, project, built)
    assert orders_batches(engine, project, RUN, 0) is None
    _, lines = plan_order(engine, project, RUN, 0, "contested first")
    assert lines[0].startswith("From batch 1 on, a re-ranker reads the pairs that the strategy has chosen")
    use_order(engine, project, RUN, 0, "contested first")
    settings = list_projects(engine)[0].settings
    assert (settings.reranker, settings.batch_order) == (folder, "contested first")
    assert plan_order(engine, project, RUN, 0, "contested first")[1] == []
    with pytest.raises(InputError, match="'Plain' uses the re-ranker of the run"):
        pipelines.delete(engine, project, RUN)
    stop_order(engine, project)
    assert orders_batches(engine, project, RUN, 0) is None
    pipelines.delete(engine, project, RUN)
    assert not pipeline_folder(RUN).exists()


def test_another_folder_must_be_a_rerankers(engine: Engine, project: int, built: Path) -> None:
    assert RERANKER_FILE == learned.FILE
    settings = list_projects(engine)[0].settings
    with pytest.raises(InputError, match="no re-ranker in /nowhere: choose one on the page “Pipelines”"):
        update_settings(engine, project, settings.model_copy(update={"reranker": "/nowhere"}))
    update_settings(engine, project, settings.model_copy(update={"reranker": str(built / "model")}))
    require_reranker(str(built / "model"))


def test_the_page_says_what_the_order_implies(engine: Engine, project: int, built: Path) -> None:
    folder = made_run(engine, project, built)
    page = open_pipelines()
    page.session_state[f"order_{RUN}_0"] = True
    page.run()
    assert any("From batch 1 on, a re-ranker reads" in text.value for text in page.markdown)
    page.radio(key=f"order_{RUN}_0_choice").set_value("contested first").run()
    page.button(key=f"order_{RUN}_0_use").click().run()
    assert not page.exception
    settings = list_projects(engine)[0].settings
    assert (settings.reranker, settings.batch_order) == (folder, "contested first")
    page.session_state[f"order_{RUN}_0"] = True
    page.run()
    page.button(key=f"order_{RUN}_0_stop").click().run()
    assert list_projects(engine)[0].settings.reranker == ""


def test_the_settings_page_refuses_a_folder_without_one(engine: Engine, project: int) -> None:
    page = open_settings()
    page.text_input(key=f"settings_{project}_reranker").set_value("/nowhere").run()
    assert "there is no re\\-ranker in /nowhere" in page.error[0].value
    page.button(key="save").click().run()
    with reading(engine) as session:
        assert project_settings(session, project).reranker == ""


def test_an_import_says_that_the_reranker_is_not_here(
    engine: Engine, project: int, built: Path, tmp_path: Path
) -> None:
    folder = made_run(engine, project, built)
    use_order(engine, project, RUN, 0, "likely first")
    export_project(engine, "Plain", tmp_path / "all.zip")
    encoder = str(built / "tiny")
    [taken] = import_project(engine, tmp_path / "all.zip", encoder=encoder).notes
    assert "'Plain'" in taken and "'Plain (2)'" in taken
    assert list_projects(engine)[0].settings.reranker == folder
    shutil.rmtree(folder)
    first, *_ = import_project(engine, tmp_path / "all.zip", encoder=encoder).notes
    assert first.startswith("settings: there is no re-ranker in ") and "the strategy's order" in first
    assert list_projects(engine)[0].settings.reranker == ""

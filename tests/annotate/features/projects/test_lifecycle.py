"""Projects copied, archived, binned, restored, and removed when their time is up."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate import demo
from allpairs.annotate.cli.serve import keep_bin_emptied
from allpairs.annotate.features.experiments.experiments import list_experiments
from allpairs.annotate.features.explore.search import request_text_search
from allpairs.annotate.features.label.queue import ask_if_due
from allpairs.annotate.features.labels.export import export_labels
from allpairs.annotate.features.projects import projects
from allpairs.annotate.features.projects.lifecycle import (
    BIN_TIME,
    archive_project,
    bin_project,
    duplicate_project,
    empty_bin,
    holdings,
    list_bin,
    restore_project,
)
from allpairs.annotate.features.projects.projects import delete_project, list_projects, project_summary
from allpairs.annotate.features.settings.batch_preview import request_preview
from allpairs.annotate.kit.jobs.open_jobs import closing_client
from allpairs.annotate.kit.jobs.requests import (
    request_audit,
    request_experiment,
    request_matches,
    request_pipeline,
    request_round,
)
from allpairs.db.domain import AnswerKind
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.labels.answers import current_labels
from allpairs.db.projects.items import item_texts
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Gold, Item, Job, Project, Task, now
from allpairs.learner.jobs.queue.job_state import job_state
from tests.helpers.factories import first_ids, make_project, make_round, row_counts
from tests.helpers.figures.measured import add_gold, add_job, answer_on, make_measured_project

P, N, U, S, R = AnswerKind


def names(engine: Engine, everything: bool = False) -> list[str]:
    return [project.name for project in list_projects(engine, everything)]


@pytest.fixture
def project(engine: Engine) -> int:
    return make_measured_project(engine, "Help desk")


def test_an_archived_project_is_not_listed_and_comes_back(engine: Engine, project: int) -> None:
    before = row_counts(engine)
    archive_project(engine, project)
    assert names(engine) == []
    assert [(row.name, row.state) for row in list_projects(engine, everything=True)] == [("Help desk", "archived")]
    with pytest.raises(InputError, match="is archived"):
        archive_project(engine, project)
    restore_project(engine, project)
    assert names(engine) == ["Help desk"]
    assert row_counts(engine) == before | {"events": 2}


def test_a_deleted_project_is_restored_whole(engine: Engine, project: int) -> None:
    before, summary = row_counts(engine), project_summary(engine, "Help desk")
    bin_project(engine, project)
    assert names(engine) == []
    (binned,) = list_bin(engine)
    assert (binned.name, binned.removed_at - binned.deleted_at) == ("Help desk", timedelta(days=7))
    with pytest.raises(InputError, match="in the bin"):
        project_summary(engine, "Help desk")
    with pytest.raises(InputError, match="already in the bin"):
        bin_project(engine, project)
    restore_project(engine, project)
    assert project_summary(engine, "Help desk") == summary
    assert row_counts(engine) == before | {"events": 2}
    with pytest.raises(InputError, match="neither archived nor"):
        restore_project(engine, project)


def test_an_archived_project_comes_out_of_the_bin_archived(engine: Engine, project: int) -> None:
    archive_project(engine, project)
    bin_project(engine, project)
    restore_project(engine, project)
    assert [row.state for row in list_projects(engine, everything=True)] == ["archived"]


def test_the_bin_is_emptied_after_seven_days_and_not_before(engine: Engine, project: int) -> None:
    kept = make_project(engine, ["a", "b"], name="Kept")
    bin_project(engine, project)
    bin_project(engine, kept)
    folder = artifacts() / "matchers" / f"{project}-1"
    folder.mkdir(parents=True)
    with writing(engine) as session:
        session.get_one(Project, project).deleted_at = now() - BIN_TIME
    assert empty_bin(engine, now() - timedelta(minutes=1)) == []
    assert empty_bin(engine, now()) == ["Help desk"]
    assert not folder.exists()
    assert [binned.name for binned in list_bin(engine)] == ["Kept"]
    assert {table: count for table, count in row_counts(engine).items() if count} == {
        "projects": 1, "items": 2, "identifiers": 2, "events": 2
    }  # fmt: skip


def test_a_project_restored_while_the_bin_is_emptied_stays(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    for each in (other, project):
        bin_project(engine, each)
    first = []

    def restore_the_other(path: Path) -> None:
        if not first:
            first.extend(list_bin(engine))
            restore_project(engine, first[0].id)

    monkeypatch.setattr(projects, "discard", restore_the_other)
    assert len(empty_bin(engine, now() + 2 * BIN_TIME)) == 1
    assert names(engine) == [first[0].name]


def test_what_was_typed_into_a_job_is_deleted_with_its_project(engine: Engine, project: int) -> None:
    job_id = request_text_search(engine, project, 0, "a secret", of_left=True)
    delete_project(engine, project)
    with closing_client() as client:
        assert client.list_workflows(workflow_ids=[job_id]) == []


def test_the_running_app_empties_the_bin(engine: Engine, project: int) -> None:
    bin_project(engine, project)
    with writing(engine) as session:
        session.get_one(Project, project).deleted_at = now() - BIN_TIME

    async def wait_for_it() -> None:
        keeper = asyncio.create_task(keep_bin_emptied(engine))
        while list_bin(engine):
            await asyncio.sleep(0.01)
        keeper.cancel()

    asyncio.run(asyncio.wait_for(wait_for_it(), timeout=30))
    assert names(engine, everything=True) == []


def test_a_name_in_the_bin_is_taken(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    bin_project(engine, project)
    with pytest.raises(InputError, match="'Help desk' is in the bin"):
        duplicate_project(engine, other, labels=False, name="Help desk")


def test_no_job_can_be_asked_for_while_a_project_is_put_away(engine: Engine, project: int) -> None:
    asks = (
        lambda: request_round(engine, project),
        lambda: request_audit(engine, project, 0),
        lambda: request_preview(engine, project, {}),
        lambda: request_experiment(engine, project, {}),
        lambda: request_matches(engine, project, 0, 0.5),
        lambda: request_pipeline(engine, project, "few-shot-mining", {}, {}),
    )
    for put_away, where in ((archive_project, "archived"), (bin_project, "in the bin")):
        put_away(engine, project)
        for ask in asks:
            with pytest.raises(InputError, match=f"is {where}: restore it"):
                ask()
        ask_if_due(engine, project)  # an annotator whose page is still open
    assert row_counts(engine)["jobs"] == 0


@pytest.mark.parametrize("put_away", [archive_project, bin_project])
def test_jobs_of_a_project_that_is_put_away_are_cancelled(engine: Engine, project: int, put_away: Any) -> None:
    for state in ("waiting", "running", "done"):
        add_job(engine, project, state, state=state)
    other = make_project(engine, ["a", "b"], name="Other")
    add_job(engine, other, "others")
    put_away(engine, project)
    with reading(engine) as session:
        found = {job.id: (job.state, job.cancel) for job in session.scalars(select(Job))}
    cancelled = ("cancelled", True)
    assert found == {"waiting": cancelled, "running": cancelled, "done": ("done", False), "others": ("waiting", False)}


def test_a_worker_begins_no_job_of_a_project_put_away(engine: Engine, project: int) -> None:
    archive_project(engine, project)
    add_job(engine, project, "late")  # asked for in the moment of archiving
    with pytest.raises(Cancelled), job_state("late"):
        raise AssertionError("the job has begun")
    with reading(engine) as session:
        assert session.get_one(Job, "late").state == "cancelled"
    with pytest.raises(Cancelled), job_state("of a removed project"):
        raise AssertionError("the job has begun")


def test_experiments_of_a_project_in_the_bin_are_not_listed(engine: Engine, project: int) -> None:
    add_job(engine, project, "experiment-1", kind="experiment", state="done")
    folder = artifacts() / "experiments" / "experiment-1"
    folder.mkdir(parents=True)
    (folder / "experiment.json").write_text('{"name": "E", "cells": [], "updated": 0}')
    assert [row.name for row in list_experiments(engine)] == ["E"]
    bin_project(engine, project)
    assert list_experiments(engine) == []


def test_the_demo_does_not_come_back_while_it_lies_in_the_bin(engine: Engine) -> None:
    demo.ensure_demo(engine)
    bin_project(engine, list_projects(engine)[0].id)
    demo.ensure_demo(engine)
    assert names(engine) == []
    assert names(engine, everything=True) == [demo.NAME]


def test_what_goes_with_a_project_is_counted(engine: Engine, project: int) -> None:
    folder = artifacts() / "matchers" / f"{project}-1"
    folder.mkdir(parents=True)
    (folder / "weights").write_bytes(b"x" * 3000)
    held = holdings(engine, project)
    assert (held.items, held.labels, held.models, held.folder_bytes) == (180, 325, 4, 3000)


@pytest.fixture
def labelled(engine: Engine) -> int:
    """Return a bipartite project among others, with gold and answers of two annotators."""
    make_project(engine, ["x", "y"], name="Before")
    project_id = make_project(engine, ["a", "b", "c", "d"], ["r", "s", "t"], name="Source", evaluation=2, first=7)
    add_gold(engine, project_id, 1)
    make_round(engine, project_id, 6)
    acts: Sequence[tuple[int, AnswerKind, str]] = (
        (0, P, "ann"), (0, N, "bob"), (1, P, "ann"), (1, R, "ann"), (2, U, "ann"), (3, S, "ann"), (4, N, "ann"),
        (4, S, "ann"), (0, P, "ann"),
    )  # fmt: skip
    with writing(engine) as session:
        tasks = session.scalars(select(Task).where(Task.project_id == project_id).order_by(Task.position)).all()
        for act, (place, kind, who) in enumerate(acts):
            answered = answer_on(tasks[place], kind, who, act)
            answered.note = f"{who} on {place}"
            session.add(answered)
            session.flush()
    return project_id


def content(engine: Engine, project_id: int) -> tuple[list[Any], ...]:
    """Return items, gold and labels of a project, without ids."""
    with reading(engine) as session:
        items = session.scalars(select(Item).where(Item.project_id == project_id).order_by(Item.id)).all()
        texts = item_texts(session, [item.id for item in items])
        ids = first_ids(session, texts)
        gold = session.scalars(select(Gold).where(Gold.project_id == project_id)).all()
        labels = current_labels(session, project_id)
        return (
            [(item.side, item.split, item.text, ids[item.id]) for item in items],
            [(texts[pair.left_id], texts[pair.right_id], pair.positive, pair.closure) for pair in gold],
            [(texts[label.left_id], texts[label.right_id], label.answer, label.annotator) for label in labels],
        )


def test_a_copy_has_the_same_items_gold_settings_and_labels(engine: Engine, labelled: int) -> None:
    copy, name = duplicate_project(engine, labelled, labels=True)
    assert name == "Source copy"
    assert content(engine, copy) == content(engine, labelled)
    assert len(content(engine, copy)[2]) == 3  # the retracted and the skipped pair have no label
    source, found = (project_summary(engine, of) for of in ("Source", "Source copy"))
    assert (found.project.settings, found.project.kind) == (source.project.settings, source.project.kind)
    assert (found.contents, found.project.rounds) == (source.contents, 0)
    with reading(engine) as session:
        mine = [session.scalars(select(Answer).where(Answer.project_id == of).order_by(Answer.id)).all()
                for of in (labelled, copy)]  # fmt: skip
    assert [(one.annotator, one.answer) for one in mine[1]] == [("bob", N), ("ann", U), ("ann", N), ("ann", P)]
    assert {one.created_at for one in mine[1]} <= {one.created_at for one in mine[0]}
    assert {one.task_id for one in mine[1]} == {None}
    assert [one.note for one in mine[1]] == ["bob on 0", "ann on 2", "ann on 4", "ann on 0"]


def test_a_copy_without_labels_has_none(engine: Engine, labelled: int) -> None:
    copy, _ = duplicate_project(engine, labelled, labels=False)
    assert content(engine, copy) == (*content(engine, labelled)[:2], [])


def test_copies_find_free_names_that_fit(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"], name="x" * 80)
    assert duplicate_project(engine, project, labels=False)[1] == "x" * 75 + " copy"
    assert duplicate_project(engine, project, labels=False)[1] == "x" * 73 + " copy 2"


def test_labels_of_a_copy_can_be_exported(engine: Engine, labelled: int, tmp_path: Any) -> None:
    duplicate_project(engine, labelled, labels=True)
    assert export_labels(engine, "Source copy", tmp_path / "labels.csv") == 3

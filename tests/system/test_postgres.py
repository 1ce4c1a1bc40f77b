"""Differences between databases, on a PostgreSQL server started for the tests: tables, triggers, locks, queries."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from time import sleep
from typing import Any

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, delete, select, union_all
from sqlalchemy.orm import Session

from allpairs.annotate.features.groups.decide import confirm_group
from allpairs.annotate.features.label.own_answers import history
from allpairs.annotate.features.label.pair_reason import last_answered, reasons
from allpairs.annotate.features.label.queue import RECENT, recent, record, serve
from allpairs.annotate.features.labels.import_labels import import_labels
from allpairs.annotate.features.labels.import_report import Trouble
from allpairs.annotate.features.papers.mined_pairs import take_back, use_as_training
from allpairs.annotate.features.papers.mined_sample import bands_of, put_up
from allpairs.annotate.features.projects.list_view import read_overviews
from allpairs.annotate.features.quality.rounds import read_report
from allpairs.annotate.features.review.hidden_checks import read_fast_answers, read_quality
from allpairs.annotate.frame.access import invitations, logins
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import rights
from allpairs.annotate.kit.jobs import open_jobs, requests
from allpairs.db.domain import AnswerKind, Role, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import answer_at_once, label_counts
from allpairs.db.maintenance.backup import backup, restore
from allpairs.db.maintenance.integrity import problems
from allpairs.db.people.logins import ROTATED
from allpairs.db.projects import jobs
from allpairs.db.projects.projects import all_projects
from allpairs.db.schema.engine import as_person, make_engine, reading, writing
from allpairs.db.schema.tables import Base, Design, Evaluation, Item, Job, Project, StoredModel
from allpairs.learner.jobs.data.project_data import read_project
from allpairs.learner.light.stats.precision_by_rank import precision
from tests.helpers.factories import make_project, make_round
from tests.helpers.files.databases import contents, label_some
from tests.helpers.people import PASSWORD, START, make_person, token_of
from tests.helpers.projects.labels import know
from tests.helpers.projects.pipelines import finished_run
from tests.helpers.services.servers import new_database
from tests.helpers.web import answer, browser, member, site

pytestmark = pytest.mark.postgres


@pytest.fixture
def postgres(server: str, template: str) -> Iterator[Engine]:
    """Yield an engine on empty, migrated tables."""
    engine = make_engine(new_database(server, "beside", template))
    yield engine
    engine.dispose()


@pytest.fixture
def project(postgres: Engine) -> int:
    """Return a project of two lists with a batch of nine pairs."""
    project_id = make_project(postgres, ["Who?", "When?", "Why?"], ["Mary 50%", "in May", "at noon"], auto_train=False)
    make_round(postgres, project_id, 9)
    return project_id


def tell(engine: Engine, project_id: int, who: str, acts: list[tuple[int, AnswerKind]], key: str = "") -> None:
    events = [
        {"key": f"{who}-{key}-{at}", "task_id": task, "answer": answer, "seconds": 2.0}
        for at, (task, answer) in enumerate(acts)
    ]
    assert record(engine, project_id, who, events).refused == {}


def test_the_tables_are_those_of_the_models(postgres: Engine) -> None:
    with postgres.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_a_reader_sees_what_was_there_when_it_began(postgres: Engine, project: int) -> None:
    with reading(postgres) as session:
        before = len(read_project(session, project).item_ids)
        with writing(postgres) as other:
            other.add(Item(project_id=project, side=Side.LEFT, split=Split.TRAIN, text="Where?"))
        assert len(read_project(session, project).item_ids) == before
    with reading(postgres) as session:
        assert len(read_project(session, project).item_ids) == before + 1


def test_acts_on_labels_wait_for_an_answer_that_is_being_stored(postgres: Engine, tmp_path: Path) -> None:
    project = make_project(postgres, ["a", "b"], name="Waits", auto_train=False)
    (tmp_path / "l.csv").write_text("id1,id2,label\nleft-0,left-1,1\n")
    with reading(postgres) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
    with ThreadPoolExecutor(2) as pool:
        with writing(postgres) as session:
            answer_at_once(session, project, "ben", [(items[0], items[1])], AnswerKind.NEGATIVE, "first")
            report = pool.submit(import_labels, postgres, "Waits", tmp_path / "l.csv")
            group = pool.submit(confirm_group, postgres, project, "ann", list(items))
            await_locks(postgres, 2)
        assert report.result().counts == {Trouble.CONFLICT: 1}
        with pytest.raises(InputError, match="look at it again"):
            group.result()


def await_locks(engine: Engine, number: int) -> None:
    """Wait until this many transactions of the database wait for locks."""
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    for _ in range(600):
        with engine.connect() as connection:
            if connection.exec_driver_sql(waiting).scalar() == number:
                return
        sleep(0.05)
    raise AssertionError("nothing waits")


def test_more_pairs_are_counted_than_32_bits_hold(postgres: Engine, project: int) -> None:
    pairs = 3 * 2**31
    with writing(postgres) as session:
        matcher = StoredModel(project_id=project, number=0, encoder="e")
        session.add(matcher)
        session.flush()
        figures: dict[str, Any] = {"estimates": {}, "curve": {}, "histogram": {}}
        session.add(Evaluation(matcher_id=matcher.id, pairs=pairs, **figures))
        session.add(Design(project_id=project, number=1, kind="audit", pairs=pairs, strata=[], folder="design-1"))
    with reading(postgres) as session:
        assert session.scalars(union_all(select(Evaluation.pairs), select(Design.pairs))).all() == [pairs, pairs]


def test_hidden_checks_are_served_and_fast_answers_asked_again(postgres: Engine) -> None:
    project = make_project(postgres, [f"text {i}" for i in range(20)], name="Checked", auto_train=False, gold_share=0.5,
                           repeat_share=0.2)  # fmt: skip
    make_round(postgres, project, 60)
    know(postgres, project, 10, 10)
    pairs = serve(postgres, project, "ann", 40)[0]
    said = [{"key": f"checked-{pair.task_id}", "task_id": pair.task_id, "answer": "negative", "seconds": 0.1}
            for pair in pairs]  # fmt: skip
    for _ in range(2):
        assert record(postgres, project, "ann", said).refused == {}
    assert [one.pair.task_id for one in recent(postgres, project, "ann")] == [pair.task_id for pair in pairs][-RECENT:]
    (ann,) = read_quality(postgres, project)
    assert ann.specificity is not None and ann.specificity.value == 1
    (told,) = read_fast_answers(postgres, project)
    assert (told.answers, told.queued_again, told.looked_at) == (40, 5, 0)
    again = [pair for pair in serve(postgres, project, "ben", 60)[0] if pair.repeated and pair.task_id > 0]
    assert len(again) == 5


def test_of_two_requests_at_once_one_makes_the_job(
    postgres: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, open_job = Barrier(2), jobs.open_job

    def open_job_slowly(session: Session, project_id: int) -> Job | None:
        found = open_job(session, project_id)
        with suppress(BrokenBarrierError):  # each waits for the other, which a lock keeps away
            both.wait(0.5)
        return found

    monkeypatch.setattr(jobs, "open_job", open_job_slowly)
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *arguments: None)
    tell(postgres, project, "ann", [(serve(postgres, project, "ann", 1)[0][0].task_id, AnswerKind.POSITIVE)])
    with ThreadPoolExecutor(2) as pool:
        made = set(pool.map(lambda engine: requests.request_round(engine, project), [postgres] * 2))
    assert len(made) == 1
    assert len(open_jobs.read_jobs(postgres, project)) == 1


def test_the_pages_queries(postgres: Engine, project: int) -> None:
    pairs, _ = serve(postgres, project, "ann", grouped=True)
    assert [pair.left for pair in pairs] == ["Who?"] * 3 + ["When?"] * 3 + ["Why?"] * 3
    tell(postgres, project, "ann", [(pairs[0].task_id, AnswerKind.POSITIVE), (pairs[1].task_id, AnswerKind.NEGATIVE)])
    assert history(postgres, project, "ann", 5, words="mary 50%").total == 1
    task = last_answered(postgres, project, "ann")
    assert task == pairs[1].task_id
    assert reasons(postgres, project, task).rank == 2
    (overview,) = read_overviews(postgres)
    assert overview.batch is not None
    assert overview.batch.answered == 2
    (counts,) = read_report(postgres, project).answers.values()
    assert counts == {AnswerKind.POSITIVE: 1, AnswerKind.NEGATIVE: 1}


def test_what_a_pipeline_made_is_used_and_measured(postgres: Engine, home: Path) -> None:
    project = make_project(postgres, [f"text {i}" for i in range(20)], auto_train=False)
    with reading(postgres) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
    finished_run(postgres, project, "r", list(combinations(items, 2))[:150])
    assert put_up(postgres, project, "r", 0, 20, np.random.default_rng(0)) == 20
    assert use_as_training(postgres, project, "r", 0, 5) == 5
    pairs, _ = serve(postgres, project, "ann", 40, audit_batch=True)
    tell(postgres, project, "ann", [(pair.task_id, AnswerKind.POSITIVE) for pair in pairs])
    found = precision(bands_of(postgres, project, "r", 0))
    assert found is not None and found.value == 1.0
    assert take_back(postgres, project, "r") == 5
    with reading(postgres) as session:
        assert label_counts(session, project) == {AnswerKind.POSITIVE: 20}


def test_rows_move_from_sqlite_to_postgres_and_back(postgres: Engine, engine: Engine, tmp_path: Path) -> None:
    label_some(engine)
    before = contents(engine)
    backup(engine, tmp_path / "there.db")
    restore(tmp_path / "there.db", postgres, replace=False)
    assert list(problems(postgres)) == []
    label_some(postgres, "Later")  # its rows get ids above the copied ones
    with writing(postgres) as session:
        session.execute(delete(Project).where(Project.name == "Later"))
    backup(postgres, tmp_path / "back.db")
    restore(tmp_path / "back.db", engine, replace=True)
    assert contents(engine) == before


def test_people_log_in_see_their_projects_and_guess_slowly(postgres: Engine, project: int) -> None:
    make_project(postgres, ["a", "b"], name="Other")
    make_person(postgres, "Root", administrator=True)
    link = invitations.invite(postgres, project, Role.ANNOTATOR, 1, START)
    token = invitations.accept_as_new(postgres, token_of(link), "Zoë", PASSWORD, START)
    guest = logins.guest_of(postgres, token, START)
    assert guest is not None and logins.still(postgres, guest, START)
    mine = as_person(postgres, guest.person_id)
    with reading(mine) as session:
        assert [found.id for found in all_projects(session)] == [project]
    assert record(mine, project, "Zoë", []).refused == {} and rights(mine, project) == {Right.LABEL}
    assert logins.log_in(postgres, "ZOË\0", PASSWORD, "1.1.1.1", START)

    def guess(number: int) -> str:
        try:
            return logins.log_in(postgres, "zoë", f"guess {number}", f"2.2.2.{number}", START)
        except InputError as error:
            return type(error).__name__

    with ThreadPoolExecutor(8) as pool:  # all at once
        said = list(pool.map(guess, range(16)))
    assert said.count("InputError") <= logins.PER_NAME and said.count("TooMany") >= 16 - logins.PER_NAME
    later = logins.guest_of(postgres, token, START + ROTATED)
    assert later is not None and later.rotate
    with ThreadPoolExecutor(4) as pool:
        new = [one for one in pool.map(lambda _: logins.rotated(postgres, later, START + ROTATED), range(4)) if one]
    assert len(new) == 1 and logins.guest_of(postgres, new[0], START + ROTATED) is not None


def test_programs_ask_it(postgres: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", postgres.url.render_as_string(hide_password=False))
    project_id = make_project(postgres, ["a", "b", "c"], auto_train=False)
    make_round(postgres, project_id, 3)
    boss = member(postgres, project_id, Role.ADMINISTRATOR)
    task = boss.post(f"/projects/{project_id}/tasks", json={}).json()["tasks"][0]["id"]
    for number, status in ((task, 200), (2**31 - 1, 200), (2**31, 422)):  # the largest whole number, and one more
        body = {"answers": [answer("a", number, note="ü")]}
        assert boss.post(f"/projects/{project_id}/answers", json=body).status_code == status
    for number in (2**31 - 1, 2**31):
        assert boss.get(f"/projects/{number}").status_code == 404
    largest = boss.get(f"/projects/{project_id}/labels", params={"cursor": 2**31 - 1})
    assert largest.json() == {"labels": [], "cursor": 2**31 - 1, "more": False}
    found = boss.get(f"/projects/{project_id}/labels").json()["labels"]
    assert [(one["label"], one["note"], one["annotator"]) for one in found] == [(1, "ü", "administrator")]
    assert browser(site(), "bad").get("/projects").status_code == 401

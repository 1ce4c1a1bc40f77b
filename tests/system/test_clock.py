"""The clock an hour ahead and back again, and the moments at which tokens, logins and invitations expire."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, select, text

from allpairs.annotate.features.label import queue
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.frame.access import invitations, logins, people, tokens
from allpairs.annotate.kit.jobs import open_jobs, requests
from allpairs.db.domain import Queue, Role, Scope
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import current_labels
from allpairs.db.labels.leases import LEASE
from allpairs.db.maintenance.integrity import problems
from allpairs.db.people.logins import GRACE, LASTS, ROTATED
from allpairs.db.projects import jobs
from allpairs.db.projects.jobs import live_workers, report_worker
from allpairs.db.schema import tables
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Job
from allpairs.learner.jobs.queue import recovery, routing
from tests.helpers.factories import make_project, make_round
from tests.helpers.people import PASSWORD, START, Clock, at, make_member, make_person, token_of
from tests.helpers.web import PAGE, SITE, FakeSessions, browser, log_in, opener, person_in
from tests.helpers.web import site as api_site

HOUR, INSTANT = timedelta(hours=1), timedelta(microseconds=1)


class Hand:
    """A clock that is set by hand."""

    def __init__(self, time: datetime) -> None:
        self.time = time

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    """Return the clock of labelling and of the workers' reports."""
    hand = Hand(tables.now())
    for module in (queue, jobs, requests):
        monkeypatch.setattr(module, "now", hand, raising=False)
    return hand


def tell(engine: Engine, project: int, who: str, *tasks: int) -> list[str]:
    events = [{"key": f"{who}-{task}", "task_id": task, "answer": "positive", "seconds": 9.0} for task in tasks]
    return record(engine, project, who, events).stored


def served(engine: Engine, project: int, who: str, n: int) -> list[int]:
    return [pair.task_id for pair in serve(engine, project, who, n)[0]]


def test_leases_survive_a_clock_that_goes_ahead_and_back(engine: Engine, hand: Hand) -> None:
    project = make_project(engine, [f"text {at}" for at in range(6)], auto_train=False)
    make_round(engine, project, 9)
    anns = served(engine, project, "ann", 3)
    hand.time += HOUR
    bens = served(engine, project, "ben", 6)
    assert set(anns) < set(bens)  # her leases seem over: the only pairs that two people hold
    assert tell(engine, project, "ann", anns[0]) == [f"ann-{anns[0]}"]
    hand.time -= HOUR
    assert not set(bens) & set(served(engine, project, "ann", 3))  # whoever holds them last keeps them
    assert tell(engine, project, "ann", *anns[1:]) == [f"ann-{task}" for task in anns[1:]]
    assert len(tell(engine, project, "ben", *bens[1:])) == 5
    hand.time += HOUR + LEASE
    with reading(engine) as session:
        keys = session.scalars(select(Answer.key)).all()
        assert len(keys) == len(set(keys)) == 8 and len(current_labels(session, project)) == 6
    left = served(engine, project, "dan", 9)
    assert len(left) == 3 and list(problems(engine)) == []  # nothing stays reserved


def test_a_lease_ends_at_its_moment(engine: Engine, hand: Hand) -> None:
    project = make_project(engine, ["a", "b"], auto_train=False)
    make_round(engine, project, 1)
    (task,), began = served(engine, project, "ann", 1), hand.time
    hand.time = began + LEASE - INSTANT
    assert served(engine, project, "ben", 1) == []
    hand.time = began + LEASE
    assert served(engine, project, "ben", 1) == [task]


def test_the_next_round_can_be_requested_after_a_clock_ahead(
    engine: Engine, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job's time is compared with answers': one of the future must not hold the next one up."""
    project = make_project(engine, ["a", "b", "c"])
    make_round(engine, project, 2)
    hand.time += HOUR
    with writing(engine) as session:
        job = jobs.add_job(session, project, jobs.NEXT_ROUND)
        job.state, job.created_at = "done", hand.time
    hand.time -= HOUR
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *given: asked.append(given))
    for task in served(engine, project, "ann", 2):
        tell(engine, project, "ann", task)
    with reading(engine) as session:
        assert [one.state for one in session.scalars(select(Job).order_by(Job.created_at))] == ["waiting", "done"]
    assert len(asked) == 1


def test_a_token_is_valid_up_to_its_moment(engine: Engine) -> None:
    project, clock = make_project(engine, ["a", "b"]), Hand(START)
    person = make_person(engine, "Anna", project, Role.ADMINISTRATOR)
    token = tokens.make(engine, person, "tests", START, days=1, scopes=[*Scope])
    client = browser(api_site(clock=clock), token)

    def status() -> int:
        return client.get(f"/projects/{project}/labels").status_code

    end = START + timedelta(days=1)
    found = []
    for clock.time in (START, end - INSTANT, end, end + HOUR, end - INSTANT):
        found.append(status())
    assert found == [200, 200, 401, 401, 200]  # set back, the clock decides again


def test_an_hour_ahead_and_back_ends_no_token_and_no_login_early(engine: Engine, hand: Hand) -> None:
    project = make_project(engine, ["a", "b"])
    person = make_person(engine, "Anna", project, Role.ANNOTATOR)
    token = tokens.make(engine, person, "tests", START, days=1)
    login = logins.log_in(engine, "anna", PASSWORD, "1.1.1.1", START)
    for moment in (START, START + HOUR, START, START + timedelta(minutes=5)):
        assert tokens.bearer_of(engine, token, "1.1.1.1", moment).person_id == person
        assert logins.guest_of(engine, login, moment) is not None
    with pytest.raises(InputError, match="revoked or expired"):
        tokens.bearer_of(engine, token, "1.1.1.1", START + timedelta(days=1))


def test_a_login_is_valid_up_to_its_moment(engine: Engine) -> None:
    make_person(engine, "Anna")
    clock = Clock()
    site = opener(engine, clock, FakeSessions())()
    assert log_in(site).status_code == 303
    token = logins.log_in(engine, "anna", PASSWORD, "1.1.1.1", START)
    assert person_in(site) is not None
    assert logins.guest_of(engine, token, START + LASTS - INSTANT) is not None
    for moment in (START + LASTS, START + LASTS + HOUR):
        assert logins.guest_of(engine, token, moment) is None
    clock.wait(LASTS)
    assert site.get("/", headers=PAGE).headers["location"] == "/login"


def test_a_replaced_login_token_fails_after_a_clock_set_back(engine: Engine) -> None:
    make_person(engine, "Anna")
    old = logins.log_in(engine, "anna", PASSWORD, "1.1.1.1", START)
    later = START + ROTATED + HOUR
    guest = logins.guest_of(engine, old, later)
    assert guest is not None and guest.rotate
    new = logins.rotated(engine, guest, later)
    assert new is not None
    assert logins.guest_of(engine, old, later + GRACE / 2) is not None
    for moment in (later - HOUR, later + GRACE):
        assert logins.guest_of(engine, old, moment) is None and logins.guest_of(engine, new, moment) is not None


def test_an_invitation_is_valid_up_to_its_moment(engine: Engine) -> None:
    project, clock = make_project(engine, ["a", "b"], name="Mine"), Clock()
    make_person(engine, "Root", administrator=True)
    link = f"/{invitations.invite(engine, project, Role.ANNOTATOR, 1, START)}"
    site = opener(engine, clock, FakeSessions())()
    form = {"name": "Nora", "password": PASSWORD, "again": PASSWORD}
    clock.wait(timedelta(days=1) - INSTANT)
    assert site.get(link).status_code == 200
    for wait in (INSTANT, HOUR):
        clock.wait(wait)
        assert site.get(link).status_code == 404
        assert site.post(link, data=form, headers={"Origin": SITE}).status_code in (400, 404)
    assert [row.name for row in people.list_people(engine, START)] == ["Root"]
    clock.wait(-HOUR - INSTANT)  # the clock was wrong: unused, the invitation can still be used
    assert site.post(link, data=form, headers={"Origin": SITE}).status_code == 303
    assert site.get(link).status_code == 303 and person_in(site) is not None


def test_an_invitation_revoked_ahead_of_time_stays_revoked(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"])
    _, admin = make_member(engine, project, Role.ADMINISTRATOR)
    token = token_of(invitations.invite(admin, project, Role.VIEWER, 2, at()))
    (row,) = people.invitations(engine, project, at())
    invitations.withdraw(admin, project, row.id, at() + HOUR)
    for moment in (at(), at() + HOUR):
        with pytest.raises(InputError, match="was withdrawn"):
            invitations.offer_of(engine, token, moment)


@pytest.fixture
def queues(home: object) -> Iterator[Engine]:
    with open_jobs.closing_client():
        found = routing.queue_engine()
        yield found
        found.dispose()


def test_a_worker_that_reports_is_alive_whatever_the_clock_did(
    engine: Engine, queues: Engine, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery.DBOS, "list_workflows", lambda **_: [])
    requests.request_round(engine, make_project(engine, ["a", "b"]))
    with queues.begin() as connection:
        connection.execute(text("UPDATE workflow_status SET status = 'PENDING', executor_id = 'rack'"))

    def after(step: timedelta) -> tuple[int, str | None]:
        hand.time += step
        with writing(engine) as session:
            report_worker(session, "rack", "rack", 1, "cpu", Queue.GPU)
        recovery.take_over(engine, queues, "desk")
        with reading(engine) as session, queues.connect() as connection:
            return len(live_workers(session)), connection.scalar(text("SELECT status FROM workflow_status"))

    assert [after(step) for step in (timedelta(), HOUR, -HOUR)] == [(1, "PENDING")] * 3


def test_an_open_job_is_not_lost_while_the_clock_is_ahead(
    engine: Engine, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the queue knows of is only waiting, however long it seems to."""
    monkeypatch.setattr(recovery, "now", hand)
    project = make_project(engine, ["a", "b"])
    with writing(engine) as session:
        job = jobs.add_job(session, project, jobs.AUDIT).id
    listed = [SimpleNamespace(workflow_id=job, status="ENQUEUED")]
    monkeypatch.setattr(recovery.DBOS, "list_workflows", lambda **_: listed)
    for step in (HOUR, -HOUR):
        hand.time += step
        recovery.find_lost_jobs(engine)
        recovery.mark_ended_jobs(engine)
        with reading(engine) as session:
            assert session.get_one(Job, job).state == "waiting"

"""Names, accounts, roles and what each may do."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from allpairs.annotate.features.experiments import experiments
from allpairs.annotate.features.label import own_answers, pick_pair, queue
from allpairs.annotate.features.projects import lifecycle
from allpairs.annotate.features.projects.list_view import read_overviews
from allpairs.annotate.frame.access import mode, people
from allpairs.annotate.frame.access.roles import MAY, ROLES_IN_WORDS, Right, role_may
from allpairs.annotate.frame.access.transactions import Refused, acting, allowed
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import AnswerKind, Role
from allpairs.db.errors import InputError
from allpairs.db.loopback import is_loopback
from allpairs.db.people import people as stored
from allpairs.db.people.people import checked_person_name, folded
from allpairs.db.projects.projects import all_projects, live_project, project_named, project_of
from allpairs.db.schema.engine import as_person, as_system, reading, writing
from allpairs.db.schema.tables import Answer, Job, Task
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import examples
from tests.helpers.people import PASSWORD, at, make_member, make_person

R = Role


@pytest.fixture
def project(engine: Engine) -> int:
    project_id = make_project(engine, [f"text {i}" for i in range(8)], name="Mine", auto_train=False)
    make_round(engine, project_id, 4)
    return project_id


# Rules


def test_roles_are_described_and_only_administrators_change_them() -> None:
    assert set(MAY) == set(ROLES_IN_WORDS) == set(Role)
    for right in (Right.CHANGE, Right.PEOPLE):
        assert [role for role in Role if role_may(role, right)] == [R.ADMINISTRATOR]
    assert not any(role_may(role, Right.INSTALL) for role in Role)
    assert not any(role_may(None, right) for right in Right)
    assert not role_may(R.VIEWER, Right.LABEL) and not role_may(R.ANNOTATOR, Right.SEE)


@settings(max_examples=examples(40))
@given(st.text(max_size=100))
def test_an_accepted_name_is_shown_as_typed_and_case_is_ignored(name: str) -> None:
    try:
        known = checked_person_name(name)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert 1 <= len(known) <= 80 and known.isprintable() and known == known.strip()
    assert checked_person_name(known) == known
    assert folded(known.upper()) == folded(known) == folded(f" {known} ") != ""


@pytest.mark.parametrize(
    ("address", "alone"),
    [("localhost", True), ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True),
     ("LOCALHOST.", True),
     ("", False), (None, False), ("0.0.0.0", False), ("::", False), ("192.168.0.3", False), ("example.org", False),
     ("unix:///run/x.sock", False), ("localhost.example.org", False), ("127.0.0.1.example.org", False)],
)  # fmt: skip
def test_only_the_machine_itself_is_alone(address: str | None, alone: bool) -> None:
    assert is_loopback(address) == alone
    assert mode.forced("", address) != alone
    assert mode.forced("required", address)


def test_another_value_of_the_variable_is_refused() -> None:
    with pytest.raises(InputError, match="ALLPAIRS_LOGIN is 'no'"):
        mode.forced("no", "localhost")


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("localhost:8501", "localhost"),
        ("localhost", "localhost"),
        ("[::1]:80", "::1"),
        ("a.b:1", "a.b"),
        ("::1", "::1"),
    ],
)
def test_the_host_without_its_port(header: str, host: str) -> None:
    assert mode.host_without_port(header) == host


def test_a_name_in_other_forms_of_its_characters_is_the_same() -> None:
    assert folded("ᴬｎna ﬁsher") == folded("ANNA Fisher") == "anna fisher"


def test_a_login_is_needed_once_there_is_an_account(engine: Engine) -> None:
    assert not mode.login_needed(engine, False) and mode.login_needed(engine, True)
    mode.check_start(engine, False)
    with pytest.raises(InputError, match="people add NAME --administrator"):
        mode.check_start(engine, True)
    make_person(engine, "Anna")
    assert mode.login_needed(engine, False)
    mode.check_start(engine, True)


# People


def test_a_name_is_taken_in_any_case_and_no_account_given_away(engine: Engine) -> None:
    person_id = make_person(engine, "Zoë", administrator=False)
    people.disable(engine, person_id, at())
    for taken in ("Zoë", "ZOË", "zoë", " zoe\u0308 "):
        with pytest.raises(InputError, match="is taken"):
            people.add_account(engine, taken, PASSWORD, at())


def test_two_first_accounts_at_once_leave_one_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "anybody", slowly(stored.anybody))
    said = at_once(lambda name: people.add_first(engine, name, PASSWORD, at()), "Anna", "Ben")
    (row,) = people.list_people(engine, at())
    assert row.administrator
    assert len(said) == 1 and "made the first account" in said[0]


def test_of_two_names_that_look_alike_one_is_refused_at_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "add_event", slowly(people.add_event))
    (said,) = at_once(lambda name: people.add_account(engine, name, PASSWORD, at()), "map", "rnap")
    assert "is taken" in said and len(people.list_people(engine, at())) == 1


def test_the_last_administrators_cannot_disable_each_other(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    both = [make_person(engine, name, administrator=True) for name in ("One", "Two")]
    monkeypatch.setattr(people, "add_event", slowly(people.add_event))
    (said,) = at_once(lambda person_id: people.disable(engine, person_id, at()), *both)
    assert "is the last administrator" in said


def slowly(act: Callable[..., Any]) -> Callable[..., Any]:
    """Return the act, after which each of two callers waits for the other, which a lock keeps away."""
    both = Barrier(2)

    def acted(*arguments: Any, **named: Any) -> Any:
        found = act(*arguments, **named)
        with suppress(BrokenBarrierError):
            both.wait(0.5)
        return found

    return acted


def at_once(act: Callable[[Any], object], *whom: object) -> list[str]:
    """Return the errors of the acts on each of these, all at the same time."""

    def said(one: object) -> str:
        try:
            act(one)
        except InputError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(len(whom)) as pool:
        return [error for error in pool.map(said, whom) if error]


@pytest.mark.parametrize(
    ("name", "password", "said"), [("", PASSWORD, "name has 0"), ("Anna", "short", "5 characters")]
)
def test_the_first_account_follows_the_rules_of_all(engine: Engine, name: str, password: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        people.add_first(engine, name, password, at())
    assert not mode.login_needed(engine, False)


def test_the_last_administrator_stays(engine: Engine) -> None:
    one, two = make_person(engine, "One", administrator=True), make_person(engine, "Two", administrator=True)
    people.disable(engine, two, at())
    with pytest.raises(InputError, match="the last administrator"):
        people.disable(engine, one, at())
    with pytest.raises(InputError, match="the last administrator"):
        people.set_administrator(engine, "one", False, at())
    people.enable(engine, two, at())
    people.set_administrator(engine, "one", False, at())
    assert [row.administrator for row in people.list_people(engine, at())] == [False, True]


def test_nobody_changes_their_own_role(engine: Engine, project: int) -> None:
    mine, as_me = make_member(engine, project, R.ADMINISTRATOR)
    with pytest.raises(InputError, match="your own role"):
        people.set_role_of(as_me, mine, project, None, at())
    other = make_person(engine, "Other", project, R.VIEWER)
    people.set_role_of(as_me, other, project, R.ANNOTATOR, at())
    assert [(row.name, role) for row, role in people.members(engine, project, at())] == [
        ("administrator", R.ADMINISTRATOR), ("Other", R.ANNOTATOR),
    ]  # fmt: skip


# Acts


def _record(engine: Engine, project_id: int, who: str) -> None:
    with reading(as_system(engine)) as session:
        task = session.scalars(select(Task.id).where(Task.project_id == project_id)).first()
    queue.record(engine, project_id, who, [{"key": f"k-{who}", "task_id": task, "answer": "positive"}])


def test_an_administrator_of_the_installation_may_everything(engine: Engine, project: int) -> None:
    mine = as_person(engine, make_person(engine, "Root", administrator=True))
    assert all(allowed(mine, right, project) and allowed(mine, right) for right in Right)
    with reading(mine) as session:
        assert len(all_projects(session)) == 1


def test_an_answer_is_stored_under_ones_own_name_alone(engine: Engine, project: int) -> None:
    _, mine = make_member(engine, project, R.ANNOTATOR)
    with pytest.raises(Refused, match="your own name"):
        _record(mine, project, "anna")
    _record(mine, project, "annotator")
    with reading(engine) as session:
        answer = session.scalars(select(Answer)).one()
    with pytest.raises(Refused, match="your own name"):
        own_answers.correct(mine, project, "anna", answer.id, AnswerKind.NEGATIVE)
    with pytest.raises(Refused, match="your own name"):
        pick_pair.pick(mine, project, "anna", (1, 2), 0.5, None)


def test_a_role_that_was_taken_away_is_gone_at_the_next_act(engine: Engine, project: int) -> None:
    person_id, mine = make_member(engine, project, R.ANNOTATOR)
    _record(mine, project, "annotator")
    people.set_role_of(engine, person_id, project, R.VIEWER, at(1))
    with pytest.raises(Refused, match="viewer of 'Mine' you may not label"):
        _record(mine, project, "annotator")
    people.set_role_of(engine, person_id, project, None, at(2))
    with pytest.raises(Refused, match=f"project {project} was removed"):
        _record(mine, project, "annotator")
    people.set_role_of(engine, person_id, project, R.ANNOTATOR, at(3))
    people.disable(engine, person_id, at(4))
    with pytest.raises(Refused, match="sign in again"):
        _record(mine, project, "annotator")


def test_the_last_answer_of_a_batch_starts_the_next_one(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "enqueue_workflow", lambda *arguments: None)
    project_id = make_project(engine, [f"text {i}" for i in range(8)], name="Trains")
    make_round(engine, project_id, 1)
    _, mine = make_member(engine, project_id, R.ANNOTATOR)
    _record(mine, project_id, "annotator")
    with reading(engine) as session:
        assert [job.kind for job in session.scalars(select(Job))] == [jobs.NEXT_ROUND]


def test_another_project_is_as_if_it_were_not_there(engine: Engine, project: int, home: object) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    lifecycle.archive_project(engine, make_project(engine, ["a", "b"], name="Old"))
    lifecycle.bin_project(engine, make_project(engine, ["a", "b"], name="Gone"))
    with writing(engine) as session:
        session.add(Job(id="x", project_id=other, kind="experiment", state="done"))
    person_id, mine = make_member(engine, project, R.ADMINISTRATOR)
    with reading(mine) as session:
        assert [found.name for found in all_projects(session, archived=True)] == ["Mine"]
        assert project_of(session, project).name == "Mine"
        for look in (lambda: project_of(session, other), lambda: live_project(session, other)):
            with pytest.raises(InputError, match="no project number"):
                look()
        with pytest.raises(InputError, match=r"named 'Other'; .* 'Mine'"):
            project_named(session, "Other")
    assert [found.name for found in read_overviews(mine, archived=True)] == ["Mine"]
    assert lifecycle.list_archive(mine) == [] and lifecycle.list_bin(mine) == []
    assert experiments.list_experiments(mine) == [] and len(experiments.list_experiments(engine)) == 1
    for nobody in (as_person(engine, 0), as_person(engine, person_id + 1)):
        with reading(nobody) as session:
            assert not all_projects(session)


def test_an_act_that_does_not_say_its_right_is_an_error(engine: Engine, project: int) -> None:
    with pytest.raises(RuntimeError, match="right it needs"), writing(as_person(engine, 1)):
        pass
    with acting(engine, Right.CHANGE, project) as session:
        assert session is not None

"""Who may do what: names, passwords, roles, logins, invitations."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from annotate import experiments, history, jobs, labelling, lifecycle, picking, projects
from annotate.access import invitations, logins, mode, passwords, people
from annotate.access.acts import Refused, acting, allowed
from annotate.access.roles import ABOUT, MAY, Right, may
from annotate.overview import read_overviews
from db.domain import AnswerKind, InputError, Role, Settings
from db.engine import as_person, as_system, reading, writing
from db.jobs import EXPLORE
from db.logins import GRACE, LASTS, ROTATED, hashed
from db.models import Answer, Job, Login, Person, Task
from db.people import checked_person_name, folded
from db.projects import all_projects, live_project, project_named, project_of
from tests.factories import make_project, make_round
from tests.people import PASSWORD, START, at, cheap_hashes, make_member, make_person, token_of

R = Role


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    cheap_hashes(monkeypatch)


@pytest.fixture
def project(engine: Engine) -> int:
    project_id = make_project(engine, [f"text {i}" for i in range(8)], name="Mine", auto_train=False)
    make_round(engine, project_id, 4)
    return project_id


# Rules


def test_every_role_is_described_and_only_administrators_change_anything() -> None:
    assert set(MAY) == set(ABOUT) == set(Role)
    for right in (Right.CHANGE, Right.PEOPLE):
        assert [role for role in Role if may(role, right)] == [R.ADMINISTRATOR]
    assert not any(may(role, Right.INSTALL) for role in Role)
    assert not any(may(None, right) for right in Right)
    assert not may(R.VIEWER, Right.LABEL) and not may(R.ANNOTATOR, Right.SEE)


@settings(max_examples=40)
@given(st.text(max_size=100))
def test_a_name_that_is_accepted_is_shown_as_it_is_and_found_in_any_case(name: str) -> None:
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
    assert mode.is_loopback(address) == alone
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
    assert mode.host_of(header) == host


def test_a_login_is_needed_once_there_is_an_account(engine: Engine) -> None:
    assert not mode.login_needed(engine, False) and mode.login_needed(engine, True)
    mode.check_start(engine, False)
    with pytest.raises(InputError, match="people add NAME --administrator"):
        mode.check_start(engine, True)
    make_person(engine, "Anna")
    assert mode.login_needed(engine, False)
    mode.check_start(engine, True)


# Passwords


def test_a_password_is_stored_as_argon2id_with_a_salt_of_its_own() -> None:
    one, two = passwords.hash_of(PASSWORD), passwords.hash_of(PASSWORD)
    assert one != two and one.startswith("$argon2id$") and PASSWORD not in one
    assert passwords.is_password(one, PASSWORD) and not passwords.is_password(one, PASSWORD + "!")
    assert not passwords.is_password(None, PASSWORD) and not passwords.is_password("", PASSWORD)
    for wrong in ("short", "x" * 9, "x" * 1001):
        with pytest.raises(InputError, match="it must have 10 to 1,000"):
            passwords.hash_of(wrong)


def test_an_unknown_name_is_checked_against_a_hash_too(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []

    class Watching(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> bool:
            checked.append(str(hash))
            return super().verify(hash, password)

    monkeypatch.setattr(passwords, "HASHER", Watching(time_cost=1, memory_cost=8, parallelism=1))
    with pytest.raises(InputError, match="name or the password"):
        logins.log_in(engine, "nobody", PASSWORD, "1.1.1.1", at())
    assert len(checked) == 1 and checked[0].startswith("$argon2id$")


def test_a_hash_of_other_parameters_is_made_anew_at_the_next_login(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_person(engine, "Anna")
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
    logins.log_in(engine, "Anna", PASSWORD, "1.1.1.1", at())
    with reading(engine) as session:
        assert ",t=2," in (session.scalars(select(Person.password)).one() or "")
    assert logins.log_in(engine, "Anna", PASSWORD, "1.1.1.1", at(1))


# People


def test_a_name_is_taken_in_any_case_and_no_account_is_ever_given_away(engine: Engine) -> None:
    person_id = make_person(engine, "Zoë", administrator=False)
    people.disable(engine, person_id, at())
    for taken in ("Zoë", "ZOË", "zoë", " zoe\u0308 "):
        with pytest.raises(InputError, match="is taken"):
            people.add(engine, taken, PASSWORD, at())


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
        people.set_role(as_me, mine, project, None, at())
    other = make_person(engine, "Other", project, R.VIEWER)
    people.set_role(as_me, other, project, R.ANNOTATOR, at())
    assert [(row.name, role) for row, role in people.members(engine, project, at())] == [
        ("administrator", R.ADMINISTRATOR), ("Other", R.ANNOTATOR),
    ]  # fmt: skip


# Acts


def _record(engine: Engine, project_id: int, who: str) -> None:
    with reading(as_system(engine)) as session:
        task = session.scalars(select(Task.id).where(Task.project_id == project_id)).first()
    labelling.record(engine, project_id, who, [{"key": f"k-{who}", "task_id": task, "answer": "positive"}])


ACTS: dict[str, tuple[Right, Callable[[Engine, int, str], object]]] = {
    "serve": (Right.LABEL, lambda e, p, who: labelling.serve(e, p, who)),
    "answer": (Right.LABEL, _record),
    "search": (Right.SEE, lambda e, p, who: jobs.request_search(e, p, 0, "x", None, True)),
    "round": (Right.CHANGE, lambda e, p, who: jobs.request_round(e, p)),
    "settings": (Right.CHANGE, lambda e, p, who: projects.update_settings(e, p, Settings())),
    "bin": (Right.CHANGE, lambda e, p, who: lifecycle.bin_project(e, p)),
    "delete": (Right.CHANGE, lambda e, p, who: projects.delete_project(e, p)),
    "invite": (Right.PEOPLE, lambda e, p, who: invitations.invite(e, p, R.VIEWER, 1, at())),
    "copy": (Right.INSTALL, lambda e, p, who: lifecycle.duplicate_project(e, p, True)),
    "disable": (Right.INSTALL, lambda e, p, who: people.disable(e, 1, at())),
}  # fmt: skip


@pytest.mark.parametrize("role", [*Role, None])
def test_each_role_does_what_it_may_and_nothing_else(
    engine: Engine, project: int, role: Role | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_enqueue", lambda *arguments: None)
    make_person(engine, "First", administrator=True)
    person_id = make_person(engine, "somebody", project, role)
    mine = as_person(engine, person_id)
    for name, (right, act) in ACTS.items():
        if name in ("bin", "delete", "disable") and may(role, right):
            continue  # what follows needs the project
        if may(role, right):
            act(mine, project, "somebody")
        else:
            with pytest.raises(Refused, match="you may not"):
                act(mine, project, "somebody")
        assert allowed(mine, right, project) == may(role, right)
    with reading(engine) as session:
        stored = set(session.scalars(select(Answer.annotator)))
    assert stored == ({"somebody"} if may(role, Right.LABEL) else set())


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
        history.correct(mine, project, "anna", answer.id, AnswerKind.NEGATIVE)
    with pytest.raises(Refused, match="your own name"):
        picking.pick(mine, project, "anna", (1, 2), 0.5, None)


def test_a_role_that_was_taken_away_is_gone_at_the_next_act(engine: Engine, project: int) -> None:
    person_id, mine = make_member(engine, project, R.ANNOTATOR)
    _record(mine, project, "annotator")
    people.set_role(engine, person_id, project, R.VIEWER, at(1))
    with pytest.raises(Refused, match="as viewer of 'Mine' you may not label its pairs"):
        _record(mine, project, "annotator")
    people.set_role(engine, person_id, project, None, at(2))
    with pytest.raises(Refused, match=f"ask an administrator of project {project}"):
        _record(mine, project, "annotator")
    people.set_role(engine, person_id, project, R.ANNOTATOR, at(3))
    people.disable(engine, person_id, at(4))
    with pytest.raises(Refused, match="log in again"):
        _record(mine, project, "annotator")


def test_the_last_answer_of_a_batch_starts_the_next_one_whoever_gives_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_enqueue", lambda *arguments: None)
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
            with pytest.raises(InputError, match="there is no project number"):
                look()
        with pytest.raises(InputError, match="there is no project named 'Other'; there are 'Mine'"):
            project_named(session, "Other")
    assert [found.name for found in read_overviews(mine, archived=True)] == ["Mine"]
    assert lifecycle.list_archive(mine) == [] and lifecycle.list_bin(mine) == []
    assert experiments.list_experiments(mine) == [] and len(experiments.list_experiments(engine)) == 1
    for nobody in (as_person(engine, 0), as_person(engine, person_id + 1)):
        with reading(nobody) as session:
            assert not all_projects(session)


def test_a_job_of_another_project_is_not_cancelled(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    with writing(engine) as session:
        session.add(Job(id="x", project_id=other, kind=EXPLORE, state="running"))
    _, mine = make_member(engine, project, R.ADMINISTRATOR)
    with pytest.raises(Refused):
        jobs.cancel(mine, "x")


def test_an_act_that_does_not_say_its_right_is_an_error(engine: Engine, project: int) -> None:
    with pytest.raises(RuntimeError, match="which right"), writing(as_person(engine, 1)):
        pass
    with acting(engine, Right.CHANGE, project) as session:
        assert session is not None


# Logins


def log_in(engine: Engine, name: str = "Anna", password: str = PASSWORD, address: str = "1.1.1.1", minutes: float = 0,
           old: str | None = None) -> str:  # fmt: skip
    return logins.log_in(engine, name, password, address, at(minutes), old)


def test_a_login_is_a_random_token_of_which_only_the_hash_is_kept(engine: Engine) -> None:
    make_person(engine, "Anna")
    token, other = log_in(engine), log_in(engine, "  aNNA ")
    assert token != other and len(token) >= 43
    with reading(engine) as session:
        assert set(session.scalars(select(Login.token))) == {hashed(token), hashed(other)}
    guest = logins.guest_of(engine, token, at(1))
    assert guest is not None and guest.name == "Anna" and logins.still(engine, guest, at(1))
    for wrong in ("", "x", hashed(token), token + "x"):
        assert logins.guest_of(engine, wrong, at(1)) is None


def test_a_login_ends_after_two_weeks(engine: Engine) -> None:
    make_person(engine, "Anna")
    token = log_in(engine)
    guest = logins.guest_of(engine, token, START + LASTS - timedelta(seconds=1))
    assert guest is not None
    assert logins.guest_of(engine, token, START + LASTS) is None and not logins.still(engine, guest, START + LASTS)


def test_a_new_login_ends_that_of_the_same_browser(engine: Engine) -> None:
    make_person(engine, "Anna"), make_person(engine, "Ben")
    first = log_in(engine)
    log_in(engine, "Ben", old=first)
    assert logins.guest_of(engine, first, at()) is None


def test_a_token_is_replaced_once_and_the_old_one_good_for_a_minute(engine: Engine) -> None:
    make_person(engine, "Anna")
    token, later = log_in(engine), START + ROTATED
    guest = logins.guest_of(engine, token, later - timedelta(seconds=1))
    assert guest is not None and not guest.rotate and logins.rotated(engine, guest, at(1)) is None
    guest = logins.guest_of(engine, token, later)
    assert guest is not None and guest.rotate
    new = logins.rotated(engine, guest, later)
    assert new is not None and logins.rotated(engine, guest, later) is None  # a second request was under way
    old = logins.guest_of(engine, token, later + GRACE / 2)
    assert old is not None and not old.rotate
    assert logins.guest_of(engine, token, later + GRACE) is None
    assert logins.guest_of(engine, new, later + GRACE) is not None
    assert logins.still(engine, guest, later + GRACE)  # a page that is open goes on


def test_logging_out_here_and_everywhere(engine: Engine) -> None:
    make_person(engine, "Anna")
    tokens = [log_in(engine, minutes=minute) for minute in range(3)]
    guests = [guest for token in tokens if (guest := logins.guest_of(engine, token, at(3)))]
    logins.log_out(engine, guests[0], at(3))
    assert [logins.still(engine, guest, at(3)) for guest in guests] == [False, True, True]
    logins.log_out(engine, guests[1], at(4), everywhere=True)
    assert [logins.guest_of(engine, token, at(4)) for token in tokens] == [None] * 3


def test_who_is_disabled_is_out_at_once_and_cannot_come_back(engine: Engine) -> None:
    person_id = make_person(engine, "Anna")
    token = log_in(engine)
    guest = logins.guest_of(engine, token, at())
    assert guest is not None
    people.disable(engine, person_id, at(1))
    assert logins.guest_of(engine, token, at(1)) is None and not logins.still(engine, guest, at(1))
    with pytest.raises(InputError, match=logins.WRONG):
        log_in(engine, minutes=1)
    people.enable(engine, person_id, at(2))
    assert logins.guest_of(engine, token, at(2)) is None  # it is no use to have kept the token
    assert log_in(engine, minutes=2)


def test_a_page_ends_when_rights_change(engine: Engine, project: int) -> None:
    person_id = make_person(engine, "Anna", project, R.ANNOTATOR)
    guest = logins.guest_of(engine, log_in(engine), at())
    assert guest is not None
    people.set_role(engine, person_id, project, R.VIEWER, at(1))
    assert not logins.still(engine, guest, at(1))


def test_five_failures_of_a_name_make_it_wait_and_nobody_else(engine: Engine) -> None:
    make_person(engine, "Anna"), make_person(engine, "Ben")
    for minute in range(5):
        with pytest.raises(InputError, match=logins.WRONG):
            log_in(engine, password="wrong", address=f"1.1.1.{minute}", minutes=minute)
    for name in ("Anna", "ANNA"):
        with pytest.raises(logins.TooMany, match="try again in 11 minutes"):
            log_in(engine, name, minutes=4)
    assert log_in(engine, "Ben", minutes=4)
    with pytest.raises(logins.TooMany, match=r"try again in 1 minute$"):
        log_in(engine, minutes=14.9)
    assert log_in(engine, minutes=15.1)  # asking while it waits makes nobody wait longer


def test_unknown_names_wait_like_known_ones(engine: Engine) -> None:
    for _ in range(5):
        with pytest.raises(InputError, match=logins.WRONG):
            log_in(engine, "nobody")
    with pytest.raises(logins.TooMany):
        log_in(engine, "nobody")


def test_twenty_failures_from_an_address_make_it_wait(engine: Engine) -> None:
    make_person(engine, "Anna")
    for number in range(20):
        with pytest.raises(InputError, match=logins.WRONG):
            log_in(engine, f"name {number}")
    with pytest.raises(logins.TooMany, match="15 minutes"):
        log_in(engine)
    assert log_in(engine, address="2.2.2.2")


def test_a_login_that_works_forgives_what_failed_before(engine: Engine) -> None:
    make_person(engine, "Anna")
    for _ in range(3):
        for _ in range(4):
            with pytest.raises(InputError, match=logins.WRONG):
                log_in(engine, password="wrong", address="3.3.3.3")
        assert log_in(engine)


def test_a_password_is_changed_by_who_knows_it_and_ends_the_other_logins(engine: Engine) -> None:
    make_person(engine, "Anna")
    here, there = log_in(engine), log_in(engine)
    guest = logins.guest_of(engine, here, at())
    assert guest is not None
    for old, new, why in (("wrong", "a new password", "old password is wrong"), (PASSWORD, "short", "10 to 1,000")):
        with pytest.raises(InputError, match=why):
            logins.change_own_password(engine, guest, old, new, "1.1.1.1", at(1))
    logins.change_own_password(engine, guest, PASSWORD, "a new password", "1.1.1.1", at(2))
    assert logins.guest_of(engine, there, at(2)) is None
    mine = logins.guest_of(engine, here, at(2))
    assert mine is not None and mine.rotate
    with pytest.raises(InputError, match=logins.WRONG):
        log_in(engine, minutes=3)
    assert log_in(engine, password="a new password", minutes=3)


def test_an_administrator_gives_another_password(engine: Engine) -> None:
    make_person(engine, "Anna")
    token = log_in(engine)
    people.set_password(engine, "anna", "another password", at(1))
    assert logins.guest_of(engine, token, at(1)) is None
    assert log_in(engine, password="another password", minutes=1)


def test_a_ticket_is_for_one_browser_for_a_minute_and_good_once(engine: Engine) -> None:
    people.add(engine, "Olga", None, START, subject=("https://id.example", "42"))
    assert logins.ticket_for(engine, "https://id.example", "43", "browser", at()) is None
    assert logins.ticket_for(engine, "https://other.example", "42", "browser", at()) is None
    ticket = logins.ticket_for(engine, "https://id.example", "42", "browser", at())
    assert ticket is not None and logins.guest_of(engine, ticket, at()) is None  # it is no login yet
    assert logins.redeem(engine, ticket, "another", at()) is None
    assert logins.redeem(engine, ticket, "browser", at(2)) is None
    token = logins.redeem(engine, ticket, "browser", at(0.5))
    assert token is not None and logins.redeem(engine, ticket, "browser", at(0.5)) is None
    guest = logins.guest_of(engine, token, at(days=13))
    assert guest is not None and guest.name == "Olga"
    with pytest.raises(InputError, match=logins.WRONG):
        log_in(engine, "Olga", "")


# Invitations


def test_an_invitation_lets_one_person_in_once(engine: Engine, project: int) -> None:
    _, admin = make_member(engine, project, R.ADMINISTRATOR)
    token = token_of(invitations.invite(admin, project, R.ADJUDICATOR, 7, at()))
    offer = invitations.offer_of(engine, token, at())
    assert (offer.project, offer.role, offer.until) == ("Mine", R.ADJUDICATOR, at(days=7))
    with pytest.raises(InputError, match="is taken"):
        invitations.accept_as_new(engine, token, "ADMINISTRATOR", PASSWORD, at())
    login = invitations.accept_as_new(engine, token, "Nora", PASSWORD, at())
    guest = logins.guest_of(engine, login, at())
    assert guest is not None and guest.name == "Nora"
    assert allowed(as_person(engine, guest.person_id), Right.ADJUDICATE, project)
    with pytest.raises(InputError, match="used already"):
        invitations.accept_as_new(engine, token, "Second", PASSWORD, at())
    assert [row.name for row in people.list_people(engine, at())] == ["administrator", "Nora"]


def test_an_invitation_ends(engine: Engine, project: int) -> None:
    admin_id, admin = make_member(engine, project, R.ADMINISTRATOR)
    token, other, third = (token_of(invitations.invite(admin, project, R.VIEWER, 2, at())) for _ in range(3))
    with pytest.raises(InputError, match="too old"):
        invitations.offer_of(engine, token, at(days=2))
    found = people.invitations(engine, project, at())
    assert [(one.role, one.made_by) for one in found] == [(R.VIEWER, "administrator")] * 3
    invitations.withdraw(admin, project, found[1].id, at(1))
    with pytest.raises(InputError, match="used already"):
        invitations.offer_of(engine, other, at(1))
    make_person(engine, "Root", administrator=True)
    people.disable(engine, admin_id, at(1))  # who made it may let nobody in any more
    for one in (token, third):
        with pytest.raises(InputError, match="used already"):
            invitations.accept_as_new(engine, one, "Nora", PASSWORD, at(1))
    with pytest.raises(InputError, match="1 to 30 days, not 31"):
        invitations.invite(engine, project, R.VIEWER, 31, at())


def test_an_invitation_never_lowers_a_role(engine: Engine, project: int) -> None:
    person_id, mine = make_member(engine, project, R.ADJUDICATOR)
    for role, then in ((R.VIEWER, R.ADJUDICATOR), (R.ADMINISTRATOR, R.ADMINISTRATOR)):
        invitations.accept(mine, token_of(invitations.invite(engine, project, role, 1, at())), person_id, at())
        assert people.members(engine, project, at())[0][1] == then


def test_an_invitation_to_a_project_in_the_bin_is_good_for_nothing(engine: Engine, project: int) -> None:
    token = token_of(invitations.invite(engine, project, R.VIEWER, 1, at()))
    lifecycle.bin_project(engine, project)
    with pytest.raises(InputError, match="ask for a new one"):
        invitations.offer_of(engine, token, at())


def test_whom_a_provider_vouches_for_comes_in_by_invitation(engine: Engine, project: int) -> None:
    token = token_of(invitations.invite(engine, project, R.ANNOTATOR, 1, at()))
    invitations.accept_by_subject(engine, token, "Olga", "https://id.example", "42", at())
    assert logins.ticket_for(engine, "https://id.example", "42", "b", at()) is not None
    again = token_of(invitations.invite(engine, project, R.ANNOTATOR, 1, at()))
    with pytest.raises(InputError, match="is 'Olga' already"):
        invitations.accept_by_subject(engine, again, "Olga 2", "https://id.example", "42", at())

"""Invitations to a project."""

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.projects import lifecycle
from allpairs.annotate.frame.access import invitations, logins, people
from allpairs.annotate.frame.access.invitations import UsedError
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import allowed
from allpairs.db.domain import Role
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import as_person
from tests.helpers.factories import make_project, make_round
from tests.helpers.people import PASSWORD, at, make_member, make_person, token_of


@pytest.fixture
def project(engine: Engine) -> int:
    return make_project(engine, ["a", "b"], name="Mine")


def test_an_invitation_lets_one_person_in_once(engine: Engine, project: int) -> None:
    _, admin = make_member(engine, project, Role.ADMINISTRATOR)
    token = token_of(invitations.invite(admin, project, Role.ADJUDICATOR, 7, at()))
    offer = invitations.offer_of(engine, token, at())
    assert (offer.project, offer.role, offer.expires_at) == ("Mine", Role.ADJUDICATOR, at(days=7))
    with pytest.raises(InputError, match="is taken"):
        invitations.accept_as_new(engine, token, "ADMINISTRATOR", PASSWORD, at())
    login = invitations.accept_as_new(engine, token, "Nora", PASSWORD, at())
    guest = logins.guest_of(engine, login, at())
    assert guest is not None and guest.name == "Nora"
    assert allowed(as_person(engine, guest.person_id), Right.ADJUDICATE, project)
    with pytest.raises(InputError, match="already used"):
        invitations.accept_as_new(engine, token, "Second", PASSWORD, at())
    assert [row.name for row in people.list_people(engine, at())] == ["administrator", "Nora"]


def test_nobody_takes_over_answers_by_an_invitation(engine: Engine, project: int) -> None:
    _, admin = make_member(engine, project, Role.ADMINISTRATOR)
    make_round(engine, project, 1)
    (pair,) = serve(engine, project, "Olga")[0]
    record(engine, project, "Olga", [{"key": "k", "task_id": pair.task_id, "answer": "negative"}])
    token = token_of(invitations.invite(admin, project, Role.ANNOTATOR, 7, at()))
    for name in ("olga", "import"):
        with pytest.raises(InputError, match="is taken"):
            invitations.accept_as_new(engine, token, name, PASSWORD, at())
    assert make_person(engine, "Olga")  # an administrator may


def test_an_invitation_ends(engine: Engine, project: int) -> None:
    admin_id, admin = make_member(engine, project, Role.ADMINISTRATOR)
    token, other, third = (token_of(invitations.invite(admin, project, Role.VIEWER, 2, at())) for _ in range(3))
    with pytest.raises(InputError, match="expired on"):
        invitations.offer_of(engine, token, at(days=2))
    with pytest.raises(InputError, match="whole link"):
        invitations.offer_of(engine, token[:-1], at())
    found = people.invitations(engine, project, at())
    assert [(one.role, one.made_by) for one in found] == [(Role.VIEWER, "administrator")] * 3
    invitations.withdraw(admin, project, found[1].id, at(1))
    with pytest.raises(InputError, match="was withdrawn"):
        invitations.offer_of(engine, other, at(1))
    make_person(engine, "Root", administrator=True)
    people.disable(engine, admin_id, at(1))  # who made it may let nobody in any more
    for one in (token, third):
        with pytest.raises(InputError, match="may not invite"):
            invitations.accept_as_new(engine, one, "Nora", PASSWORD, at(1))
    with pytest.raises(InputError, match="1 to 30 days, not 31"):
        invitations.invite(engine, project, Role.VIEWER, 31, at())


def test_who_no_longer_administers_the_project_lets_nobody_in(engine: Engine, project: int) -> None:
    admin_id, admin = make_member(engine, project, Role.ADMINISTRATOR)
    token = token_of(invitations.invite(admin, project, Role.ADMINISTRATOR, 2, at()))
    people.set_role_of(engine, admin_id, project, Role.VIEWER, at(1))
    with pytest.raises(InputError, match="may not invite"):
        invitations.offer_of(engine, token, at(1))


def test_an_invitation_to_another_project_is_not_withdrawn(engine: Engine, project: int) -> None:
    _, admin = make_member(engine, project, Role.ADMINISTRATOR)
    elsewhere = make_project(engine, ["a", "b"], name="Elsewhere")
    token = token_of(invitations.invite(engine, elsewhere, Role.VIEWER, 2, at()))
    (other,) = people.invitations(engine, elsewhere, at())
    invitations.withdraw(admin, project, other.id, at(1))
    assert invitations.offer_of(engine, token, at(1)).project == "Elsewhere"


def test_who_would_gain_nothing_does_not_use_the_invitation_up(engine: Engine, project: int) -> None:
    person_id, mine = make_member(engine, project, Role.ADJUDICATOR)
    root = make_person(engine, "Root", administrator=True)
    for role, is_used in ((Role.VIEWER, False), (Role.ADJUDICATOR, False), (Role.ADMINISTRATOR, True)):
        token = token_of(invitations.invite(engine, project, role, 1, at()))
        assert invitations.accept(engine, token, root, at()) == "Mine"
        offer = invitations.offer_of(engine, token, at(), person_id)
        assert (offer.current_role, offer.gains, offer.joined) == (Role.ADJUDICATOR, is_used, False)
        assert invitations.accept(mine, token, person_id, at()) == "Mine"
        assert people.members(engine, project, at())[0][1] == (role if is_used else Role.ADJUDICATOR)
        if not is_used:
            assert invitations.offer_of(engine, token, at()).role == role
    assert invitations.offer_of(engine, token, at(), person_id).joined
    with pytest.raises(UsedError):
        invitations.offer_of(engine, token, at())


def test_a_disabled_person_learns_that(engine: Engine, project: int) -> None:
    person_id = make_person(engine, "Anna")
    token = token_of(invitations.invite(engine, project, Role.VIEWER, 1, at()))
    people.disable(engine, person_id, at())
    with pytest.raises(InputError, match="your account is disabled"):
        invitations.offer_of(engine, token, at(), person_id)
    with pytest.raises(InputError, match="your account is disabled"):
        invitations.accept(engine, token, person_id, at())
    assert invitations.offer_of(engine, token, at()).gains


def test_an_invitation_says_that_its_project_is_away(engine: Engine, project: int) -> None:
    person_id, _ = make_member(engine, project, Role.VIEWER)
    token = token_of(invitations.invite(engine, project, Role.VIEWER, 1, at()))
    lifecycle.archive_project(engine, project)
    with pytest.raises(InputError, match="archived"):
        invitations.offer_of(engine, token, at())
    assert not invitations.offer_of(engine, token, at(), person_id).gains
    lifecycle.bin_project(engine, project)
    for person in (0, person_id):
        with pytest.raises(InputError, match="in the bin"):
            invitations.offer_of(engine, token, at(), person)


def test_an_invitation_makes_no_first_account(engine: Engine, project: int) -> None:
    token = token_of(invitations.invite(engine, project, Role.VIEWER, 1, at()))
    with pytest.raises(InputError, match="people add NAME --administrator"):
        invitations.accept_as_new(engine, token, "Nora", PASSWORD, at())
    with pytest.raises(InputError, match="people add NAME --administrator"):
        invitations.accept_by_subject(engine, token, "Nora", "https://id.example", "1", at())
    assert people.list_people(engine, at()) == []


def test_whom_a_provider_vouches_for_comes_in_by_invitation(engine: Engine, project: int) -> None:
    make_person(engine, "Root", administrator=True)
    token = token_of(invitations.invite(engine, project, Role.ANNOTATOR, 1, at()))
    invitations.accept_by_subject(engine, token, "Olga", "https://id.example", "42", at())
    assert logins.ticket_for(engine, "https://id.example", "42", "b", at()) is not None
    again = token_of(invitations.invite(engine, project, Role.ANNOTATOR, 1, at()))
    with pytest.raises(InputError, match="belongs to 'Olga'"):
        invitations.accept_by_subject(engine, again, "Olga 2", "https://id.example", "42", at())

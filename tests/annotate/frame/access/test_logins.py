"""Passwords, logins and what slows down guessing them."""

from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from sqlalchemy import Engine, select

from allpairs.annotate.frame.access import logins, passwords, people
from allpairs.db.domain import Role
from allpairs.db.errors import InputError
from allpairs.db.people.logins import GRACE, LASTS, ROTATED, hashed
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Login, Person
from tests.helpers.factories import make_project
from tests.helpers.people import PASSWORD, START, at, make_person

# Passwords


def test_a_password_is_stored_as_argon2id_with_a_salt_of_its_own() -> None:
    one, two = passwords.hash_of(PASSWORD), passwords.hash_of(PASSWORD)
    assert one != two and one.startswith("$argon2id$") and PASSWORD not in one
    assert passwords.is_password(one, PASSWORD) and not passwords.is_password(one, PASSWORD + "!")
    assert not passwords.is_password(None, PASSWORD) and not passwords.is_password("", PASSWORD)
    for wrong in ("short", "x" * 9, "x" * 1001):
        with pytest.raises(InputError, match="10 to 1,000"):
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


def test_a_hash_of_other_parameters_is_renewed_at_the_next_login(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_person(engine, "Anna")
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
    logins.log_in(engine, "Anna", PASSWORD, "1.1.1.1", at())
    with reading(engine) as session:
        assert ",t=2," in (session.scalars(select(Person.password)).one() or "")
    assert logins.log_in(engine, "Anna", PASSWORD, "1.1.1.1", at(1))


# Logins


def log_in(engine: Engine, name: str = "Anna", password: str = PASSWORD, address: str = "1.1.1.1", minutes: float = 0,
           old: str | None = None) -> str:  # fmt: skip
    return logins.log_in(engine, name, password, address, at(minutes), old)


def test_a_login_is_a_random_token_that_is_kept_as_its_hash(engine: Engine) -> None:
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


def test_a_token_is_replaced_once_and_the_old_one_lasts_a_minute(engine: Engine) -> None:
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


def test_a_page_ends_when_rights_change(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"])
    person_id = make_person(engine, "Anna", project, Role.ANNOTATOR)
    guest = logins.guest_of(engine, log_in(engine), at())
    assert guest is not None
    people.set_role_of(engine, person_id, project, Role.VIEWER, at(1))
    assert not logins.still(engine, guest, at(1))


def test_five_failures_of_a_name_make_it_wait_and_nobody_else(engine: Engine) -> None:
    make_person(engine, "Anna"), make_person(engine, "Ben")
    for minute in range(5):
        with pytest.raises(InputError, match=logins.WRONG):
            log_in(engine, password="wrong", address=f"1.1.1.{minute}", minutes=minute)
    for name in ("Anna", "ANNA"):
        with pytest.raises(logins.TooMany, match="in 11 minutes"):
            log_in(engine, name, minutes=4)
    assert log_in(engine, "Ben", minutes=4)
    with pytest.raises(logins.TooMany, match=r"in 1 minute$"):
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


def test_knowing_the_password_changes_it_and_ends_other_logins(engine: Engine) -> None:
    make_person(engine, "Anna")
    here, there = log_in(engine), log_in(engine)
    guest = logins.guest_of(engine, here, at())
    assert guest is not None
    for old, new, why in (("wrong", "a new password", "current password is wrong"), (PASSWORD, "short", "10 to 1,000")):
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
    people.add_account(engine, "Olga", None, START, subject=("https://id.example", "42"))
    assert logins.ticket_for(engine, "https://id.example", "43", "browser", at()) is None
    assert logins.ticket_for(engine, "https://other.example", "42", "browser", at()) is None
    ticket = logins.ticket_for(engine, "https://id.example", "42", "browser", at())
    assert ticket is not None and logins.guest_of(engine, ticket, at()) is None  # it is no login yet
    assert logins.redeem_ticket(engine, ticket, "another", at()) is None
    assert logins.redeem_ticket(engine, ticket, "browser", at(2)) is None
    token = logins.redeem_ticket(engine, ticket, "browser", at(0.5))
    assert token is not None and logins.redeem_ticket(engine, ticket, "browser", at(0.5)) is None
    guest = logins.guest_of(engine, token, at(days=13))
    assert guest is not None and guest.name == "Olga"
    with pytest.raises(InputError, match=logins.WRONG):
        log_in(engine, "Olga", "")

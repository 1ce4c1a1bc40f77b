"""Accounts for tests, whose time is a number."""

from datetime import UTC, datetime, timedelta

from argon2 import PasswordHasher
from sqlalchemy import Engine

from allpairs.annotate.frame.access import invitations, people
from allpairs.db.domain import Role
from allpairs.db.schema.engine import as_person

START = datetime(2026, 1, 1, tzinfo=UTC)
PASSWORD = "correct horse"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # what tests hash with


def at(minutes: float = 0, days: float = 0) -> datetime:
    """Return the time this long after the start."""
    return START + timedelta(days=days, minutes=minutes)


def make_person(engine: Engine, name: str, project_id: int = 0, role: Role | None = None, **more: bool) -> int:
    """Make a person with the password of all tests and return their id."""
    people.add_account(engine, name, PASSWORD, START, **more)
    person_id = people.id_of(engine, name)
    if role is not None:
        people.set_role_of(engine, person_id, project_id, role, START)
    return person_id


def make_member(engine: Engine, project_id: int, role: Role) -> tuple[int, Engine]:
    """Make a person named after the role; return their id and their engine."""
    person_id = make_person(engine, role.value, project_id, role)
    return person_id, as_person(engine, person_id)


def token_of(path: str) -> str:
    """Return the token in the path of an invitation."""
    return path.removeprefix(f"{invitations.PATH}/")


class Clock:
    """A time that tests move."""

    def __init__(self) -> None:
        self.time = at()

    def __call__(self) -> datetime:
        return self.time

    def wait(self, time: timedelta) -> None:
        self.time += time

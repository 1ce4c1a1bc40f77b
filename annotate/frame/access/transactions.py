"""Transactions that check a right first, so that no right is checked elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import WRITES, Right, role_may
from allpairs.db.domain import Scope
from allpairs.db.errors import InputError
from allpairs.db.people.people import role_in
from allpairs.db.projects.projects import live_project, project_of
from allpairs.db.schema.engine import as_system, person_of, reading, scopes_of, writing
from allpairs.db.schema.tables import Person, Project


class Refused(InputError):
    """Somebody asked for something that they may not do."""


@contextmanager
def acting(
    engine: Engine,
    right: Right,
    project_id: int | None = None,
    annotator: str | None = None,
    *,
    put_away: bool = False,
) -> Iterator[Session]:
    """Open a write transaction for somebody who has this right in the project (without a project: everywhere).

    annotator: the name under which answers are stored; it must be the person's own. put_away: the project may be
    archived or in the bin; otherwise nothing goes on there. The checks and the write share one transaction, so that no
    role changes in between. Acts in one project follow one another; those of `Right.LABEL` wait only where they store
    answers. In the transaction, too, projects that the person may not see do not exist. Raises Refused, and ProjectGone
    to whoever has the right.
    """
    require_scope(engine, WRITES[right])
    with writing(as_system(engine)) as session:
        session.connection().execution_options(person=person_of(engine))
        require(session, right, project_id, annotator)
        if project_id is not None:
            # Acts count and compare what no other may change meanwhile. Pairs are served beside them, and answers are
            # stored under this lock, too, which `lock_answers` takes.
            (project_of if put_away else live_project)(session, project_id, lock=right is not Right.LABEL)
        yield session


def rights(engine: Engine, project_id: int | None = None) -> frozenset[Right]:
    """Return all rights of the engine's person in the project (without a project: everywhere)."""
    with reading(engine) as session:
        return frozenset(right for right in Right if is_allowed(session, right, project_id))


def allowed(engine: Engine, right: Right, project_id: int | None = None) -> bool:
    """Return whether the engine's person has this right in the project (without a project: everywhere)."""
    with reading(engine) as session:
        return is_allowed(session, right, project_id)


def is_allowed(session: Session, right: Right, project_id: int | None) -> bool:
    """Return whether the session's person has this right in the project (without a project: everywhere)."""
    try:
        require(session, right, project_id)
    except Refused:
        return False
    return True


def require_scope(engine: Engine | Connection, scope: Scope) -> None:
    """Raise Refused if the person asks with a token that does not have this scope."""
    scopes = scopes_of(engine)
    if scopes is not None and scope not in scopes:
        raise Refused(f"this token does not have the scope {scope.value!r}: make one that has it on the page API")


def require(session: Session, right: Right, project_id: int | None = None, annotator: str | None = None) -> None:
    """Raise Refused unless the session's person has the right; the system, and anyone without sign-in, has all."""
    person_id = person_of(session.connection())
    if person_id is None:
        return
    person = session.get(Person, person_id)
    if person is None or person.disabled_at is not None:
        raise Refused("you are not signed in: sign in again")
    if person.administrator:
        allowed = True
    elif project_id is None or right is Right.INSTALL:
        allowed = False
    else:
        allowed = role_may(role_in(session, person, project_id), right)
    if not allowed:
        raise Refused(_why_not(session, person, right, project_id))
    if annotator is not None and annotator != person.name:
        raise Refused(f"answers are stored under your own name, {person.name!r}, not {annotator!r}: reload the page")


def _why_not(session: Session, person: Person, right: Right, project_id: int | None) -> str:
    role = role_in(session, person, project_id) if project_id is not None else None
    if role is None and (project_id is None or right is Right.INSTALL):
        return f"you may not {right}: ask an administrator"
    if role is None:  # not the project's name, which they may not know
        reason = f"project {project_id} was removed, or you have no role in it"
        return f"you may not {right}: {reason}; ask an administrator"
    project = session.get(Project, project_id)
    name = project.name if project is not None else str(project_id)
    return f"as {role} of {name!r} you may not {right}: ask an administrator of the project for another role"

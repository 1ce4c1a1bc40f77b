"""People with accounts, and their roles in projects."""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from sqlalchemy import exists, func, select, text, union
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from allpairs.db.confusables import skeleton
from allpairs.db.domain import Role
from allpairs.db.errors import InputError
from allpairs.db.schema.tables import Answer, Lease, Membership, Person, Rating

MAX_NAME = 80
IMPORTED = "import"  # the annotator of imported labels that name none


def folded(name: str) -> str:
    """Return the name for comparison: without case, Unicode form, or space around it."""
    plain = name.replace("\0", "")  # PostgreSQL cannot store NUL
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", plain).casefold()).strip()[:400]


def checked_person_name(name: str) -> str:
    """Return the name in its normal form, without space around it.

    Raises InputError for a name that is empty, too long or not printable.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise InputError("the name has {n} characters; it must have 1 to {longest}", n=len(name), longest=MAX_NAME)
    if not name.isprintable() or not folded(name):
        raise InputError("the name {name!r} has unprintable characters; remove them", name=name)
    return name


def anybody(session: Session) -> bool:
    """Return whether there is any account, disabled ones included."""
    return bool(session.scalar(select(exists().where(Person.id.is_not(None)))))


def people_alone(session: Session) -> None:
    """Keep others from adding or changing people until this transaction ends, which must not have done so before."""
    if session.connection().dialect.name == "postgresql":  # SQLite's write transaction keeps others out
        session.execute(text(f"LOCK TABLE {Person.__tablename__} IN SHARE ROW EXCLUSIVE MODE"))


def require_nobody(session: Session) -> None:
    """Raise InputError if there is any account. Until this transaction ends, nobody else can make one."""
    people_alone(session)
    if anybody(session):
        raise InputError("somebody else has just made the first account: sign in, or ask them for an invitation")


def find_person(session: Session, name: str) -> Person | None:
    """Return the person of this name, ignoring case."""
    return session.scalar(select(Person).where(Person.folded == folded(name)))


def person_named(session: Session, name: str) -> Person:
    """Return the person of this name, ignoring case.

    Raises InputError if there is none.
    """
    person = find_person(session, name)
    if person is None:
        raise InputError(f"nobody is named {name.strip()[:MAX_NAME]!r}; to see all names, run allpairs people list")
    return person


def person_by_subject(session: Session, issuer: str, subject: str) -> Person | None:
    """Return the person with this id at this OpenID Connect provider."""
    return session.scalar(select(Person).where(Person.issuer == issuer, Person.subject == subject))


def all_people(session: Session) -> Sequence[Person]:
    """Return everybody, by name."""
    return session.scalars(select(Person).order_by(Person.folded)).all()


def add_person(
    session: Session,
    name: str,
    password: str | None,
    time: datetime,
    issuer: str | None = None,
    subject: str | None = None,
    administrator: bool = False,
    takes_over: bool = True,
) -> Person:
    """Add a person; password: already hashed; takes_over: whether answers and ratings of this name become theirs.

    Raises InputError for a name that is invalid, taken or looks like one that is, ignoring case, and for a provider's
    id that is taken. A name under which there are answers is taken, too, unless they are to become the person's.
    """
    name = checked_person_name(name)
    people_alone(session)
    name_taken = InputError("the name {name!r} is taken, or looks like a name that is; choose another one", name=name)
    looks = _looks(name)
    other_names = set(session.scalars(select(Person.name))) | (set() if takes_over else _names_of_answers(session))
    if any(looks & _looks(same_subject) for same_subject in other_names):
        raise name_taken
    if issuer is not None and subject is not None and (same_subject := person_by_subject(session, issuer, subject)):
        raise InputError(f"the id {subject!r} at {issuer} already belongs to {same_subject.name!r}")
    person = Person(
        name=name,
        folded=folded(name),
        password=password,
        issuer=issuer,
        subject=subject,
        administrator=administrator,
        changed_at=time,
        created_at=time,
    )
    session.add(person)
    try:
        session.flush()
    except IntegrityError:  # somebody else was faster
        raise name_taken from None
    return person


def _names_of_answers(session: Session) -> set[str]:
    """Return the names under which answers and ratings are stored, and that of imported labels without one."""
    return {IMPORTED, *session.scalars(union(select(Answer.annotator), select(Rating.rater)))}


def known_names(session: Session) -> dict[str, str]:
    """Return everybody's name as it is written, by its form for comparison: casey and Casey are one person.

    An account's spelling comes first, then that of the first answer.
    """
    answered = select(Answer.annotator).group_by(Answer.annotator).order_by(func.min(Answer.id))
    queries = select(Person.name), answered, select(Rating.rater).distinct(), select(Lease.annotator).distinct()
    spellings: dict[str, str] = {}
    for name in chain.from_iterable(session.scalars(names) for names in queries):
        spellings.setdefault(folded(name), name)
    return spellings


def _looks(name: str) -> set[str]:
    """Return how the name looks, as it is written and without regard to case."""
    return {skeleton(name), skeleton(folded(name)), folded(skeleton(name))}


def role_in(session: Session, person: Person, project_id: int) -> Role | None:
    """Return the person's role in the project; administrators of the installation are that of every project."""
    if person.administrator:
        return Role.ADMINISTRATOR
    membership = session.get(Membership, (person.id, project_id))
    return Role(membership.role) if membership is not None else None


def set_role(session: Session, person: Person, project_id: int, role: Role | None, time: datetime) -> None:
    """Set the person's role in the project, or remove it (None). Their open pages restart."""
    membership = session.get(Membership, (person.id, project_id))
    if role is None:
        if membership is not None:
            session.delete(membership)
    elif membership is None:
        session.add(Membership(person_id=person.id, project_id=project_id, role=role))
    else:
        membership.role = role
    person.changed_at = time
    session.flush()


def members_of(session: Session, project_id: int) -> list[tuple[Person, Role]]:
    """Return who has a role in the project, by name. Administrators of the installation need not be among them."""
    query = select(Person, Membership.role).join(Membership, Membership.person_id == Person.id)
    rows = session.execute(query.where(Membership.project_id == project_id).order_by(Person.folded))
    return [(person, Role(role)) for person, role in rows]


def all_roles(session: Session) -> dict[int, dict[int, Role]]:
    """Return each person's role in each of their projects."""
    roles: dict[int, dict[int, Role]] = defaultdict(dict)
    for person_id, project_id, role in session.execute(
        select(Membership.person_id, Membership.project_id, Membership.role)
    ):
        roles[person_id][project_id] = Role(role)
    return roles


def roles_of(session: Session, person_id: int) -> dict[int, Role]:
    """Return the person's role in each of their projects."""
    query = select(Membership.project_id, Membership.role).where(Membership.person_id == person_id)
    return {project_id: Role(role) for project_id, role in session.execute(query)}

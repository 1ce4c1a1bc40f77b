"""The commands `people add|list|password|role|disable|enable|invite|logout|token|tokens|withdraw`."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer
from sqlalchemy import Engine

from allpairs.annotate.frame.access import people as services
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.access.addresses import public_urls
from allpairs.annotate.frame.access.invitations import invite as make_invitation
from allpairs.annotate.frame.access.tokens import LONGEST_LIFE, USUAL
from allpairs.annotate.kit.command_output import Json, print_columns, print_json, remark, upgraded_engine
from allpairs.db.domain import Role, Scope
from allpairs.db.errors import InputError
from allpairs.db.people.people import checked_person_name
from allpairs.db.projects.projects import project_named
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import ApiToken, now
from allpairs.program import group

people = group("The people who may use the app, and their roles.")

Name = Annotated[str, typer.Argument(help="The person's name (case is ignored).")]
NOTHING = "none"


@people.command()
def add(
    name: Name,
    administrator: Annotated[
        bool,
        typer.Option("--administrator", help="Make an administrator of the installation, and so of every project."),
    ] = False,
    issuer: Annotated[
        str | None, typer.Option(help="Sign in through this OpenID Connect provider instead of a password.")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="The person's id (sub) at that provider.")] = None,
) -> None:
    """Create an account. The password is prompted for, or read from standard input.

    Example: allpairs people add Anna --administrator
    """
    if (issuer is None) != (subject is None):
        raise InputError("--issuer and --subject belong together: give both or neither")
    name = checked_person_name(name)
    vouched = (issuer, subject) if issuer is not None and subject is not None else None
    password = None if vouched else _password()
    services.add_account(upgraded_engine(), name, password, now(), administrator, vouched)


@people.command("list")
def list_all(as_json: Json = False) -> None:
    """List everybody with an account: their role in each project, and when they were last seen.

    Example: allpairs people list --json
    """
    people_rows = services.list_people(upgraded_engine(), now())
    if as_json:
        print_json([_row(person) for person in people_rows])
    elif people_rows:
        print_columns(("name", "state", "browsers", "last seen", "roles"), map(_cells, people_rows))
    else:
        remark("there is no account yet; to create one, see allpairs people add --help")


@people.command()
def password(name: Name) -> None:
    """Set somebody's password (prompted for, or from standard input); end their logins and revoke their tokens.

    Example: allpairs people password Anna
    """
    engine = upgraded_engine()
    services.id_of(engine, name)
    services.set_password(engine, name, _password(), now())


@people.command()
def role(
    name: Name,
    to: Annotated[str, typer.Argument(help=f"{', '.join(Role)}, or {NOTHING}.")],
    project: Annotated[str | None, typer.Option(help="The project. [default: the whole installation]")] = None,
) -> None:
    """Set somebody's role in a project; without a project, make them an administrator of the installation or not.

    Example: allpairs people role Ben annotator --project questions
    """
    if to not in (*Role, NOTHING):
        raise InputError(f"there is no role {to!r}; choose {', '.join(Role)} or {NOTHING}")
    if project is not None:
        services.set_role_by_name(upgraded_engine(), name, project, None if to == NOTHING else Role(to), now())
    elif to in (Role.ADMINISTRATOR, NOTHING):
        services.set_administrator(upgraded_engine(), name, to == Role.ADMINISTRATOR, now())
    else:
        raise InputError(f"{to} is a role in one project: name it with --project")


@people.command()
def disable(name: Name) -> None:
    """Disable somebody at once and revoke their tokens. Their answers stay, and nobody else can take the name.

    Example: allpairs people disable Ben
    """
    _for(name, lambda engine, person: services.disable(engine, person, now()))


@people.command()
def enable(name: Name) -> None:
    """Enable somebody who was disabled.

    Example: allpairs people enable Ben
    """
    _for(name, lambda engine, person: services.enable(engine, person, now()))


@people.command()
def logout(name: Name) -> None:
    """Sign somebody out of every browser and revoke their tokens.

    Example: allpairs people logout Ben
    """
    _for(name, lambda engine, person: print(f"{services.end_all_logins(engine, person, now()):,} logins ended"))


@people.command()
def invite(
    project: Annotated[str, typer.Argument(help="The project's name.")],
    role: Annotated[Role, typer.Option(help="Role granted by the invitation link.")] = Role.ANNOTATOR,
    days: Annotated[int, typer.Option(help="How many days the link is valid.", min=1, max=30)] = 7,
    as_json: Json = False,
) -> None:
    """Print a link that lets one person join a project, once. It begins with the address in ALLPAIRS_PUBLIC_URL.

    Example: allpairs people invite questions --role annotator
    """
    engine = upgraded_engine()
    with reading(engine) as session:
        project_id = project_named(session, project).id
    site = next(iter(public_urls()), "http://localhost:8501")
    link = f"{site}/{make_invitation(engine, project_id, role, days, now())}"
    if as_json:
        print_json({"link": link, "role": role.value, "days": days})
    else:
        print(link)


@people.command()
def token(
    name: Name,
    purpose: Annotated[str, typer.Option("--for", help="What the token is for; shown in the list of tokens.")],
    days: Annotated[
        int | None,
        typer.Option(help="How many days the token is valid. [default: until revoked]", min=1, max=LONGEST_LIFE),
    ] = None,
    scope: Annotated[
        list[Scope] | None,
        typer.Option(help="What the token may be used for; repeat to name several. [default: read, label]"),
    ] = None,
) -> None:
    """Print a new token, with which a program uses the REST API in somebody's name. It is shown only once.

    It allows what both its scopes and the person's role allow.

    Example: allpairs people token Ben --for "nightly import" --days 90 --scope read
    """
    _for(name, lambda engine, person: print(tokens.make(engine, person, purpose, now(), days, scopes=scope or USUAL)))


@people.command("tokens")
def list_tokens(name: Name, as_json: Json = False) -> None:
    """List somebody's tokens: number, purpose, scopes, and when each was made, expires and was last used.

    Example: allpairs people tokens Ben
    """
    engine = upgraded_engine()
    rows = [_token_row(token_) for token_ in tokens.list_tokens(engine, services.id_of(engine, name))]
    if as_json:
        print_json(rows)
    elif rows:
        print_columns(tuple(rows[0]), [["–" if cell is None else cell for cell in row.values()] for row in rows])
    else:
        remark(f"{name} has no token")


@people.command()
def withdraw(name: Name, number: Annotated[int, typer.Argument(help="Its number, from `people tokens`.")]) -> None:
    """Revoke a token of somebody: programs that use it get no answer from then on.

    Example: allpairs people withdraw Ben 3
    """
    _for(name, lambda engine, person: tokens.withdraw_token(engine, person, number))


def _token_row(row: ApiToken) -> dict[str, object]:
    times = {"made": row.created_at, "until": row.expires_at, "used": row.used_at}
    time_texts = {name: time and time.isoformat(timespec="minutes") for name, time in times.items()}
    return {"number": row.id, "for": row.purpose, "scopes": tokens.scopes_in_words(row.scopes), **time_texts}


def _for(name: str, act: Callable[[Engine, int], None]) -> None:
    engine = upgraded_engine()
    act(engine, services.id_of(engine, name))


def _password() -> str:
    """Return the password, prompted for twice or read from standard input. Other users could see an argument."""
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def _row(person: services.PersonRow) -> dict[str, object]:
    return {
        "name": person.name,
        "administrator": person.administrator,
        "disabled": person.disabled,
        "roles": {project: role.value for project, role in person.roles.items()},
        "browsers": person.browsers,
        "seen_at": person.seen_at.isoformat() if person.seen_at else None,
    }


def _cells(person: services.PersonRow) -> tuple[object, ...]:
    state = "disabled" if person.disabled else "administrator" if person.administrator else ""
    last_seen = f"{person.seen_at:%Y-%m-%d %H:%M} UTC" if person.seen_at else ""
    roles = ", ".join(f"{project}: {role}" for project, role in person.roles.items())
    return person.name, state, person.browsers, last_seen, roles

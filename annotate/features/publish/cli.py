"""The command `publish`."""

from typing import Annotated

import typer

from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.annotate.features.publish.publications import end, publish_round, read_service
from allpairs.annotate.kit.command_output import Json, print_json, remark, upgraded_engine
from allpairs.db.domain import PublicationKind
from allpairs.db.errors import InputError


def publish_model(
    name: Annotated[str, typer.Argument(help="The project's name.")],
    number: Annotated[
        int | None, typer.Option("--round", help="Whose model to publish. [default: the newest]", min=1)
    ] = None,
    note: Annotated[str, typer.Option(help="Why, for the history of publications.")] = "",
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Compare this model with the published one on the same requests.")
    ] = False,
    ending: Annotated[bool, typer.Option("--end", help="Stop publishing; with --shadow, stop comparing.")] = False,
    as_json: Json = False,
) -> None:
    """Let a round's model answer `match` requests, or compare another one with it.

    Example: allpairs publish questions --round 4 --note "after the audit of May"
    """
    if ending and number is not None:
        raise InputError("--end ends whatever is in service: leave out --round")
    engine = upgraded_engine()
    kind = PublicationKind.SHADOW if shadow else PublicationKind.MODEL
    project_id = project_by_name(engine, name).id
    if ending:
        end(engine, project_id, kind, note)
        row = None
    else:
        row = publish_round(engine, project_id, number, note, kind)
    if as_json:
        print_json({"kind": str(kind), "round": row and row.number, "note": note})
    else:
        outcome = "ended" if row is None else f"round {row.number}"
        print(f"{'shadow' if shadow else 'published'}: {outcome}")
    if row is not None and not read_service(engine, project_id).answers:
        remark("no process answers `match` yet: start one with allpairs serve --match, or allpairs serve-model")

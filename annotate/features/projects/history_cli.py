"""The command `history`."""

from typing import Annotated

import typer

from allpairs.annotate.features.projects.history import NOBODY, changes, events
from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.annotate.kit.command_output import Json, print_columns, print_json, remark, upgraded_engine
from allpairs.db.schema.tables import Event


def show_history(
    name: Annotated[str | None, typer.Argument(help="The project's name. [default: the whole installation]")] = None,
    limit: Annotated[int, typer.Option(help="The most entries to show, the newest first.", min=1)] = 100,
    as_json: Json = False,
) -> None:
    """Show who changed what and when in a project; without a project, in the installation.

    Example: allpairs project history questions
    """
    engine = upgraded_engine()
    past = events(engine, None if name is None else project_by_name(engine, name, in_bin=True).id, limit)
    if as_json:
        print_json([_as_dict(event) for event in past.events])
        return
    rows = (
        (_time(event), event.who or NOBODY, event.kind, event.about, "; ".join(changes(event))) for event in past.events
    )
    print_columns(("when", "who", "what", "of", "change"), rows)
    if past.total > limit:
        remark(f"{past.total - limit:,} earlier entries are not shown: raise --limit")


def _time(event: Event) -> str:
    return f"{event.at:%Y-%m-%d %H:%M} UTC"


def _as_dict(event: Event) -> dict[str, object]:
    parts = {"who": event.who or None, "what": str(event.kind), "of": event.about, "old": event.old, "new": event.new}
    return {"at": event.at.isoformat()} | parts

"""The commands `webhooks list|add|delete`."""

from typing import Annotated

import typer

from allpairs.annotate.features.projects.cli import Name
from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.annotate.features.webhooks import webhooks as services
from allpairs.annotate.kit.command_output import Json, print_columns, print_json, remark, upgraded_engine
from allpairs.program import group

webhooks = group("The systems that are told what happens in a project.")


@webhooks.command("list")
def list_all(name: Name, as_json: Json = False) -> None:
    """List a project's webhooks: number, address, what each is told, and whether it is on.

    Example: allpairs webhooks list questions
    """
    engine = upgraded_engine()
    hooks = services.webhooks_of_project(engine, project_by_name(engine, name).id)
    if as_json:
        print_json(hooks)
    elif hooks:
        rows = ((row.id, row.url, ", ".join(row.kinds), "on" if row.active else "off") for row in hooks)
        print_columns(("number", "address", "told about", "state"), rows)
    else:
        remark("this project has no webhooks; to add one, see allpairs webhooks add --help")


@webhooks.command()
def add(
    name: Name,
    url: Annotated[str, typer.Argument(help="The address of the system.", metavar="URL")],
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", help=f"What it is told, repeatable: {', '.join(services.OFFERED)}. [default: all]"),
    ] = None,
) -> None:
    """Add a webhook and print its number and its secret, which is not shown again.

    Example: allpairs webhooks add questions https://example.org/hook --kind batch.ready
    """
    engine = upgraded_engine()
    webhook = services.add(engine, project_by_name(engine, name).id, url, kinds or services.OFFERED)
    print(webhook.id, webhook.secret)


@webhooks.command()
def delete(
    name: Name, number: Annotated[int, typer.Argument(help="The webhook's number, as listed.", metavar="NUMBER")]
) -> None:
    """Delete a webhook with what waits for it.

    Example: allpairs webhooks delete questions 3
    """
    engine = upgraded_engine()
    services.remove_webhook(engine, project_by_name(engine, name).id, number)

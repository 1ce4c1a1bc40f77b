"""The commands `rater set|show|run|end|resume`."""

from typing import Annotated

import typer

from allpairs.annotate.features.projects.cli import Name
from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.annotate.features.raters import rater_setup as services
from allpairs.annotate.features.raters.in_words import COLUMNS, quality_rows, sentences
from allpairs.annotate.features.raters.rater_state import (
    RaterState,
    dry_run,
    in_words,
    read_raters,
    read_worth,
    what_leaves,
)
from allpairs.annotate.kit.command_output import Json, database, print_columns, print_json, remark
from allpairs.annotate.kit.jobs.requests import request_rating, worker_alive
from allpairs.db.domain import RatedFor, RaterSetup
from allpairs.program import group

rater = group("A program that is asked whether pairs match, kept apart from people's answers, and measured.")

FIELDS = RaterSetup.model_fields
DEFAULT = RaterSetup(name="x")


def _help(field: str) -> str:
    return FIELDS[field].description or ""


@rater.command("set")
def set_up(
    project: Name,
    name: Annotated[str, typer.Option(help=_help("name"))],
    url: Annotated[str, typer.Option(help=_help("url"))] = "",
    model: Annotated[str, typer.Option(help=_help("model"))] = "",
    key_name: Annotated[str, typer.Option(help=_help("key_name"))] = "",
    function: Annotated[str, typer.Option(help=f"In place of an endpoint: {_help('function')}")] = "",
    samples: Annotated[int, typer.Option(help=_help("samples"))] = DEFAULT.samples,
    examples: Annotated[int, typer.Option(help=_help("examples"))] = DEFAULT.examples,
    price_in: Annotated[float, typer.Option(help=_help("price_in"))] = DEFAULT.price_in,
    price_out: Annotated[float, typer.Option(help=_help("price_out"))] = DEFAULT.price_out,
    budget: Annotated[float, typer.Option(help=_help("budget"))] = DEFAULT.budget,
    pairs_a_minute: Annotated[int, typer.Option(help=_help("pairs_a_minute"))] = DEFAULT.pairs_a_minute,
    least_accuracy: Annotated[float, typer.Option(help=_help("least_accuracy"))] = DEFAULT.least_accuracy,
) -> None:
    """Put a machine rater into use; the one before it ends, and its verdicts stay.

    Example: allpairs rater set questions --name local --url http://localhost:11434/v1 --model qwen3:8b
    """
    given = {
        "name": name,
        "url": url,
        "model": model,
        "key_name": key_name,
        "function": function,
        "samples": samples,
        "examples": examples,
        "price_in": price_in,
        "price_out": price_out,
        "budget": budget,
        "pairs_a_minute": pairs_a_minute,
        "least_accuracy": least_accuracy,
    }
    engine = database()
    setup = services.checked_setup(given)
    number = services.set_up(engine, project_by_name(engine, project).id, setup)
    print(f"machine rater {number}: {setup.name}")
    remark(what_leaves(setup))


@rater.command()
def show(project: Name, as_json: Json = False) -> None:
    """Print a project's machine raters, what they have cost, and what the newest one is worth.

    Example: allpairs rater show questions
    """
    engine = database()
    project_id = project_by_name(engine, project).id
    states = read_raters(engine, project_id)
    worth = read_worth(engine, project_id)
    if as_json:
        print_json({"raters": [one.as_dict() for one in states], "worth": worth and worth.as_dict()})
    elif worth is None:
        remark("this project has no machine rater; to set one up, see allpairs rater set --help")
    else:
        print_columns(("number", "name", "asks", "state", "pairs", "tokens", "cost"), map(_row, states))
        print()
        print_columns(COLUMNS, quality_rows(worth))
        print("\n".join(sentences(worth)))


@rater.command()
def run(
    project: Name,
    pairs: Annotated[int, typer.Option(help="Maximum number of pairs to ask about.", min=1)] = 100,
    purpose: Annotated[
        RatedFor,
        typer.Option("--for", help="labels: pairs that people answered, and the open batch. audit: audit pairs."),
    ] = RatedFor.LABELS,
    dry: Annotated[bool, typer.Option("--dry-run", help="Ask nothing: say what it would take.")] = False,
    as_json: Json = False,
) -> None:
    """Ask the machine rater about pairs that people answered and about the open batch, in a job of the worker.

    With `--for audit` it reads random pairs of the audit's strata, so that people label where its verdicts tell most.

    Example: allpairs rater run questions --pairs 200 --dry-run
    Example: allpairs rater run questions --for audit --pairs 5000
    """
    engine = database()
    project_id = project_by_name(engine, project).id
    found = dry_run(engine, project_id, pairs, purpose)
    job_id = None if dry else request_rating(engine, project_id, pairs, purpose)
    if as_json:
        print_json(found.as_dict() | {"job": job_id})
        return
    print(in_words(found))
    print(found.leaves)
    if job_id is not None:
        print(f"job {job_id}")
        if not worker_alive(engine):
            remark("no worker is alive: start one with allpairs worker")


@rater.command()
def end(project: Name) -> None:
    """End the machine rater in use: it is asked nothing more, and its verdicts stay.

    Example: allpairs rater end questions
    """
    engine = database()
    services.end(engine, project_by_name(engine, project).id)


@rater.command()
def resume(project: Name) -> None:
    """Let a machine rater be asked again that was paused, because it was wrong too often or its budget was spent.

    Example: allpairs rater resume questions
    """
    engine = database()
    services.resume(engine, project_by_name(engine, project).id)


def _row(one: RaterState) -> tuple[object, ...]:
    asks = one.setup.function or f"{one.setup.model} at {one.setup.url}"
    spent = f"{one.spent.pairs:,}", f"{one.spent.tokens_in + one.spent.tokens_out:,}", f"{one.spent.cost:,.2f}"
    return one.row.number, one.setup.name, asks, one.in_words, *spent

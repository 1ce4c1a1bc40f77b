"""The commands `rater set|show|run|end|resume`."""

from typing import Annotated, Any

import typer

from allpairs.annotate.features.projects.cli import Name
from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.annotate.features.raters import project_raters as services
from allpairs.annotate.features.raters.project_raters import (
    RaterDetails,
    dry_run,
    rating_in_words,
    read_record,
    what_leaves,
)
from allpairs.annotate.features.raters.worth import COLUMNS, quality_rows, worth_sentences
from allpairs.annotate.kit.command_output import Json, print_columns, print_json, remark, upgraded_engine, with_options
from allpairs.annotate.kit.jobs.open_jobs import worker_alive
from allpairs.annotate.kit.jobs.requests import request_rating
from allpairs.db.rating import RatedFor, RaterSetup
from allpairs.program import group

rater = group("A program that is asked whether pairs match, kept apart from people's answers, and measured.")


@rater.command("set")
@with_options(RaterSetup, without=["kind"])
def set_up(project: Name, **values: Any) -> None:
    """Put a machine rater into use; the one before it ends, and its verdicts stay.

    Example: allpairs rater set questions --name local --url http://localhost:11434/v1 --model qwen3:8b
    """
    engine = upgraded_engine()
    setup = services.checked_setup(values)
    number = services.set_up(engine, project_by_name(engine, project).id, setup)
    print(f"machine rater {number}: {setup.name}")
    remark(what_leaves(setup))


@rater.command()
def show(project: Name, as_json: Json = False) -> None:
    """Print a project's machine raters, what they have cost, and what the newest one is worth.

    Example: allpairs rater show questions
    """
    engine = upgraded_engine()
    record = read_record(engine, project_by_name(engine, project).id)
    if as_json:
        print_json(record)
    elif record.worth is None:
        remark("this project has no machine rater; to set one up, see allpairs rater set --help")
    else:
        print_columns(("number", "name", "asks", "state", "pairs", "tokens", "cost"), map(_row, record.raters))
        print()
        print_columns(COLUMNS, quality_rows(record.worth))
        print("\n".join(worth_sentences(record.worth)))


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
    engine = upgraded_engine()
    project_id = project_by_name(engine, project).id
    estimate = dry_run(engine, project_id, pairs, purpose)
    job_id = None if dry else request_rating(engine, project_id, pairs, purpose)
    if as_json:
        print_json(estimate.model_copy(update={"job": job_id}))
        return
    print(rating_in_words(estimate))
    print(estimate.leaves)
    if job_id is not None:
        print(f"job {job_id}")
        if not worker_alive(engine):
            remark("no worker is alive: start one with allpairs worker")


@rater.command()
def end(project: Name) -> None:
    """End the machine rater in use: it is asked nothing more, and its verdicts stay.

    Example: allpairs rater end questions
    """
    engine = upgraded_engine()
    services.retire_rater(engine, project_by_name(engine, project).id)


@rater.command()
def resume(project: Name) -> None:
    """Let a machine rater be asked again that was paused, because it was wrong too often or its budget was spent.

    Example: allpairs rater resume questions
    """
    engine = upgraded_engine()
    services.resume(engine, project_by_name(engine, project).id)


def _row(state: RaterDetails) -> tuple[object, ...]:
    setup = state.setup
    source = setup.function or f"{setup.model} at {setup.url}"
    tokens = state.tokens_in + state.tokens_out
    return state.number, setup.name, source, state.in_words, f"{state.pairs:,}", f"{tokens:,}", f"{state.cost:,.2f}"

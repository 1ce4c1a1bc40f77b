"""A project's machine raters: set up, ended and resumed; what they cost and are worth, and what leaves the machine."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, ValidationError
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.raters.worth import RaterWorth, worth_of
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting, require
from allpairs.annotate.kit.api import ApiOutput
from allpairs.db.domain import EventKind, Purpose, Settings
from allpairs.db.errors import InputError
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.reviews import shared_votes
from allpairs.db.projects.events import add_event
from allpairs.db.projects.items import item_texts
from allpairs.db.projects.projects import live_project, project_of
from allpairs.db.raters.audits import pairs_like_unread
from allpairs.db.raters.pairs import example_pool, pairs_to_rate
from allpairs.db.raters.rows import NO_RATER, rater_in_use, raters_of, setup_of, spent_by
from allpairs.db.raters.verdicts import judged_pairs, verdicts_of
from allpairs.db.rating import RatedFor, RaterKind, RaterSetup, require_usable
from allpairs.db.schema.engine import person_of, reading
from allpairs.db.schema.tables import MachineRater, Person, now
from allpairs.learner.light.rating.agreement import verdict_weight
from allpairs.learner.light.rating.costs import estimate_cost
from allpairs.learner.light.rating.prompt import prompt_for

SAMPLED = 100  # pairs whose prompts are written to estimate those of all


class RaterDetails(ApiOutput):
    """A machine rater of the project: its setup, its state, and what it has rated and cost."""

    number: int
    setup: RaterSetup = Field(description="Without the key: `key_name` says which variable of the worker has it.")
    at: datetime = Field(description="When it was set up.")
    ended_at: datetime | None = Field(description="Null: it is in use.")
    paused_at: datetime | None = Field(description="Null: it is not paused.")
    paused_why: str | None
    pairs: int = Field(description="Number of pairs that it has rated.")
    tokens_in: int
    tokens_out: int
    cost: float
    leaves: str | None = Field(description="What is sent where when it is asked; null: it has ended.")

    @property
    def in_use(self) -> bool:
        """Whether it has not ended; it may be paused."""
        return self.ended_at is None

    @property
    def in_words(self) -> str:
        """Whether it is in use, paused or ended."""
        paused = f"paused: {self.paused_why}" if self.paused_at is not None else "in use"
        return paused if self.in_use else "ended"


class RaterList(ApiOutput):
    """All machine raters that the project has had, the newest first; at most one is in use."""

    raters: list[RaterDetails]
    worth: RaterWorth | None = Field(description="Of the newest one; null: there has been none.")


class RaterEstimate(ApiOutput):
    """What a run would take, and what it would send where."""

    pairs: int
    tokens_in: int
    tokens_out: int
    cost: float
    minutes: float | None = Field(description="At the rate limit; null: there is none.")
    measured: bool = Field(description="Whether the tokens are told by pairs that it has rated, or by the texts.")
    leaves: str
    budget_left: float | None = Field(description="Null: there is no budget.")
    job: str | None = Field(None, description="The id of the job that asks; null for a dry run.")


def read_record(engine: Engine, project_id: int) -> RaterList:
    """Return the project's raters and their worth. Raises Refused without the right to see the project's figures."""
    return RaterList(raters=read_raters(engine, project_id), worth=read_worth(engine, project_id))


def read_raters(engine: Engine, project_id: int) -> list[RaterDetails]:
    """Return all raters that the project has had, the newest first. Raises Refused without the right to see figures."""
    with reading(engine) as session:
        require(session, Right.SEE, project_id)
        return [_state(session, rater) for rater in raters_of(session, project_id)]


def _state(session: Session, rater: MachineRater) -> RaterDetails:
    setup = setup_of(rater)
    return RaterDetails(
        number=rater.number,
        setup=setup,
        at=rater.at,
        ended_at=rater.ended_at,
        paused_at=rater.paused_at,
        paused_why=rater.paused_why,
        leaves=what_leaves(setup) if rater.ended_at is None else None,
        **asdict(spent_by(session, rater.id)),
    )


def read_worth(engine: Engine, project_id: int) -> RaterWorth | None:
    """Return what the project's newest rater is worth, in use or ended; None if there has been none.

    Raises Refused without the right to see the project's figures.
    """
    with reading(engine) as session:
        require(session, Right.SEE, project_id)
        newest = next(iter(raters_of(session, project_id)), None)
        if newest is None:
            return None
        votes = shared_votes(session, project_id, drawn=False)
        judged = judged_pairs(session, newest)
        weight = verdict_weight(judged_pairs(session, newest, Purpose.TRAIN))
        return worth_of(judged, verdicts_of(session, newest), votes, weight)


def dry_run(engine: Engine, project_id: int, most: int, purpose: RatedFor = RatedFor.LABELS) -> RaterEstimate:
    """Return what it would take to ask about up to `most` pairs. Asks nothing.

    Raises InputError if no rater is in use, or it cannot read the audit's pairs, and Refused without the right to
    change the project.
    """
    with reading(engine) as session:
        require(session, Right.CHANGE, project_id)
        live_project(session, project_id)
        rater = rater_in_use(session, project_id)
        if rater is None:
            raise InputError(NO_RATER)
        setup = setup_of(rater)
        spent = spent_by(session, rater.id)
        choose = pairs_like_unread if purpose == RatedFor.AUDIT else pairs_to_rate
        prompts = _prompts(session, rater, setup, choose(session, rater, most))
    budget_left = setup.budget - spent.cost if setup.budget else None
    cost = estimate_cost(setup, prompts, spent)
    return RaterEstimate(**asdict(cost), leaves=what_leaves(setup), budget_left=budget_left)


def _prompts(session: Session, rater: MachineRater, setup: RaterSetup, pairs: list[Pair]) -> list[int]:
    """Return the tokens of each pair's prompt, beyond the first pairs the mean of these."""
    settings = Settings.model_validate(project_of(session, rater.project_id).settings)
    pool = example_pool(session, rater.project_id) if setup.examples else []
    texts = item_texts(session, set(chain.from_iterable(pairs[:SAMPLED])))
    tokens = []
    for pair in pairs[:SAMPLED]:
        left, right = (texts[item] for item in pair)
        tokens.append(prompt_for(pool, settings, pair, left, right, setup.examples).tokens(left, right))
    mean = round(sum(tokens) / len(tokens)) if tokens else 0
    return tokens + [mean] * (len(pairs) - len(tokens))


def rating_in_words(estimate: RaterEstimate) -> str:
    """Return what a run would take: pairs, tokens, money, time."""
    if not estimate.pairs:
        return "no pair left: it has rated those that people answered and those of the open batch, or there are none"
    time = "" if estimate.minutes is None else f", {estimate.minutes:,.0f} minutes or more at its rate limit"
    budget = "" if estimate.budget_left is None else f" of {estimate.budget_left:,.2f} left of its budget"
    basis = "as before" if estimate.measured else "estimated"
    return (
        f"{estimate.pairs:,} pairs, {estimate.tokens_in:,} tokens of prompts and {estimate.tokens_out:,} of answers "
        f"({basis}), cost {estimate.cost:,.2f}{budget}{time}"
    )


def what_leaves(setup: RaterSetup) -> str:
    """Return what is sent where when this rater is asked."""
    if setup.kind == RaterKind.FUNCTION:
        return f"Both texts of each pair go to the function {setup.function}, in the worker's own process."
    host = urlsplit(setup.url).netloc
    examples = f", up to {setup.examples} labelled pairs as examples" if setup.examples else ""
    return (
        f"The question and guidelines of the project{examples}, and both texts of each pair go to {host}. "
        "No ids, no names of people, and nothing else."
    )


def checked_setup(values: Mapping[str, Any]) -> RaterSetup:
    """Return the setup with these values; without a kind, it is a function if one is named, else an endpoint.

    Raises InputError with one line for all mistakes, and for a function or key that the operator has not named.
    """
    kind = RaterKind.FUNCTION if values.get("function") else RaterKind.ENDPOINT
    try:
        setup = RaterSetup.model_validate({"kind": kind, **values})
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}, not {e['input']!r}" for e in error.errors())
        raise InputError("machine rater: " + "; ".join(wrong)) from None
    require_usable(setup, os.environ)
    return setup


def set_up(engine: Engine, project_id: int, setup: RaterSetup) -> int:
    """Put a rater with this setup into use and return its number. The one before it ends, and stays in the record.

    It takes the right to manage the installation: a setup says where texts go, and which key or Python function of the
    worker is used. Raises InputError if it is the setup in use.
    """
    setup = checked_setup(setup.model_dump())
    with acting(engine, Right.INSTALL, project_id) as session:
        before = rater_in_use(session, project_id)
        if before is not None and setup_of(before) == setup:
            raise InputError("this is the machine rater in use: nothing has changed")
        number = max((row.number for row in raters_of(session, project_id)), default=0) + 1
        if before is not None:
            before.ended_at = now()
            session.flush()  # before the new row: a project has one rater in use
        person_id = person_of(session.connection())
        person = session.get_one(Person, person_id).name if person_id is not None else ""
        session.add(MachineRater(project_id=project_id, number=number, setup=setup.model_dump(mode="json"), who=person))
        _record(
            session,
            EventKind.RATER_SET,
            project_id,
            setup,
            before and _changed_fields(setup_of(before)),
            _changed_fields(setup),
        )
        return number


def retire_rater(engine: Engine, project_id: int) -> None:
    """End the rater in use: it is asked nothing more, and its verdicts stay. Raises InputError if there is none."""
    with acting(engine, Right.CHANGE, project_id) as session:
        rater = _in_use(session, project_id)
        rater.ended_at = now()
        _record(session, EventKind.RATER_ENDED, project_id, setup_of(rater))


def resume(engine: Engine, project_id: int) -> None:
    """Let the rater be asked again if it is paused; it pauses again if the reason still holds.

    Raises InputError if no rater is in use.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        rater = _in_use(session, project_id)
        if rater.paused_at is not None:
            rater.paused_at = rater.paused_why = None
            _record(session, EventKind.RATER_RESUMED, project_id, setup_of(rater))


def _in_use(session: Session, project_id: int) -> MachineRater:
    rater = rater_in_use(session, project_id)
    if rater is None:
        raise InputError(NO_RATER)
    return rater


def _changed_fields(setup: RaterSetup) -> dict[str, Any]:
    """Return what the history shows of a setup: what differs from the defaults."""
    return setup.model_dump(mode="json", exclude_defaults=True)


def _record(
    session: Session, kind: EventKind, project_id: int, setup: RaterSetup, old: object = None, new: object = None
) -> None:
    add_event(session, person_of(session.connection()), kind, project_id, setup.name, old, new)

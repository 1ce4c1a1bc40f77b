"""What a project's machine rater has cost and is worth; what the next pairs take, and what leaves the machine."""

from dataclasses import asdict
from datetime import datetime
from itertools import chain
from urllib.parse import urlsplit

from pydantic import Field
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.raters.worth import RaterWorth, worth_of
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import require
from allpairs.annotate.kit.api import ApiOutput
from allpairs.db.domain import Purpose, Settings
from allpairs.db.errors import InputError
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.reviews import shared_votes
from allpairs.db.projects.items import item_texts
from allpairs.db.projects.projects import live_project, project_of
from allpairs.db.raters.audits import pairs_like_unread
from allpairs.db.raters.pairs import example_pool, pairs_to_rate
from allpairs.db.raters.rows import NO_RATER, rater_in_use, raters_of, setup_of, spent_by
from allpairs.db.raters.verdicts import judged_pairs, verdicts_of
from allpairs.db.rating import RatedFor, RaterKind, RaterSetup
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import MachineRater
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

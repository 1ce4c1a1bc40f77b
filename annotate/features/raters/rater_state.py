"""What a project's machine rater has cost and is worth; what the next pairs take, and what leaves the machine."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.raters.measured import Worth, worth_of
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import require
from allpairs.db.domain import RatedFor, RaterKind, RaterSetup, Settings
from allpairs.db.errors import InputError
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.reviews import shared_votes
from allpairs.db.projects.items import item_texts
from allpairs.db.projects.projects import live_project, project_of
from allpairs.db.raters.audits import pairs_like_unread
from allpairs.db.raters.costs import Estimate, estimate
from allpairs.db.raters.examples import prompt_for, with_words
from allpairs.db.raters.judged import judged_pairs, verdicts_of
from allpairs.db.raters.pairs import example_pool, pairs_to_rate
from allpairs.db.raters.rows import NO_RATER, Spent, rater_in_use, raters_of, setup_of, spent_by
from allpairs.db.raters.training import trained_weight
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import MachineRater

SAMPLED = 100  # pairs whose prompts are written to estimate those of all


@dataclass(frozen=True)
class RaterState:
    """One rater of a project: its row, its setup, and what it has rated and cost."""

    row: MachineRater
    setup: RaterSetup
    spent: Spent

    @property
    def in_use(self) -> bool:
        """Whether it has not ended; it may be paused."""
        return self.row.ended_at is None

    @property
    def in_words(self) -> str:
        """Whether it is in use, paused or ended."""
        paused = f"paused: {self.row.paused_why}" if self.row.paused_at is not None else "in use"
        return paused if self.in_use else "ended"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON: the setup, which has no key, when it was made, paused and ended, and what it has cost."""
        row = self.row
        times = {"at": row.at, "ended_at": row.ended_at, "paused_at": row.paused_at}
        return {
            "number": row.number,
            "setup": self.setup.model_dump(mode="json"),
            "paused_why": row.paused_why,
            **{name: at and at.isoformat() for name, at in times.items()},
            **asdict(self.spent),
            "leaves": what_leaves(self.setup) if self.in_use else None,
        }


@dataclass(frozen=True)
class DryRun:
    """What a run would take, and what it would send where."""

    estimate: Estimate
    leaves: str
    left: float | None  # of the budget; None without one

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self.estimate), "leaves": self.leaves, "budget_left": self.left}


def read_raters(engine: Engine, project_id: int) -> Sequence[RaterState]:
    """Return all raters that the project has had, the newest first. Raises Refused without the right to see figures."""
    with reading(engine) as session:
        require(session, Right.SEE, project_id)
        return [RaterState(row, setup_of(row), spent_by(session, row.id)) for row in raters_of(session, project_id)]


def read_worth(engine: Engine, project_id: int) -> Worth | None:
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
        weight = trained_weight(session, newest)
        return worth_of(judged, verdicts_of(session, newest), votes, weight)


def dry_run(engine: Engine, project_id: int, most: int, purpose: RatedFor = RatedFor.LABELS) -> DryRun:
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
    left = setup.budget - spent.cost if setup.budget else None
    return DryRun(estimate(setup, prompts, spent), what_leaves(setup), left)


def _prompts(session: Session, rater: MachineRater, setup: RaterSetup, pairs: list[Pair]) -> list[int]:
    """Return the tokens of each pair's prompt, beyond the first pairs the mean of these."""
    settings = Settings.model_validate(project_of(session, rater.project_id).settings)
    known = with_words(example_pool(session, rater.project_id)) if setup.examples else []
    texts = item_texts(session, set(chain.from_iterable(pairs[:SAMPLED])))
    found = []
    for pair in pairs[:SAMPLED]:
        left, right = (texts[item] for item in pair)
        found.append(prompt_for(known, settings, pair, left, right, setup.examples).tokens(left, right))
    mean = round(sum(found) / len(found)) if found else 0
    return found + [mean] * (len(pairs) - len(found))


def in_words(found: DryRun) -> str:
    """Return what a run would take: pairs, tokens, money, time."""
    one = found.estimate
    if not one.pairs:
        return "no pair left: it has rated those that people answered and those of the open batch, or there are none"
    time = "" if one.minutes is None else f", {one.minutes:,.0f} minutes or more at its rate limit"
    budget = "" if found.left is None else f" of {found.left:,.2f} left of its budget"
    basis = "as before" if one.measured else "estimated"
    return (
        f"{one.pairs:,} pairs, {one.tokens_in:,} tokens of prompts and {one.tokens_out:,} of answers ({basis}), "
        f"cost {one.cost:,.2f}"
        f"{budget}{time}"
    )


def what_leaves(setup: RaterSetup) -> str:
    """Say what is sent where when this rater is asked."""
    if setup.kind == RaterKind.FUNCTION:
        return f"Both texts of each pair go to the function {setup.function}, in the worker's own process."
    examples = f", up to {setup.examples} labelled pairs as examples" if setup.examples else ""
    return (
        f"The question and guidelines of the project{examples}, and both texts of each pair go to {host_of(setup)}. "
        "No ids, no names of people, and nothing else."
    )


def host_of(setup: RaterSetup) -> str:
    """Return the machine that the endpoint's address names, with its port."""
    return urlsplit(setup.url).netloc

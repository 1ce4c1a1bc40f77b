"""The job `rate`: ask the project's machine rater about pairs, and store its verdicts one by one.

A verdict is stored as soon as it is there, so a job that is killed asks again at most about the pair in flight.
"""

import math
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from allpairs.db.domain import Settings
from allpairs.db.labels.pairs import Pair
from allpairs.db.progress import Progress
from allpairs.db.projects.items import item_texts
from allpairs.db.projects.jobs import RATE
from allpairs.db.projects.projects import project_settings
from allpairs.db.raters.audits import let_read
from allpairs.db.raters.pairs import example_pool, pairs_to_rate
from allpairs.db.raters.rows import last_verdict, limited, pause, rated_pairs, rater_to_ask, setup_of, spent_by
from allpairs.db.raters.verdicts import judged_pairs
from allpairs.db.rating import LabelledPair, RatedFor, RaterSetup
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import MachineRater, PairVerdict, now
from allpairs.learner.jobs.audit.read_pairs import pairs_to_read
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.jobs.queue.turns import LONGEST, Turn
from allpairs.learner.jobs.route import route_batch
from allpairs.learner.light.rating.agreement import reason_to_pause
from allpairs.learner.light.rating.costs import most_cost, price
from allpairs.learner.light.rating.prompt import Prompt, prompt_for
from allpairs.learner.outside.waiting import Poll, rest
from allpairs.learner.raters.opening import open_rater
from allpairs.learner.raters.rating import PairRating, Rater

CHECK_EVERY = 100  # verdicts between two checks of how often the rater is right
MINUTE = 60.0
ENDED = "the machine rater was ended"


@job_workflow(RATE)
def rate(job_id: str, project_id: int, most: int, purpose: str = RatedFor.LABELS) -> str:
    """Run the job and return a summary. most: how many pairs to ask about; purpose: a `RatedFor`."""
    turn = Turn()
    rater_id, pairs = plan_rating(project_id, most, purpose)
    while not (rated := rate_pairs(job_id, rater_id, pairs)):
        turn.give_way()
    return f"{rated}{route_batch(project_id)}" if purpose == RatedFor.LABELS else rated


@job_step
def plan_rating(project_id: int, most: int, purpose: str = RatedFor.LABELS) -> tuple[int, list[Pair]]:
    """Return the rater in use and the pairs to ask about: a job that is resumed asks about no others.

    Raises InputError if the project has no rater, or it is paused, and if it cannot read the audit's pairs.
    """
    with database() as engine:
        if purpose == RatedFor.AUDIT:
            return _plan_reading(engine, project_id, most)
        with reading(engine) as session:
            rater = rater_to_ask(session, project_id)
            return rater.id, pairs_to_rate(session, rater, most)


def _plan_reading(engine: Engine, project_id: int, most: int) -> tuple[int, list[Pair]]:
    """Return the same for the newest audit, which draws by the rater's verdicts from now on."""
    with writing(engine) as session:
        let_read(session, rater_to_ask(session, project_id))
    with reading(engine) as session:
        rater = rater_to_ask(session, project_id)
        return rater.id, pairs_to_read(session, rater, most)


@job_step
def rate_pairs(job_id: str, rater_id: int, pairs: Sequence[Pair]) -> str:
    """Ask about those of the pairs that the rater has not rated yet, and return a summary.

    Empty if other jobs should go first. Raises RaterError if the rater cannot be asked, and InputError if the operator
    does not allow its function or key; the verdicts until then are stored.
    """
    with database() as engine:
        with reading(engine) as session:
            row = session.get_one(MachineRater, rater_id)
            if row.ended_at is not None or row.paused_at is not None:  # while the job waited
                return ENDED if row.ended_at is not None else f"the machine rater is paused: {row.paused_why}"
            asking = _read(session, row, [(left, right) for left, right in pairs])
        rater = open_rater(asking.setup, os.environ, random.Random(job_id))
        share = len(asking.pairs) / max(1, len(pairs))
        with reporting(engine, job_id, 1 - share, share) as progress:
            return _ask(engine, asking, rater, progress)


@dataclass(frozen=True)
class _Asking:
    """What a run of the job knows: whom it asks, about what, and what was rated and spent before."""

    rater_id: int
    setup: RaterSetup
    settings: Settings
    pairs: list[Pair]
    texts: dict[int, str]
    pool: list[LabelledPair]
    rated_before: int  # pairs of the job, before it gave way or was killed
    rated: int
    cost: float
    since_last: float  # seconds since the last verdict before

    def prompt(self, pair: Pair) -> tuple[Prompt, str, str]:
        """Return the prompt for the pair, and its texts."""
        left, right = (self.texts[item] for item in pair)
        return prompt_for(self.pool, self.settings, pair, left, right, self.setup.examples), left, right


def _read(session: Session, row: MachineRater, pairs: list[Pair]) -> _Asking:
    rated = rated_pairs(session, row.id)
    spent = spent_by(session, row.id)
    last = last_verdict(session, row.id)
    settings = project_settings(session, row.project_id)
    since_last = math.inf if last is None else (now() - last).total_seconds()
    unrated = [pair for pair in pairs if pair not in rated]
    pool = example_pool(session, row.project_id) if setup_of(row).examples else []
    texts = item_texts(session, set(chain.from_iterable(unrated)))
    before = len(pairs) - len(unrated)
    return _Asking(row.id, setup_of(row), settings, unrated, texts, pool, before, spent.pairs, spent.cost, since_last)


def _ask(engine: Engine, asking: _Asking, rater: Rater, progress: Progress) -> str:
    setup = asking.setup
    cost = asking.cost
    pace = Pace(setup.pairs_a_minute, asking.since_last)
    turn = Turn()
    total = asking.rated_before + len(asking.pairs)
    for index, pair in enumerate(asking.pairs):
        stage = f"{asking.rated_before + index:,} of {total:,} pairs, cost so far {cost:,.2f}"
        poll = _RatingPoll(progress, turn, rater, rater.answers, stage, index / len(asking.pairs))
        poll.report()
        prompt, left, right = asking.prompt(pair)
        if setup.budget and cost + most_cost(setup, prompt.tokens(left, right)) > setup.budget:
            return _pause(engine, asking.rater_id, f"the next pair could exceed its budget of {setup.budget:,.2f}")
        try:
            pace(poll)
            rating = rater.rate(prompt, left, right, poll)
        except _PutOff:
            return ""
        cost += price(setup, rating.tokens_in, rating.tokens_out)
        if stopped := _store(engine, asking, pair, rating, prompt.version, asking.rated + index + 1):
            return stopped
        if turn.is_over() and index + 1 < len(asking.pairs):
            return ""
    return f"{total:,} pairs rated"


class _PutOff(Exception):
    """Other jobs have waited long enough for this pair."""


@dataclass(frozen=True)
class _RatingPoll:
    """End a wait, when called, for a person who cancels or for jobs that should go first."""

    progress: Progress
    turn: Turn
    rater: Rater
    answers_before: int
    stage: str
    share: float  # of the pairs that are rated

    def report(self) -> None:
        """Report how far the job is. Raises Cancelled."""
        self.progress(self.stage, self.share)

    def __call__(self) -> None:
        """Raise Cancelled if a person has cancelled, and _PutOff if others have waited too long.

        A pair that has an answer already is finished, as that would have to be paid again.
        """
        self.report()
        if self.rater.answers == self.answers_before and self.turn.is_over(LONGEST):
            raise _PutOff


def _store(engine: Engine, asking: _Asking, pair: Pair, rating: PairRating, prompt: str, number: int) -> str:
    """Store the verdict; return why the job should stop, or nothing. number: of the rater's verdicts."""
    with writing(engine) as session:
        row = session.get_one(MachineRater, asking.rater_id, with_for_update=True)
        _keep(session, asking, pair, rating, prompt)
        if row.ended_at is not None:
            return ENDED
        reason = reason_to_pause(judged_pairs(session, row), asking.setup) if number % CHECK_EVERY == 0 else None
        if reason is not None:
            pause(session, row, reason)
        return reason or ""


def _keep(session: Session, asking: _Asking, pair: Pair, rating: PairRating, prompt: str) -> None:
    """Add the verdict; if there is one already, what it cost to ask once more."""
    cost = price(asking.setup, rating.tokens_in, rating.tokens_out)
    amounts = {"tokens_in": rating.tokens_in, "tokens_out": rating.tokens_out, "cost": cost}
    key = {"rater_id": asking.rater_id, "left_id": pair[0], "right_id": pair[1]}
    sums = {name: limited(name, getattr(PairVerdict, name) + amount) for name, amount in amounts.items()}
    addition = update(PairVerdict).filter_by(**key).values(sums)
    if not session.execute(addition).rowcount:  # type: ignore[attr-defined]
        key["project_id"] = session.get_one(MachineRater, asking.rater_id).project_id
        session.add(PairVerdict(verdict=rating.verdict, p=rating.p, prompt=prompt, **key, **amounts))
        session.flush()


def _pause(engine: Engine, rater_id: int, reason: str) -> str:
    with writing(engine) as session:
        pause(session, session.get_one(MachineRater, rater_id), reason)
    return reason


class Pace:
    """Waits before each pair, so that there are no more than so many a minute; 0: it never waits.

    since_last: seconds since the last pair before.
    """

    def __init__(
        self,
        a_minute: int,
        since_last: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._apart = MINUTE / a_minute if a_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._next = clock() + self._apart - since_last

    def __call__(self, poll: Poll) -> None:
        """Wait for the next pair's turn. poll: called while it waits."""
        rest(self._next - self._clock(), poll, self._clock, self._sleep)
        self._next = self._clock() + self._apart

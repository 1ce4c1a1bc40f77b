"""The job `rate`: ask the project's machine rater about pairs, and store its verdicts one by one.

A verdict is stored as soon as it is there, so a job that is killed asks again at most about the pair in flight.
"""

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from dbos import DBOS
from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from allpairs.db.domain import RatedFor, RaterSetup, Settings
from allpairs.db.labels.pairs import Pair
from allpairs.db.progress import Progress
from allpairs.db.projects.items import item_texts
from allpairs.db.projects.jobs import RATE
from allpairs.db.projects.projects import project_settings
from allpairs.db.raters.agreement import wrong_too_often
from allpairs.db.raters.audits import let_read
from allpairs.db.raters.costs import cost_of, most_cost
from allpairs.db.raters.examples import Known, prompt_for, with_words
from allpairs.db.raters.judged import judged_pairs
from allpairs.db.raters.pairs import example_pool, pairs_to_rate
from allpairs.db.raters.prompt import Prompt
from allpairs.db.raters.rows import pause, rated_pairs, rater_to_ask, setup_of, spent_by
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import MachineRater, PairVerdict
from allpairs.learner.jobs.audit.read_pairs import pairs_to_read
from allpairs.learner.jobs.queue.job_state import database, job_state
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.recovery import MOST_ATTEMPTS
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.jobs.queue.turns import Turn
from allpairs.learner.jobs.route import route_batch
from allpairs.learner.raters.opening import open_rater
from allpairs.learner.raters.rating import Rater, Rating

EVERY = 100  # verdicts between two looks at how often it is right
SLICE = 0.5  # seconds of waiting between two looks at whether a person has cancelled
MINUTE = 60.0


@DBOS.workflow(name=RATE, max_recovery_attempts=MOST_ATTEMPTS)
def rate(project_id: int, most: int, purpose: str = RatedFor.LABELS) -> str:
    """Run the job and return a summary. most: how many pairs to ask about; purpose: a `RatedFor`."""
    job_id = str(DBOS.workflow_id)
    with job_state(job_id):
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

    Empty, after one pair or more, if other jobs should go first. Raises RaterError if the rater cannot be asked; the
    verdicts until then are stored.
    """
    with database() as engine:
        with reading(engine) as session:
            asking = _read(session, rater_id, [(left, right) for left, right in pairs])
        rater = open_rater(asking.setup, os.environ, random.Random(job_id))
        share = len(asking.pairs) / max(1, len(pairs))  # the rest was rated before the job gave way or was killed
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
    known: list[Known]
    rated: int
    cost: float

    def of(self, pair: Pair) -> tuple[Prompt, str, str]:
        """Return the prompt for the pair, and its texts."""
        left, right = (self.texts[item] for item in pair)
        return prompt_for(self.known, self.settings, pair, left, right, self.setup.examples), left, right


def _read(session: Session, rater_id: int, pairs: list[Pair]) -> _Asking:
    row = session.get_one(MachineRater, rater_id)
    rated, spent = rated_pairs(session, rater_id), spent_by(session, rater_id)
    settings = project_settings(session, row.project_id)
    left = [pair for pair in pairs if pair not in rated]
    known = with_words(example_pool(session, row.project_id)) if setup_of(row).examples else []
    texts = item_texts(session, set(chain.from_iterable(left)))
    return _Asking(rater_id, setup_of(row), settings, left, texts, known, spent.pairs, spent.cost)


def _ask(engine: Engine, asking: _Asking, rater: Rater, progress: Progress) -> str:
    setup, cost, wait, turn = asking.setup, asking.cost, Pace(asking.setup.pairs_a_minute), Turn()
    for at, pair in enumerate(asking.pairs):
        stage, done = f"{at:,} of {len(asking.pairs):,} pairs, cost so far {cost:,.2f}", at / len(asking.pairs)
        progress(stage, done)
        prompt, left, right = asking.of(pair)
        if setup.budget and cost + most_cost(setup, prompt.tokens(left, right)) > setup.budget:
            return _pause(engine, asking.rater_id, f"the next pair could exceed its budget of {setup.budget:,.2f}")
        wait(lambda stage=stage, done=done: progress(stage, done))  # type: ignore[misc]
        rating = rater.rate(prompt, left, right)
        cost += cost_of(setup, rating.tokens_in, rating.tokens_out)
        if stopped := _store(engine, asking, pair, rating, prompt.version, asking.rated + at + 1):
            return stopped
        if turn.is_over() and at + 1 < len(asking.pairs):
            return ""
    return f"{len(asking.pairs):,} pairs rated"


def _store(engine: Engine, asking: _Asking, pair: Pair, rating: Rating, prompt: str, number: int) -> str:
    """Store the verdict; return why the job should stop, or nothing. number: of the rater's verdicts."""
    with writing(engine) as session:
        row = session.get_one(MachineRater, asking.rater_id, with_for_update=True)
        _keep(session, asking, pair, rating, prompt)
        if row.ended_at is not None:
            return "the machine rater was ended"
        why = wrong_too_often(judged_pairs(session, row), asking.setup) if number % EVERY == 0 else None
        if why is not None:
            pause(session, row, why)
        return why or ""


def _keep(session: Session, asking: _Asking, pair: Pair, rating: Rating, prompt: str) -> None:
    """Add the verdict; if there is one already, what it cost to ask once more."""
    used = rating.tokens_in, rating.tokens_out
    paid = {"tokens_in": used[0], "tokens_out": used[1], "cost": cost_of(asking.setup, *used)}
    of = {"rater_id": asking.rater_id, "left_id": pair[0], "right_id": pair[1]}
    more = {name: getattr(PairVerdict, name) + value for name, value in paid.items()}
    there = update(PairVerdict).filter_by(**of).values(more)
    if not session.execute(there).rowcount:  # type: ignore[attr-defined]
        project_id = session.get_one(MachineRater, asking.rater_id).project_id
        session.add(PairVerdict(project_id=project_id, verdict=rating.verdict, p=rating.p, prompt=prompt, **of, **paid))
        session.flush()


def _pause(engine: Engine, rater_id: int, why: str) -> str:
    with writing(engine) as session:
        pause(session, session.get_one(MachineRater, rater_id), why)
    return why


class Pace:
    """Waits before each pair but the first, so that there are no more than so many a minute; 0: it never waits."""

    def __init__(
        self, a_minute: int, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._apart = MINUTE / a_minute if a_minute else 0.0
        self._clock, self._sleep, self._next = clock, sleep, 0.0

    def __call__(self, meanwhile: Callable[[], None]) -> None:
        """Wait for the next pair's turn; meanwhile: called while it waits."""
        while (left := self._next - self._clock()) > 0:
            self._sleep(min(SLICE, left))
            meanwhile()
        self._next = self._clock() + self._apart

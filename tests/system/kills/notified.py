"""Count what webhooks are told if app and worker are killed while eight people label and a round trains.

    python -m tests.system.kills.notified [--kills 50] [--seed 0] [--database sqlite|postgresql]

As `tests.system.kills.faults`, but two people label each pair, one answer in ten is wrong, and known pairs measure each
round. A webhook is told everything; its receiver takes a while to answer, so that some kills fall between a message
and its receipt. What should have been told is counted from the database's other rows.
"""

import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

from sqlalchemy import Engine, select

from allpairs.db.domain import DeliveryState, NoticeKind, Settings, Split
from allpairs.db.estimate import is_reached
from allpairs.db.projects.evaluations import matchers_with_evaluations
from allpairs.db.projects.jobs import NEXT_ROUND, OPEN
from allpairs.db.projects.webhook_addresses import VARIABLE
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import Answer, Delivery, Gold, Item, Job, Project, Round
from tests.helpers.services.webhooks import Receiver, add_webhook, receiving
from tests.system.kills.faults import Outcome, Work, command, faults

SLIPS, TARGET, DELAY = 0.1, 0.3, 0.3  # share of wrong answers; target precision; seconds until an answer


@dataclass(frozen=True)
class Told:
    """What happened and what arrived, by kind; of disagreements, the pairs."""

    faults: Outcome
    happened: dict[str, int]
    arrived: dict[str, int]  # distinct messages
    repeats: int  # messages that arrived again
    given_up: int

    @property
    def clean(self) -> bool:
        """Whether each event arrived, none of them twice under different ids, and nothing else."""
        return self.faults.clean and self.happened == self.arrived and not self.given_up


def notified(folder: Path, kills: int, seed: int, texts: int = 240) -> Told:
    """Return the outcome on the database that the environment names."""
    os.environ[VARIABLE] = "127.0.0.1"
    with receiving() as receiver:
        receiver.delay = DELAY
        settings = {"overlap": 1.0, "votes": 2, "target_precision": TARGET, "lexical": True, "hubness": 0.25}
        work = Work(settings, SLIPS, 2, partial(_begin, receiver=receiver), _is_quiet, idle_kills=True)
        found = faults(folder, kills, seed, texts, work)
        engine = make_engine()
        try:
            return compared(engine, receiver, found)
        finally:
            engine.dispose()


def _begin(engine: Engine, project: int, receiver: Receiver) -> None:
    """Add the webhook, and the known pairs of the evaluation texts."""
    add_webhook(engine, project, url=receiver.url)
    with writing(engine) as session:
        mine = select(Item).where(Item.project_id == project, Item.split == Split.EVALUATION).order_by(Item.id)
        for one, other in combinations(session.scalars(mine).all(), 2):
            if one.text.split()[0] == other.text.split()[0]:
                session.add(Gold(project_id=project, left_id=one.id, right_id=other.id, positive=True))


def _is_quiet(engine: Engine) -> bool:
    """Return whether no job is open and no message waits."""
    with reading(engine) as session:
        job = session.scalar(select(Job.id).where(Job.state.in_(OPEN)).limit(1))
        waits = session.scalar(select(Delivery.id).where(Delivery.state == DeliveryState.WAITING).limit(1))
        return job is None and waits is None


def compared(engine: Engine, receiver: Receiver, found: Outcome) -> Told:
    """Compare what arrived with what the database says has happened."""
    messages = {one.headers["webhook-id"]: one.body for one in receiver.got}
    arrived: Counter[str] = Counter()
    for body in messages.values():
        arrived[body["type"]] += body["data"].get("number", 1)
    with reading(engine) as session:
        project = session.scalars(select(Project)).one()
        target = Settings.model_validate(project.settings).target_precision
        models = matchers_with_evaluations(session, project.id)
        failed = session.scalars(select(Job.id).where(Job.kind == NEXT_ROUND, Job.state == "failed")).all()
        given_up = session.scalars(select(Delivery.id).where(Delivery.state == DeliveryState.GIVEN_UP)).all()
        happened = {
            NoticeKind.BATCH_READY: len(session.scalars(select(Round.id).where(Round.size > 0)).all()),
            NoticeKind.TRAINING_DONE: sum(matcher.number > 0 for matcher, _ in models),
            NoticeKind.TRAINING_FAILED: len(failed),
            NoticeKind.TARGET_REACHED: _changes(
                [bool(one and is_reached(one.estimates, None, target)) for _, one in models]
            ),
            NoticeKind.DISAGREEMENT: _disagreements(
                [tuple(row) for row in session.execute(
                    select(Answer.left_id, Answer.right_id, Answer.annotator, Answer.answer).order_by(Answer.id))]
            ),
        }  # fmt: skip
    repeats = receiver.times.total() - len(messages)
    counts = {str(kind): number for kind, number in happened.items() if number}
    return Told(found, dict(sorted(counts.items())), dict(sorted(arrived.items())), repeats, len(given_up))


def _changes(states: list[bool]) -> int:
    """Return how often a state becomes true; before the first it is false."""
    return sum(now and not before for before, now in zip([False, *states], states, strict=False))


def _disagreements(answers: list[tuple[int, int, str, str]]) -> int:
    """Return how often a pair begins to have different answers, where nobody takes one back."""
    votes: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
    states: dict[tuple[int, int], list[bool]] = defaultdict(list)
    for left, right, annotator, answer in answers:
        votes[left, right][annotator] = answer
        states[left, right].append(len(set(votes[left, right].values())) > 1)
    return sum(map(_changes, states.values()))


if __name__ == "__main__":
    raise SystemExit(command(__doc__, notified))

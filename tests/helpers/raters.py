"""Machine raters for tests: stand-ins that are asked in this process, and rows of setups and verdicts."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from allpairs.db.domain import AnswerKind, RaterKind, RaterSetup, Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.raters.prompt import Prompt
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, MachineRater, PairVerdict, now
from allpairs.learner.outside.waiting import Heed, no_heed
from allpairs.learner.raters.rating import Rating

Said = Callable[[str, str], Verdict]
FUNCTION = {"kind": RaterKind.FUNCTION, "function": "judges:judge"}


def setup(**more: Any) -> RaterSetup:
    """Return the setup of a rater named `judge`, with these values replaced."""
    return RaterSetup.model_validate({"name": "judge", "url": "http://localhost:11434/v1", "model": "m"} | more)


def allow(patch: pytest.MonkeyPatch, functions: str = "", keys: str = "") -> None:
    """Name functions and keys as the operator does."""
    patch.setenv("ALLPAIRS_RATER_FUNCTIONS", functions)
    patch.setenv("ALLPAIRS_RATER_KEYS", keys)


def add_rater(engine: Engine, project_id: int, number: int = 1, **more: Any) -> int:
    """Add a rater to the project, which ends the one before it, and return its id."""
    with writing(engine) as session:
        before = update(MachineRater).where(MachineRater.project_id == project_id, MachineRater.ended_at.is_(None))
        session.execute(before.values(ended_at=now()))
        row = MachineRater(project_id=project_id, number=number, who="", setup=setup(**more).model_dump(mode="json"))
        session.add(row)
        session.flush()
        return row.id


def add_verdicts(engine: Engine, rater_id: int, said: Iterable[tuple[Pair, Verdict, float | None]]) -> None:
    """Add what the rater says of these pairs, at a cost of 0.01 each."""
    with writing(engine) as session:
        project_id = session.get_one(MachineRater, rater_id).project_id
        session.add_all(
            PairVerdict(project_id=project_id, rater_id=rater_id, left_id=left, right_id=right, verdict=verdict, p=p,
                        tokens_in=100, tokens_out=10, cost=0.01, prompt="0a1b2c3d")
            for (left, right), verdict, p in said
        )  # fmt: skip


def verdicts(engine: Engine) -> dict[Pair, Verdict]:
    """Return what has been said of each pair."""
    with reading(engine) as session:
        rows = session.scalars(select(PairVerdict).order_by(PairVerdict.id)).all()
    return {(row.left_id, row.right_id): row.verdict for row in rows}


def answer_pairs(engine: Engine, project_id: int, said: Iterable[tuple[Pair, AnswerKind]], who: str = "ann") -> None:
    """Answer these pairs, which need no task."""
    with writing(engine) as session:
        session.add_all(
            Answer(project_id=project_id, left_id=left, right_id=right, annotator=who, answer=answer,
                   key=f"{who} {project_id} {left} {right}")
            for (left, right), answer in said
        )  # fmt: skip


class Judge:
    """A rater that says of two texts what a function says, and keeps what it was asked."""

    def __init__(self, say: Said, tokens: tuple[int, int] = (100, 10)) -> None:
        self.say, self.tokens = say, tokens
        self.answers = 0
        self.asked: list[tuple[Prompt, str, str]] = []

    def rate(self, prompt: Prompt, left: str, right: str, heed: Heed = no_heed) -> Rating:
        """Return the verdict."""
        self.asked.append((prompt, left, right))
        return Rating(self.say(left, right), None, *self.tokens)

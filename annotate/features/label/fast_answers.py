"""Fast answers: runs of identical answers, each too fast to have read the texts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Row
from sqlalchemy.orm import Session

from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.labels.fast_answers import newest_acts, newest_fast_answers, put_up_again
from allpairs.db.labels.votes import looks_of
from allpairs.db.projects.projects import project_settings
from allpairs.db.schema.tables import FastAnswers

# People read 238 words a minute in silence (Brysbaert 2019), about 20 characters a second. Nobody reads five times as
# fast. The beginnings of two texts are enough to see that they have nothing in common.
CHARACTERS = 100  # in a second
BEGINNING = 100  # characters of a text
KEY = 0.2  # seconds to press a key


@dataclass(frozen=True)
class TimedAct:
    """An annotator's act; texts: the length of each text by its item; seconds: time on screen, if known."""

    id: int
    answer: AnswerKind
    seconds: float | None
    texts: Mapping[int, int]
    task_id: int | None = None


def least_seconds(texts: Mapping[int, int], just_read: Collection[int] = ()) -> float:
    """Return the least time in which somebody can read the beginnings of these texts and answer."""
    return KEY + sum(min(n, BEGINNING) for item, n in texts.items() if item not in just_read) / CHARACTERS


def fast_runs(acts: Sequence[TimedAct], least: int, just_read: Collection[int] = ()) -> list[list[TimedAct]]:
    """Return the longest runs of at least `least` identical answers in a row, each too fast to have read the texts.

    acts: of one annotator, in order. A text that was also in the pair before need not be read again; just_read: the
    items of the pair before the first act. Anything else (another answer, a skip, an undo, an answer that was slow
    enough) ends a run.
    """
    if least < 1:
        return []
    marked = _marked(acts, just_read)
    stretches = (list(part) for is_fast, part in groupby(marked, key=lambda marked_act: marked_act[0]) if is_fast)
    return [[act for _, act in part] for part in stretches if len(part) >= least]


def _marked(acts: Sequence[TimedAct], just_read: Collection[int]) -> Iterator[tuple[AnswerKind | None, TimedAct]]:
    """Yield each act with its answer if that was too fast to have read the texts, else with None."""
    for act in acts:
        fast = act.seconds is not None and act.seconds < least_seconds(act.texts, just_read)
        yield act.answer if fast and act.answer in LABELS else None, act
        just_read = act.texts.keys()


def note_fast_answers(session: Session, project_id: int, annotator: str, fresh: int) -> None:
    """Store the fast answers among the annotator's last `fresh` acts, and queue some of their pairs again."""
    settings = project_settings(session, project_id)
    if not settings.fast_answers:
        return
    looked_back = settings.fast_answers - 1 + fresh  # an earlier run is stored already, and grows
    acts = [_act(row) for row in newest_acts(session, project_id, annotator, looked_back + 1)]
    just_read = acts[0].texts if len(acts) > looked_back else ()
    for run in fast_runs(acts[-looked_back:], settings.fast_answers, just_read):
        fast = newest_fast_answers(session, project_id, annotator)
        if fast is None or fast.last_id < run[0].id:
            fast = _begin(session, project_id, annotator, run[0])
        _grow(fast, run)
        session.flush()
        tasks = [act.task_id for act in run if act.task_id is not None]
        put_up_again(session, fast, tasks, settings.seed, max(2, looks_of(settings)))


def _act(row: Row[*tuple[Any, ...]]) -> TimedAct:
    id_, answer, seconds, task_id, left, right, left_length, right_length = row
    return TimedAct(id_, AnswerKind(answer), seconds, {left: left_length, right: right_length}, task_id)


def _begin(session: Session, project_id: int, annotator: str, first: TimedAct) -> FastAnswers:
    """Return a new row of fast answers, still without answers."""
    columns = {"project_id": project_id, "annotator": annotator, "answer": first.answer}
    fast = FastAnswers(**columns, first_id=first.id, last_id=first.id - 1, answers=0, seconds=0.0)
    session.add(fast)
    return fast


def _grow(fast: FastAnswers, acts: Sequence[TimedAct]) -> None:
    """Add those acts to the row that are later than its last one."""
    new = [act for act in acts if act.id > fast.last_id]
    fast.answers += len(new)
    fast.seconds += sum(act.seconds or 0.0 for act in new)
    fast.last_id = max(fast.last_id, acts[-1].id)

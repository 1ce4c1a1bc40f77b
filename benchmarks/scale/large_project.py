"""A project as large as pages must handle, inserted directly, without reading files or training models."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Engine, func, insert, select
from sqlalchemy.orm import Session

from allpairs.db.corpus.corpus import Corpus, CorpusItem
from allpairs.db.corpus.gold import GoldPair
from allpairs.db.domain import AnswerKind, Kind, Settings, Side, Split, batch_size_of
from allpairs.db.labels.tasks import add_tasks
from allpairs.db.projects.evaluations import matchers_with_evaluations
from allpairs.db.projects.items import CHUNK, add_corpus
from allpairs.db.projects.projects import add_project
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Evaluation, Round, StoredModel, Task
from allpairs.db.schema.tables import Item as StoredItem
from tests.helpers.figures.measured import make_measured_project

NAME = "Large"
FIRST = 2_048  # pairs of the first batch, the paper's
RESERVE = 500  # tasks after each batch
GOLD = 20_000  # known positives
ANNOTATORS = 5
EVERY_POSITIVE = 5  # one answer in so many is positive
EVERY_SECOND = 21  # one pair in so many has a second answer
EVERY_OTHER = 11  # which differs in one of so many cases


def make_large_project(engine: Engine, items: int, labels: int) -> int:
    """Make a project with this many items and labels, and return its id. Only the last batch is unfinished.

    Its matchers copy the figures of a small measured project, which is made too.
    """
    small = make_measured_project(engine, name="Small")
    with reading(engine) as session:
        figures = [evaluation for _, evaluation in matchers_with_evaluations(session, small) if evaluation is not None]
    settings = Settings(first=FIRST, auto_train=False)
    with writing(engine) as session:
        project = add_project(session, NAME, Kind.SYMMETRIC, settings.model_dump())
        add_corpus(session, project.id, Corpus(Kind.SYMMETRIC, [_item(i, items) for i in range(items)], _gold(items)))
        number = 0
        while labels > 0:
            size = batch_size_of(number, settings.first, settings.growth)
            _add_matcher(session, project.id, number, figures[min(number, len(figures) - 1)])
            number += 1
            _answer(session, _add_batch(session, project.id, number, size), min(labels, size))
            labels -= size
        return project.id


def _item(place: int, items: int) -> CorpusItem:
    split = Split.EVALUATION if place >= 0.7 * items else Split.TRAIN
    text = f"how do I {place % 97} reset the password of account number {place} on the system {place % 1013}"
    return CorpusItem((f"row-{place}",), Side.LEFT, text, split)


def _gold(items: int) -> list[GoldPair]:
    n = min(GOLD, items // 8)
    return [GoldPair(items - 2 * i - 2, items - 2 * i - 1, True) for i in range(n)]


def _add_matcher(session: Session, project_id: int, number: int, figures: Evaluation) -> None:
    matcher = StoredModel(project_id=project_id, number=number, encoder="all-MiniLM-L6-v2", w=15.0, b=-9.0)
    session.add(matcher)
    session.flush()
    names = ("pairs", "positives", "estimates", "curve", "histogram")
    session.add(Evaluation(matcher_id=matcher.id, **{name: getattr(figures, name) for name in names}))


def _add_batch(session: Session, project_id: int, number: int, size: int) -> Round:
    batch = Round(project_id=project_id, number=number, strategy="uncertainty", size=size)
    session.add(batch)
    session.flush()
    first = session.scalar(select(func.min(StoredItem.id)).where(StoredItem.project_id == project_id)) or 0
    add_tasks(session, _tasks(batch, first))
    return batch


def _tasks(batch: Round, first: int) -> Iterator[dict[str, Any]]:
    n = batch.size + RESERVE
    number = batch.number or 0
    for position in range(n):
        yield {
            "project_id": batch.project_id,
            "round_id": batch.id,
            "position": position,
            "p": 0.5,
            "strategy": batch.strategy,
            "score": 0.9 - 0.5 * position / n,
            "votes": 1 if position % EVERY_SECOND else 2,
            "left_id": first + position,
            "right_id": first + position + number,
        }


def _answer(session: Session, batch: Round, answered: int) -> None:
    wanted = select(Task.id, Task.left_id, Task.right_id, Task.position).where(Task.round_id == batch.id)
    rows = [
        {
            "project_id": batch.project_id,
            "task_id": id_,
            "left_id": left,
            "right_id": right,
            "seconds": 2.5,
            "annotator": f"annotator {(position + vote) % ANNOTATORS}",
            "key": f"{id_}-{vote}",
            "answer": _said(position, vote),
        }
        for id_, left, right, position in session.execute(wanted.where(Task.position < answered))
        for vote in range(1 if position % EVERY_SECOND else 2)
    ]
    for start in range(0, len(rows), CHUNK):
        session.execute(insert(Answer), rows[start : start + CHUNK])


def _said(position: int, vote: int) -> AnswerKind:
    positive = position % EVERY_POSITIVE == 0
    differs = vote == 1 and position // EVERY_SECOND % EVERY_OTHER == 0
    return AnswerKind.POSITIVE if positive != differs else AnswerKind.NEGATIVE

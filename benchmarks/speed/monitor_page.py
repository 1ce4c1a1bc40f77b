"""Measure the server time of the Monitor page on a large project, and of its queries.

python -m benchmarks.speed.monitor_page [--items 1000000] [--labels 100000]
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import streamlit as st
from sqlalchemy import Engine, func, insert, select
from streamlit.testing.v1 import AppTest

from allpairs.db.domain import AnswerKind, Purpose, Side, Split
from allpairs.db.schema.engine import make_engine, migrate, writing
from allpairs.db.schema.tables import Answer, Item, Round, Task, now
from benchmarks.common import ROOT
from tests.helpers.figures.measured import make_measured_project

CHUNK, ROUNDS, ANNOTATORS, TIMES = 50_000, 10, 4, 7
KINDS = (AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE)


def main() -> None:
    """Print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=100_000)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["ALLPAIRS_HOME"] = home
        migrate()
        engine = make_engine()
        fill(engine, make_measured_project(engine), wanted.items, wanted.labels)
        print(f"{wanted.items:,} items, {wanted.labels:,} labels; milliseconds, median of {TIMES}: elapsed (processor)")
        draw()  # a process's first page also loads libraries
        print(f"page, nothing kept: {milliseconds(draw, st.cache_data.clear)}")
        print(f"page, one new answer: {milliseconds(draw, lambda: answer(engine))}")
        print(f"page, nothing new: {milliseconds(draw)}")


def draw() -> None:
    """Draw the page once."""
    page = AppTest.from_file(str(ROOT / "annotate" / "pages" / "monitor.py"), default_timeout=120).run()
    assert not page.exception, page.exception


def answer(engine: Engine) -> None:
    """Give the newest answer once more."""
    with writing(engine) as session:
        last = session.scalars(select(Answer).order_by(Answer.id.desc()).limit(1)).one()
        same = {name: getattr(last, name) for name in ("project_id", "task_id", "left_id", "right_id", "annotator")}
        session.add(Answer(**same, answer=last.answer, key=f"{last.key}+", seconds=3.0))


def milliseconds(act: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> str:
    """Return the medians of wall and CPU time of the act; `before` is not counted."""
    spent = []
    for _ in range(TIMES):
        before()
        elapsed, used = time.perf_counter(), time.process_time()
        act()
        spent.append((time.perf_counter() - elapsed, time.process_time() - used))
    elapsed, used = (1000 * statistics.median(column) for column in zip(*spent, strict=True))
    return f"{elapsed:.0f} ({used:.0f})"


def fill(engine: Engine, project_id: int, items: int, labels: int) -> None:
    """Add so many items, and so many labels in more rounds, to the project."""
    with writing(engine) as session:
        for start in range(0, items, CHUNK):
            session.execute(insert(Item), list(_items(project_id, range(start, min(start + CHUNK, items)))))
        session.add_all(Round(project_id=project_id, number=100 + i, strategy="uncertainty", size=labels // ROUNDS)
                        for i in range(ROUNDS))  # fmt: skip
        rounds = session.scalars(select(Round.id).where(Round.number >= 100)).all()
        first = session.scalar(select(func.min(Item.id)).where(Item.project_id == project_id)) or 1
        task = session.scalar(select(func.max(Task.id))) or 0
        rows = list(_tasks(project_id, rounds, first, task + 1, labels, np.random.default_rng(0)))
        for start in range(0, labels, CHUNK):
            session.execute(insert(Task), [one for one, _ in rows[start : start + CHUNK]])
            session.execute(insert(Answer), [one for _, one in rows[start : start + CHUNK]])


def _items(project_id: int, numbers: range) -> Iterator[dict[str, Any]]:
    for i in numbers:
        split = Split.EVALUATION if i % 3 == 0 else Split.TRAIN
        yield {"project_id": project_id, "side": Side.LEFT, "split": split, "text": f"How do I do thing number {i}?"}


def _tasks(
    project_id: int, rounds: Any, first: int, task: int, labels: int, rng: np.random.Generator
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield a task and its answer for each label, over half a year."""
    seconds, begin = rng.lognormal(1.2, 0.8, labels), now() - timedelta(days=180)
    for i in range(labels):
        pair = {"project_id": project_id, "left_id": first + i, "right_id": first + i + 1}
        yield (
            {**pair, "id": task + i, "round_id": rounds[i * ROUNDS // labels], "position": i, "strategy": "uncertainty",
             "score": 0.5, "purpose": Purpose.TRAIN},
            {**pair, "task_id": task + i, "annotator": f"person {i % ANNOTATORS}", "answer": KINDS[i % len(KINDS)],
             "key": f"benchmark-{i}", "seconds": round(float(seconds[i]), 3),
             "created_at": begin + timedelta(days=180 * i / labels)},
        )  # fmt: skip


if __name__ == "__main__":
    main()

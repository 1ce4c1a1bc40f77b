"""Server time of the Monitor page on a large project, and of the queries behind it.

python -m benchmarks.monitor_page [--items 1000000] [--labels 100000]
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
from sqlalchemy import Engine, func, insert, select
from streamlit.testing.v1 import AppTest

from benchmarks.common import ROOT
from db.domain import AnswerKind, Purpose, Side, Split
from db.engine import make_engine, migrate, writing
from db.models import Answer, Item, Round, Task, now
from tests.measured import make_measured_project

CHUNK, ROUNDS, ANNOTATORS = 50_000, 10, 4
KINDS = (AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE)


def main() -> None:
    """Nothing; prints medians in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=100_000)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["ALLPAIRS_HOME"] = home
        migrate()
        engine = make_engine()
        fill(engine, make_measured_project(engine), wanted.items, wanted.labels)
        print(f"{wanted.items:,} items, {wanted.labels:,} labels")
        print(f"page: {milliseconds(draw):.0f} ms")


def draw() -> None:
    """Nothing; the page is drawn once."""
    page = AppTest.from_file(str(ROOT / "annotate" / "pages" / "monitor.py"), default_timeout=120).run()
    assert not page.exception, page.exception


def milliseconds(act: Callable[[], Any], times: int = 5) -> float:
    """The median time of the act; it is done once before."""
    act()
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        spent.append(time.perf_counter() - start)
    return 1000 * statistics.median(spent)


def fill(engine: Engine, project_id: int, items: int, labels: int) -> None:
    """Nothing; the project has so many more items, and so many labels in more rounds."""
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
    """A task and its answer for each label, over half a year."""
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

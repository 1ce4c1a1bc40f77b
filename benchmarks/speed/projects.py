"""Measure the server time of the Projects page with 50 projects, one with a million items and 100,000 labels.

python -m benchmarks.speed.projects [--items 1000000] [--labels 100000] [--projects 50] [--home DIR]
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine, text
from sqlalchemy.orm import Session
from streamlit.testing.v1 import AppTest

from allpairs.annotate.projects.list_view import read_overviews
from allpairs.db.domain import Settings
from allpairs.db.estimate import Estimate
from allpairs.db.schema.engine import make_engine, migrate, reading, writing
from allpairs.db.schema.tables import Evaluation, Matcher, Project

ROOT = Path(__file__).parents[2]
BATCH = 2_000  # tasks of the newest batch of the large project
SMALL = 2_000, 500  # items and labels of each other project
REPEATS = 15


def main() -> None:
    """Print how long the page takes with these projects, which are made if the folder has none."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["ALLPAIRS_HOME"] = arguments.home or temporary
        migrate()
        engine = make_engine()
        if not _count(engine):
            sizes = [(arguments.items, arguments.labels), *[SMALL] * (arguments.projects - 1)]
            for number, (items, labels) in enumerate(sizes):
                make_project(engine, f"Project {number}", items, labels)
        measure(engine)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--projects", type=int, default=50)
    parser.add_argument("--home", default="")
    return parser.parse_args()


def _count(engine: Engine) -> int:
    with reading(engine) as session:
        return session.query(Project).count()


def measure(engine: Engine) -> None:
    """Print seconds of the queries, and of the server's part of drawing the whole page."""
    queries = [_cost(lambda: read_overviews(engine)) for _ in range(REPEATS)]
    page = AppTest.from_file(str(ROOT / "annotate" / "shell" / "app.py"), default_timeout=60)
    page.run()
    page.switch_page("../pages/projects.py")
    first = _cost(page.run)
    draws = [_cost(page.run) for _ in range(REPEATS)]
    assert not page.exception
    print("milliseconds, wall and CPU")
    for what, costs in (("all queries", queries), ("first draw after the start", [first]), ("a draw", draws)):
        elapsed, processor = (1000 * statistics.median(column) for column in zip(*costs, strict=True))
        print(f"  {what}, median of {len(costs)}: {elapsed:.0f}, {processor:.0f}")


def _cost(call: Callable[[], object]) -> tuple[float, float]:
    """Return wall and CPU seconds."""
    clock, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - clock, time.process_time() - processor


def make_project(engine: Engine, name: str, items: int, labels: int) -> None:
    """Make a project with gold, labels over the last 20 days, a half answered batch and five measured rounds."""
    with writing(engine) as session:
        project = Project(name=name, kind="symmetric", settings=Settings.model_validate({}).model_dump())
        session.add(project)
        session.flush()
        sizes = {"project": project.id, "items": items, "labels": labels, "batch": min(BATCH, labels)}
        sizes["base"] = session.execute(text("SELECT coalesce(max(id), 0) + 1 FROM items")).scalar_one()
        for statement in FILL:
            session.execute(text(statement), sizes)
        _add_rounds(session, project.id)


def _numbers(count: str) -> str:
    return f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :{count} - 1)"


_TEXT = "'How do I reset the password of account number ' || i || ' on the old machine in the cellar?'"
_PAIR = ":base + i % (:items - 40), :base + i % (:items - 40) + 1 + i / (:items - 40)"
_TASKS = "INSERT INTO tasks (project_id, round_id, left_id, right_id, position, strategy, score, purpose)"
_ROUND = "(SELECT id FROM rounds WHERE project_id = :project AND number = {})"
FILL = (
    f"INSERT INTO items (id, project_id, side, split, text) {_numbers('items')} SELECT :base + i, :project, 'left', "
    f"CASE WHEN i % 10 < 3 THEN 'evaluation' ELSE 'train' END, {_TEXT} FROM n",
    f"INSERT INTO gold (left_id, right_id, project_id, positive, closure) {_numbers('items')} "
    "SELECT :base + i, :base + i + 1, :project, 1, 0 FROM n WHERE i % 10 = 0",
    "INSERT INTO rounds (project_id, number, strategy, size, note, created_at) VALUES "
    "(:project, 1, 'uncertainty', :labels, '', CURRENT_TIMESTAMP), "
    "(:project, 2, 'uncertainty', :batch, '', CURRENT_TIMESTAMP)",
    f"{_TASKS} {_numbers('labels')} SELECT :project, {_ROUND.format(1)}, {_PAIR}, i, 'uncertainty', 0.5, "
    "'train' FROM n",
    f"{_TASKS} {_numbers('batch')} SELECT :project, {_ROUND.format(2)}, :base + i, :base + i + 40, i, 'uncertainty', "
    "0.5, 'train' FROM n",
    "INSERT INTO answers (project_id, task_id, left_id, right_id, annotator, answer, key, created_at) "
    "SELECT project_id, id, left_id, right_id, 'me', CASE WHEN id % 9 = 0 THEN 'positive' ELSE 'negative' END, "
    "'key-' || id, datetime('now', '-' || (id * 7919 % 28800) || ' minutes') FROM tasks "
    "WHERE project_id = :project AND (round_id = (SELECT min(id) FROM rounds WHERE project_id = :project) "
    "OR position % 2 = 0)",
)  # fmt: skip


def _add_rounds(session: Session, project_id: int) -> None:
    """Add five matchers with figures, the curve and histogram as long as real ones."""
    curve = {"recall": [i / 1000 for i in range(1000)], "precision": [0.5] * 1000, "score": [0.5] * 1000}
    for number in range(5):
        matcher = Matcher(project_id=project_id, number=number, encoder="all-MiniLM-L6-v2", labels=number * 100)
        session.add(matcher)
        session.flush()
        figures = {name: Estimate(0.5, 0.4, 0.6, "stratified", 100).as_dict() for name in MEASURES}
        session.add(Evaluation(matcher_id=matcher.id, pairs=10**9, positives=1000, estimates=figures, curve=curve,
                               histogram={"edges": curve["recall"], "negatives": [1] * 999}))  # fmt: skip


MEASURES = ("average_precision", "precision_at_recall_20", "precision", "recall", "f1")


if __name__ == "__main__":
    main()

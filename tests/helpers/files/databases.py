"""Databases for tests: projects to compare before and after, rows for all tables, and a later revision."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Date,
    DateTime,
    Engine,
    Float,
    Integer,
    MetaData,
    Table,
    insert,
    select,
)

from allpairs.annotate.features.label.queue import record, serve
from allpairs.db.domain import AnswerKind
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema import engine
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Base, StoredModel
from tests.helpers.factories import make_project, make_round
from tests.helpers.people import CHEAP, PASSWORD


def label_some(engine: Engine, name: str = "Questions") -> int:
    """Make a project with answers, one of them corrected, and a waiting job; return its id."""
    project = make_project(engine, [f"text {i}" for i in range(4)], name=name, auto_train=False)
    make_round(engine, project, 5)
    tasks = [pair.task_id for pair in serve(engine, project, "ann")[0]]
    acts = [(0, AnswerKind.POSITIVE), (1, AnswerKind.NEGATIVE), (0, AnswerKind.NEGATIVE), (2, AnswerKind.UNSURE)]
    events = [
        {"key": f"{name}-{at}", "task_id": tasks[task], "answer": answer, "seconds": 1.5}
        for at, (task, answer) in enumerate(acts)
    ]
    assert record(engine, project, "ann", events).refused == {}
    with writing(engine) as session:
        add_job(session, project, "round")
        session.add(StoredModel(project_id=project, number=0, folder=f"{project}/model", encoder="e", w=None, b=None))
    folder = artifacts() / str(project) / "model"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "weights").write_text("weights")
    return project


def contents(engine: Engine, without: tuple[str, ...] = ("leases", "workers", "jobs")) -> dict[str, list[Any]]:
    """Return all rows of all tables."""
    with reading(engine) as session:
        tables = [table for table in Base.metadata.sorted_tables if table.name not in without]
        return {table.name: sorted(map(repr, session.execute(select(table)).all())) for table in tables}


NUMBER = "9000"
_MIGRATION = """
from alembic import op

from allpairs.db.migrations.keep_labels import keep_labels

revision = "9000"
down_revision = "{newest}"


def upgrade():
    recreate = "always" if op.get_bind().dialect.name == "sqlite" else "never"
    with op.batch_alter_table("answers", recreate=recreate):
        pass
    keep_labels()
"""


def add_revision(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this version a migration more, in a copy in the folder: it makes the table `answers` anew."""
    text = _MIGRATION.format(newest=engine.newest_revision())
    copied = folder / "migrations"
    shutil.copytree(engine.MIGRATIONS, copied)
    (copied / "versions" / f"{NUMBER}_later.py").write_text(text)
    monkeypatch.setattr(engine, "MIGRATIONS", copied)


AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REVISIONS = "alembic_version"

Row = dict[str, Any]

# In the order in which they are stored: a row's number is its place, from 1. What a revision does not know of a row is
# left out there; a column of NULLs is left out everywhere.
ROWS: dict[str, list[Row]] = {
    "projects": [
        {"name": "Old", "kind": "symmetric", "settings": {"question": "The same?", "first": 4, "auto_train": False},
         "text_columns": {"left": ["name", "price"]}},
        {"name": "In the bin", "kind": "bipartite", "settings": {}, "deleted_at": AT},
    ],
    "items": [
        {"project_id": 1, "side": "left", "split": "evaluation" if at > 4 else "train", "text": f"Text {at} — 50 %'\n",
         "field_lengths": [14, 0]}
        for at in range(1, 7)
    ],
    "identifiers": [{"project_id": 1, "side": "left", "external_id": f"a{at}", "item_id": at} for at in range(1, 7)],
    "gold": [{"project_id": 1, "left_id": 5, "right_id": 6, "positive": True, "closure": False}],
    "matchers": [
        {"project_id": 1, "number": 0, "encoder": "e", "cutoff": 0, "labels": 0, "positives": 0, "details": {}},
        {"project_id": 1, "number": 1, "encoder": "e", "w": 12.5, "b": -6.25, "cutoff": 4, "labels": 3, "positives": 1,
         "details": {"seed": 0, "seconds": {"train": 1.5}}},
    ],
    "evaluations": [
        {"matcher_id": 2, "pairs": 1, "positives": 1, "curve": {}, "histogram": {}, "audit": {},
         "estimates": {"average_precision": {"value": 0.5, "low": 0.5, "high": 0.5, "method": "exact"}}},
    ],
    "designs": [
        {"project_id": 1, "number": 1, "kind": "audit", "matcher_id": 2, "pairs": 1, "details": {},
         "folder": "design-1", "strata": [{"name": "stratum 0", "low": 0.0, "high": 1.0, "size": 1}]},
    ],
    "rounds": [
        {"project_id": 1, "number": 1, "strategy": "similar", "size": 4, "matcher_id": 1, "note": ""},
        {"project_id": 1, "number": 2, "strategy": "uncertainty", "size": 2, "matcher_id": 2, "note": "A note."},
    ],
    "tasks": [
        {"project_id": 1, "round_id": 1, "left_id": left, "right_id": right, "position": at, "strategy": "similar",
         "score": 0.9 - 0.1 * at, "purpose": "train"}
        for at, (left, right) in enumerate([(1, 2), (1, 3), (2, 3), (1, 4)])
    ] + [
        {"project_id": 1, "round_id": 2, "left_id": 2, "right_id": 4, "position": 0, "strategy": "uncertainty",
         "score": 0.5, "p": 0.5, "inclusion": 0.25, "purpose": "train", "likely_start": 0, "likely_end": 4},
    ],
    "answers": [
        {"project_id": 1, "task_id": task, "left_id": left, "right_id": right, "annotator": who, "answer": answer,
         "key": f"key-{at}", "seconds": 1.5, "note": "Why not?"}
        for at, (task, left, right, who, answer) in enumerate([
            (1, 1, 2, "ann", "negative"), (1, 1, 2, "ann", "positive"), (2, 1, 3, "ben", "positive"),
            (2, 1, 3, "ben", "retract"), (3, 2, 3, "ann", "unsure"), (3, 2, 3, "ann", "skip"),
            (None, 3, 4, "file", "negative"),
        ])
    ],
    "leases": [{"task_id": 5, "annotator": "ann", "expires_at": AT}],
    "jobs": [
        {"id": "next_round-1-a", "project_id": 1, "kind": "next_round", "state": "done", "stage": "", "fraction": 1.0,
         "cancel": False},
        {"id": "next_round-1-b", "project_id": 1, "kind": "next_round", "state": "failed", "stage": "train",
         "fraction": 0.5, "cancel": False, "error": "InputError: no"},
    ],
    "people": [
        {"name": "Zoë", "folded": "zoë", "password": CHEAP.hash(PASSWORD), "administrator": False, "changed_at": AT},
    ],
    "memberships": [{"person_id": 1, "project_id": 1, "role": "annotator"}],
    "studies": [{"project_id": 1, "run_id": "run", "models": [], "per_model": 1, "seed": 0}],
    "study_units": [
        {"project_id": 1, "study_id": 1, "position": 0, "passage": "P", "question": "Q?", "models": []},
    ],
    "ratings": [
        {"project_id": 1, "unit_id": 1, "rater": "ann", "naturalness": True, "coverage": False, "correctness": True,
         "answerability": True},
    ],
}  # fmt: skip
LABELS = {(1, 2): "positive", (2, 3): "unsure", (3, 4): "negative"}  # what the answers say


def store_rows(connection: Connection) -> None:
    """Store rows in every existing table: those above, else generated ones."""
    tables = tables_in(connection)
    for table in tables.sorted_tables:
        if table.name != "labels":  # which a trigger keeps
            for row in ROWS.get(table.name, [{}]):
                known = {name: value for name, value in row.items() if name in table.c}
                connection.execute(insert(table), _missing(table) | known)


def rows_in(connection: Connection) -> dict[str, list[Row]]:
    """Return all rows of all tables."""
    tables = tables_in(connection).sorted_tables
    return {table.name: [dict(row) for row in connection.execute(select(table)).mappings()] for table in tables}


def tables_in(connection: Connection) -> MetaData:
    """Return the tables as the database defines them."""
    found = MetaData()
    found.reflect(connection, only=lambda name, _: name != REVISIONS)
    return found


def _missing(table: Table) -> Row:
    """Return a value for each required column without a default."""
    counted = table.primary_key.columns.keys() == ["id"] and isinstance(table.c.id.type, Integer)
    needed = (column for column in table.columns if not column.nullable and column.server_default is None)
    return {column.name: _made_up(column) for column in needed if not (counted and column.name == "id")}


def _made_up(column: Column[Any]) -> Any:
    if column.foreign_keys:
        return 1
    match column.type:
        case Boolean():
            return False
        case Integer() | Float():
            return 1
        case DateTime():
            return AT
        case Date():
            return AT.date()
        case JSON():
            return {}
    return "x"

"""The migrations produce exactly the models' tables, however often and by however many processes they are run."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect, select

from allpairs.db.projects.projects import all_projects
from allpairs.db.raters.rows import spent_by
from allpairs.db.schema.engine import make_engine, migrate, reading, writing
from allpairs.db.schema.tables import Base, MachineRater, PairLabel, PairVerdict, Project
from tests.helpers.files.old_tables import tables_of
from tests.helpers.paths import ROOT


def test_the_tables_are_those_of_the_models(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_tables_with_numbers_given_once_are_those_of_the_models(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", f"sqlite:///{home / 'allpairs.db'}")
    with tables_of("0023"):
        pass
    migrate()
    engine = make_engine()
    with engine.connect() as connection:
        made = "select name from sqlite_master where type = 'table' and sql like '%AUTOINCREMENT%'"
        found = set(connection.exec_driver_sql(made).scalars())
    models = {name for name, table in Base.metadata.tables.items() if table.dialect_kwargs["sqlite_autoincrement"]}
    assert found == models >= {"projects", "rounds", "tasks"}
    engine.dispose()


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    with writing(engine) as session:
        session.add(Project(name="Kept", kind="symmetric", settings={}))
    before = inspect(engine).get_table_names()
    migrate()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("select name from projects").scalars().all() == ["Kept"]
    assert inspect(engine).get_table_names() == before


def test_processes_that_migrate_at_once_all_succeed(home: Path) -> None:
    code = "from allpairs.db.schema.engine import migrate; migrate()"
    runs = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE) for _ in range(3)]
    results = [(run.communicate(timeout=120)[1].decode(), run.returncode) for run in runs]
    assert [code for _, code in results] == [0, 0, 0], results
    engine = make_engine()
    assert set(inspect(engine).get_table_names()) == {*Base.metadata.tables, "alembic_version"}
    engine.dispose()


def test_answers_given_before_labels_were_kept_have_theirs(home: Path) -> None:
    with tables_of("0004") as connection:
        for item in (1, 2, 3):
            connection.exec_driver_sql(f"insert into items values ({item}, 1, 'left', 'train', 'text {item}')")
        acts = [(1, 2, "a", "positive"), (1, 2, "b", "negative"), (1, 3, "a", "positive"), (1, 3, "a", "retract")]
        for at, (left, right, who, answer) in enumerate([*acts, (2, 3, "a", "unsure"), (2, 3, "a", "skip")]):
            connection.exec_driver_sql(
                "insert into answers (project_id, left_id, right_id, annotator, answer, key, created_at) "
                f"values (1, {left}, {right}, '{who}', '{answer}', 'key-{at}', '2026-01-03')"
            )
    migrate()
    engine = make_engine()
    with reading(engine) as session:
        kept = session.execute(select(PairLabel.left_id, PairLabel.right_id, PairLabel.answer, PairLabel.purpose)).all()
    assert sorted(kept) == [(1, 2, "negative", "train"), (2, 3, "unsure", "train")]
    engine.dispose()


def test_a_settled_pair_answered_again_gets_its_label_back(home: Path) -> None:
    with tables_of("0023") as connection:
        for item in (1, 2, 3):
            columns = "(id, project_id, side, split, text)"
            connection.exec_driver_sql(f"insert into items {columns} values ({item}, 1, 'left', 'train', 'text')")
        acts = [(2, "eve", "negative", True), (2, "ann", "positive", False), (3, "ann", "positive", False)]
        for at, (right, who, answer, settles) in enumerate(acts):
            connection.exec_driver_sql(
                "insert into answers (project_id, left_id, right_id, annotator, answer, key, created_at, settles) "
                f"values (1, 1, {right}, '{who}', '{answer}', 'key-{at}', '2026-01-03', {settles})"
            )
    migrate()
    engine = make_engine()
    with reading(engine) as session:
        kept = session.execute(select(PairLabel.right_id, PairLabel.answer, PairLabel.answer_id)).all()
    assert sorted(kept) == [(2, "negative", 1), (3, "positive", 3)]
    engine.dispose()


def test_surplus_raters_end_and_overflowing_verdicts_are_limited(home: Path) -> None:
    """As many as endpoints claimed before their answers were checked, and as many as an archive brought."""
    with tables_of("0025") as connection:
        for item in (1, 2):
            columns = "(id, project_id, side, split, text)"
            connection.exec_driver_sql(f"insert into items {columns} values ({item}, 1, 'left', 'train', 'text')")
        for number in (1, 2, 3):
            ended = "'2026-01-02'" if number == 3 else "NULL"
            connection.exec_driver_sql(
                "insert into raters (id, project_id, number, setup, who, at, ended_at) "
                f"values ({number}, 1, {number}, '{{}}', '', '2026-01-01', {ended})"
            )
            connection.exec_driver_sql(
                "insert into verdicts (project_id, rater_id, left_id, right_id, verdict, tokens_in, tokens_out, cost, "
                f"prompt, at) values (1, {number}, 1, 2, 'yes', {2**31 - 1}, -5, 1e300, 'x', '2026-01-01')"
            )
            connection.exec_driver_sql("update verdicts set tokens_in = 4611686018427387904")
    migrate()
    engine = make_engine()
    with reading(engine) as session:
        used = session.scalars(select(MachineRater.number).where(MachineRater.ended_at.is_(None))).all()
        spent = spent_by(session, 1)
        verdict = session.scalars(select(PairVerdict)).first()
    assert used == [2]
    assert verdict is not None and (verdict.tokens_in, verdict.tokens_out, verdict.cost) == (10**9, 0, 1e12)
    assert (spent.tokens_in, spent.tokens_out, spent.cost) == (10**9, 0, 1e12)
    engine.dispose()


def test_projects_made_before_they_could_be_put_away_are_listed(home: Path) -> None:
    with tables_of("0002"):
        pass
    migrate()
    engine = make_engine()
    with reading(engine) as session:
        assert [(project.name, project.archived_at) for project in all_projects(session)] == [("Old", None)]
    engine.dispose()

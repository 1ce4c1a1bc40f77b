"""A back-up is not restored under a running app."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from allpairs.db.errors import InputError
from allpairs.db.maintenance.backup import backup, restore
from allpairs.db.projects.jobs import ALIVE
from allpairs.db.projects.match_servers import remove_server, report_server
from allpairs.db.projects.projects import project_named
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Worker, now
from tests.helpers.factories import make_project


def test_a_database_in_use_is_not_replaced(engine: Engine, tmp_path: Path) -> None:
    make_project(engine, ["a", "b"], name="Before")
    backup(engine, tmp_path / "b.db")
    make_project(engine, ["a", "b"], name="After")
    with writing(engine) as session:
        report_server(session, "m", "host", 7, "localhost:1", "secret")
        session.add(Worker(executor_id="w", host="host", pid=8, device="cpu", seen_at=now()))
    with pytest.raises(InputError, match=r"w \(process 8 on host\), .* m \(process 7"):
        restore(tmp_path / "b.db", engine, replace=True)
    with writing(engine) as session:
        project_named(session, "After")
        remove_server(session, "m", 7)
        session.execute(update(Worker).values(seen_at=now() - ALIVE))
    restore(tmp_path / "b.db", engine, replace=True)
    with reading(engine) as session, pytest.raises(InputError, match="no project named 'After'"):
        project_named(session, "After")

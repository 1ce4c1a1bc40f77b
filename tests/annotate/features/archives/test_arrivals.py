"""What an archive or a back-up could switch on: nothing that it brings runs, sends anything, or lets anybody in."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from sqlalchemy import Engine, func, select, update

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.label.queue import serve
from allpairs.annotate.features.raters.project_raters import read_raters
from allpairs.annotate.frame.access import logins, tokens
from allpairs.db.domain import NoticeKind, PublicationKind, Settings, Verdict
from allpairs.db.errors import InputError
from allpairs.db.maintenance.backup import backup, restore
from allpairs.db.maintenance.transfer import LEFT_BEHIND
from allpairs.db.projects.jobs import NEXT_ROUND, OPEN, RATE, add_job
from allpairs.db.projects.match_servers import report_server
from allpairs.db.projects.notices import add_notice
from allpairs.db.projects.publications import in_service
from allpairs.db.projects.webhooks import due_webhooks
from allpairs.db.raters.rows import rater_in_use
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import (
    Base,
    Delivery,
    Job,
    MachineRater,
    MatchServer,
    Project,
    Publication,
    StoredModel,
    Webhook,
    now,
)
from allpairs.learner.jobs import rate as steps
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT
from tests.helpers.people import PASSWORD, START, make_person
from tests.helpers.raters import add_rater, add_verdicts, allow
from tests.helpers.services.webhooks import add_webhook

SWITCHES = {"encoder", "auto_train", "keep_groups", "rater_use"}  # settings that let a worker do something
TOUCH = "tests.learner.raters.judges:touch"  # a function that makes files named by the texts


def full_project(engine: Engine, tmp_path: Path) -> int:
    """Make a project with one of everything that does something by itself."""
    texts = [str(tmp_path / f"trace {number}") for number in range(4)]
    project_id = make_project(engine, texts, rater_use="route", keep_groups=True, encoder="somebody/model")
    make_round(engine, project_id, 4)
    rater_id = add_rater(engine, project_id, kind="function", function=TOUCH)
    add_verdicts(engine, rater_id, [((1, 2), Verdict.YES, 0.5)])
    add_webhook(engine, project_id)
    person = make_person(engine, "Ann", administrator=True)
    tokens.make(engine, person, "a program", START)
    logins.log_in(engine, "Ann", PASSWORD, "1.1.1.1", START)
    serve(engine, project_id, "Ann")
    with writing(engine) as session:
        for kind in PublicationKind:
            matcher = StoredModel(project_id=project_id, number=len(kind), encoder="somebody/model", w=1.0, b=0.0)
            session.add(matcher)
            session.flush()
            number = matcher.number
            session.add(Publication(project_id=project_id, kind=kind, matcher_id=matcher.id, number=number, who="Ann"))
        add_notice(session, project_id, NoticeKind.BATCH_READY, {})
        add_job(session, project_id, NEXT_ROUND)
        report_server(session, "served", "host", 1, "127.0.0.1:1", "secret")
    return project_id


def with_two_raters(archive: Path, to: Path) -> Path:
    """Return the archive with its rater twice, both in use."""
    with ZipFile(archive) as old, ZipFile(to, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "tables/raters.jsonl":
                row = json.loads(content)
                second = row | {"id": row["id"] + 1, "number": row["number"] + 1}
                content = b"\n".join(json.dumps(each).encode() for each in (row, second))
            if name == "manifest.json":
                manifest = json.loads(content)
                manifest["tables"]["raters"]["rows"] = 2
                content = json.dumps(manifest).encode()
            new.writestr(name, content)
    return to


def count(engine: Engine, table: str) -> int:
    with reading(engine) as session:
        return session.scalar(select(func.count()).select_from(Base.metadata.tables[table])) or 0


def test_an_archive_runs_and_sends_nothing(
    engine: Engine, tmp_path: Path, elsewhere: Callable[[str], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor would its rater run if somebody wrote into the database that it is in use."""
    full_project(engine, tmp_path)
    export_project(engine, "Questions", tmp_path / "one.zip")
    other = elsewhere("other")
    arrived = import_project(other, with_two_raters(tmp_path / "one.zip", tmp_path / "two.zip"))
    project_id = arrived.project_id
    assert sum("set it up again" in note for note in arrived.notes) == 2
    assert sum("in service has ended" in note for note in arrived.notes) == 2
    assert [row.in_use for row in read_raters(other, project_id)] == [False, False]
    with reading(other) as session:
        assert [in_service(session, project_id, kind) for kind in PublicationKind] == [None, None]
        assert Settings.model_validate(session.get_one(Project, project_id).settings).rater_use == "measure"
    assert {table for table in LEFT_BEHIND if count(other, table)} == set()
    with pytest.raises(InputError, match="no machine rater"):
        steps.plan_rating(project_id, 5)
    with writing(other) as session:
        rater = session.scalars(select(MachineRater)).first()
        assert rater is not None
        rater.ended_at = None
        job_id = add_job(session, project_id, RATE).id
    with pytest.raises(InputError, match=f"add {TOUCH} to"):
        steps.rate_pairs(job_id, *steps.plan_rating(project_id, 5))
    assert not list(tmp_path.glob("trace*"))
    allow(monkeypatch, functions=TOUCH)
    steps.rate_pairs(job_id, *steps.plan_rating(project_id, 5))
    assert list(tmp_path.glob("trace*")), "as the operator allows it"


def test_a_backup_sends_nothing_and_lets_nobody_in(
    engine: Engine, tmp_path: Path, elsewhere: Callable[[str], Engine]
) -> None:
    project_id = full_project(engine, tmp_path)
    backup(engine, tmp_path / "b.db")
    other = elsewhere("other")
    restore(tmp_path / "b.db", other, replace=False)
    with writing(other) as session:
        assert rater_in_use(session, project_id) is None
        assert session.scalars(select(Job.state).where(Job.state.in_(OPEN))).all() == []
        assert session.scalars(select(MatchServer)).all() == []
        assert session.scalars(select(Webhook.active)).all() == [False]
        session.execute(update(Webhook).values(active=True))  # by somebody who wants them here, from now on
        assert not due_webhooks(session, now()) and len(session.scalars(select(Delivery)).all()) == 1
    gone = ("leases", "workers", "logins", "api_tokens", "login_attempts")
    assert [table for table in gone if count(other, table)] == []


def test_rows_that_no_table_takes_are_refused_in_one_line(
    engine: Engine, tmp_path: Path, elsewhere: Callable[[str], Engine]
) -> None:
    """A file that somebody has altered: two raters in use."""
    make_project(engine, ["a", "b"])
    add_rater(engine, 1)
    backup(engine, tmp_path / "b.db")
    with sqlite3.connect(tmp_path / "b.db") as connection:
        connection.execute("DROP INDEX ix_raters_in_use")
        columns = "project_id, setup, who, at"
        connection.execute(f"INSERT INTO raters ({columns}, number) SELECT {columns}, 2 FROM raters")
    other = elsewhere("other")
    with pytest.raises(InputError, match="nothing was restored"):
        restore(tmp_path / "b.db", other, replace=False)
    assert count(other, "projects") == 0


def test_the_documents_name_each_switch() -> None:
    """A new setting that lets a worker do something belongs into the list, and into the project above."""
    listed = (ROOT / "docs" / "export-import.md").read_text()
    listed = listed[listed.index("## What arrives switched off") :]
    assert {name for name in SWITCHES if f"`{name}`" not in listed} == set()
    assert set(Settings.model_fields) >= SWITCHES

"""Texts from outside are stored, logged and shown without what hides, repaints or breaks something."""

import logging

import pytest
from sqlalchemy import Engine, select

from allpairs.db.domain import DeliveryState, NoticeKind
from allpairs.db.files.logs import TextLines
from allpairs.db.projects.jobs import add_job, fail_job
from allpairs.db.projects.notices import add_notice
from allpairs.db.projects.webhooks import claim, mark_failed
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Delivery, Job, now
from allpairs.db.schema.tables.base import Base, OutsideText
from tests.helpers.factories import make_project
from tests.helpers.services.webhooks import add_webhook

HOSTILE = "HTTP/1.1 200\0 \x1b[2J\u202eKO\u2066 \x9b1m half \ud83d\nnext line"
PLAIN = "HTTP/1.1 200 [2JKO 1m half ?\nnext line"


def test_a_failed_delivery_is_stored_and_waits(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"])
    webhook = add_webhook(engine, project)
    with writing(engine) as session:
        add_notice(session, project, NoticeKind.BATCH_READY, {})
    with writing(engine) as session:
        message = claim(session, webhook, now(), now() - now())
        assert message is not None
        mark_failed(session, message, None, HOSTILE, now())
    with reading(engine) as session:
        delivery = session.scalars(select(Delivery)).one()
    assert (delivery.error, delivery.attempts, delivery.state) == (PLAIN, 1, DeliveryState.WAITING)


def test_a_failed_job_is_stored(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"])
    with writing(engine) as session:
        job = add_job(session, project, "audit")
        fail_job(session, job, HOSTILE, HOSTILE)
        number = job.id
    with reading(engine) as session:
        job = session.get_one(Job, number)
    assert (job.error, job.traceback, job.state) == (PLAIN, PLAIN, "failed")


def test_errors_and_names_of_files_are_texts_from_outside() -> None:
    columns = {f"{table}.{column.name}" for table, row in Base.metadata.tables.items() for column in row.columns
               if isinstance(column.type, OutsideText)}  # fmt: skip
    named = {f"{table}.{column.name}" for table, row in Base.metadata.tables.items() for column in row.columns
             if column.name in {"error", "traceback", "paused_why"}}  # fmt: skip
    assert named < columns


def test_a_line_of_the_log_cannot_be_forged(caplog: pytest.LogCaptureFixture) -> None:
    record = logging.LogRecord("allpairs", logging.WARNING, "", 0, "no answer: %s", (HOSTILE,), None)
    assert TextLines("%(levelname)s %(message)s").format(record) == "WARNING no answer: " + PLAIN.replace("\n", " ")

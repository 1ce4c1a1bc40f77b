"""The machine rater on the pages Settings and Monitor, without a browser."""

from itertools import combinations
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.raters.project_raters import read_raters, set_up
from allpairs.annotate.kit.jobs import requests
from allpairs.db.domain import AnswerKind, Verdict
from allpairs.db.estimate import Estimate
from allpairs.db.projects.jobs import RATE
from allpairs.db.raters.rows import pause, rater_in_use
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, Job
from tests.helpers.factories import make_design, make_project, make_round
from tests.helpers.figures.measured import make_audited_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page, said
from tests.helpers.raters import add_rater, add_verdicts, answer_pairs

SETTINGS, MONITOR = (ROOT / "annotate" / "pages" / f"{name}.py" for name in ("settings", "monitor"))
URL = "http://localhost:11434/v1"


@pytest.fixture
def project(engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *arguments: None)
    project_id = make_project(engine, [f"text {at}" for at in range(10)])
    make_round(engine, project_id, 4)
    return project_id


def test_the_rater_in_use_reads_the_pairs_of_an_audit(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *arguments: asked.append(arguments))
    found = Estimate(0.7, 0.5, 0.85, "audit", 200).as_dict()
    project = make_audited_project(engine, rater={"name": "judge", "read": 1_500, "sensitivity": found})
    assert "audit_rater_read" not in {button.key for button in open_page(MONITOR, tab="Audit").button}
    add_rater(engine, project)
    page = open_page(MONITOR, tab="Audit")
    assert "read 1,500 pairs" in said(page) and "70%" in said(page)
    page.get_by_key("audit_rater_pairs").set_value(50)
    page.get_by_key("audit_rater_read").click().run()
    assert "no audit yet" in said(page) and not asked
    make_design(engine, project)
    page = open_page(MONITOR, tab="Audit")
    page.get_by_key("audit_rater_estimate").click().run()
    assert "(estimated)" in said(page)
    assert "2,000 pairs" in said(page) or "pairs," in said(page)
    page.get_by_key("audit_rater_read").click().run()
    assert [one[-2:] for one in asked] == [(2_000, "audit")]


def test_a_rater_is_set_up_asked_resumed_and_ended(engine: Engine, project: int) -> None:
    page = open_page(SETTINGS)
    save = next(button for button in page.button if button.label == "Save the machine rater")
    save.click().run()
    assert "up to /v1" in said(page) and not read_raters(engine, project)
    page.get_by_key(f"rater_{project}_0_False_function").set_value("cProfile:run")
    next(button for button in page.button if button.label == "Save the machine rater").click().run()
    assert "ALLPAIRS_RATER_FUNCTIONS" in said(page) and not read_raters(engine, project)
    page.get_by_key(f"rater_{project}_0_False_function").set_value("")
    for name, value in {"url": URL, "model": "m", "pairs_a_minute": 2}.items():
        page.get_by_key(f"rater_{project}_0_False_{name}").set_value(value)
    next(button for button in page.button if button.label == "Save the machine rater").click().run()
    (one,) = read_raters(engine, project)
    assert (one.setup.url, one.setup.model, one.setup.pairs_a_minute) == (URL, "m", 2)
    set_up(engine, project, one.setup.model_copy(update={"model": "n"}))  # in another browser
    page = page.run()
    assert page.get_by_key(f"rater_{project}_2_True_model").value == "n"
    assert "go to localhost" in said(page)
    page.get_by_key("rater_estimate").click().run()
    assert "4 pairs" in said(page) and "2 minutes" in said(page)
    with writing(engine) as session:
        row = rater_in_use(session, project)
        assert row is not None
        pause(session, row, "it is wrong")
    page = page.run()
    assert "Paused: it is wrong." in said(page) and page.get_by_key("rater_ask").disabled
    page.get_by_key("rater_resume").click().run()
    page.get_by_key("rater_ask").click().run()
    assert not page.exception
    with reading(engine) as session:
        assert session.scalars(select(Job.kind)).one() == RATE
    page.get_by_key("rater_ended").click().run()
    assert "Ended: Local model (0 pairs)" in said(page)
    assert page.get_by_key(f"rater_{project}_2_False_model").value == ""


def test_its_worth_is_on_the_tab_people(engine: Engine, project: int) -> None:
    with reading(engine) as session:
        pairs = list(combinations(session.scalars(select(Item.id).order_by(Item.id)), 2))
    assert "Machine rater" not in [part.value for part in monitor(project).subheader]
    rater_id = add_rater(engine, project)
    assert "no pair that people answered" in said(monitor(project))
    answer_pairs(engine, project, [(pair, AnswerKind.NEGATIVE) for pair in pairs[:20]])
    add_verdicts(engine, rater_id, [(pair, Verdict.NO, 0.2) for pair in pairs[:20]])
    page = monitor(project)
    assert "probabilities: 0.20" in said(page)
    tables = [table.value for table in page.dataframe]
    assert any("1.00 (0.84–1.00), n = 20" in str(table.to_numpy().tolist()) for table in tables)


def monitor(project: int) -> AppTest:
    page = open_page(MONITOR, tab="People")
    assert not page.exception
    return page

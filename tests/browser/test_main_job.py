"""The main job of a new user: the demo, a batch labelled, a model trained, the next batch, its figures."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine, select

from db.schema.engine import make_engine, reading
from db.schema.tables import Gold, Task
from tests.helpers.browser import App, open_card, settle
from tests.helpers.services.ports import free_port

TRAINING = 240_000  # milliseconds: the worker loads torch, measures the encoder, trains, encodes


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[App]:
    """Yield the app as at its first start, with its own worker."""
    app = App(tmp_path, free_port(), demo=True)
    app.start()
    yield app
    app.stop()


def gold_answers(engine: Engine) -> list[bool]:
    """Return whether each pair of the first batch is a gold positive, in display order."""
    with reading(engine) as session:
        tasks = session.scalars(select(Task).where(Task.position < 40).order_by(Task.position)).all()
        gold = session.execute(select(Gold.left_id, Gold.right_id).where(Gold.positive)).tuples().all()
    positives = set(gold)
    return [(task.left_id, task.right_id) in positives for task in tasks]


def test_the_demo_is_labelled_trained_and_measured(fresh: App, page: Page) -> None:
    open_card(page, fresh.url)
    engine = make_engine(f"sqlite:///{fresh.home / 'allpairs.db'}")
    answers = gold_answers(engine)
    engine.dispose()
    for positive in answers:
        page.keyboard.press("1" if positive else "2")
    settle(page, len(answers))
    expect(page.locator(".pair")).to_be_visible()  # the reserve: nobody waits for the training
    expect(page.locator(".counts")).to_contain_text("Batch 2: 0 of 60 answered", timeout=TRAINING)
    page.wait_for_timeout(500)  # keys rest for a moment when a newer batch takes the place of the pair on screen
    page.keyboard.press("1")
    expect(page.locator(".last")).to_contain_text("uncertainty")
    page.get_by_role("link", name="Monitor").click()
    expect(page.get_by_text("after 40 labels")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Exact over all").first).to_be_visible()

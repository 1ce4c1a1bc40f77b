"""Leases in a real browser: a present annotator keeps the card's pairs, an absent one releases them."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page
from sqlalchemy import select, update

from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Lease, Task, now
from tests.helpers.browser import Desk, drawn, open_card
from tests.helpers.services.workers import wait_for


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk(3)


def ends(desk: Desk) -> list[datetime]:
    """Return the expiry times of the project's leases."""
    with reading(desk.engine) as session:
        mine = select(Lease.expires_at).join(Task).where(Task.project_id == desk.project_id)
        return list(session.scalars(mine))


def almost_over(desk: Desk) -> datetime:
    """Let every lease of the project expire in ten seconds, and return that time."""
    soon = now() + timedelta(seconds=10)
    tasks = select(Task.id).where(Task.project_id == desk.project_id)
    with writing(desk.engine) as session:
        session.execute(update(Lease).where(Lease.task_id.in_(tasks)).values(expires_at=soon))
    return soon


def wait_for_more(desk: Desk, soon: datetime) -> None:
    """Wait until the leases are extended by minutes."""
    wait_for(lambda: min(ends(desk)) > soon + timedelta(minutes=9), 10)


def test_whoever_reads_keeps_the_pairs_and_whoever_leaves_does_not(page: Page, desk: Desk) -> None:
    open_card(page, f"{desk.url}&annotator=ann")
    page.clock.install()  # the card's clock ticks on, and reads the time that is set here
    soon = almost_over(desk)
    page.mouse.move(200, 200)
    page.clock.fast_forward("02:05")
    wait_for_more(desk, soon)
    soon = almost_over(desk)
    for _ in range(4):  # nobody touches anything from now on
        page.clock.fast_forward("05:05")
        drawn(page)  # a message would have been answered
    assert ends(desk) == [soon] * 3
    page.mouse.move(300, 300)
    page.clock.fast_forward("00:02")
    wait_for_more(desk, soon)

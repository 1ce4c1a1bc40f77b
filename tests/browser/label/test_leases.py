"""Leases in a real browser: a present annotator keeps the card's pairs, an absent one releases them."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select, update

from allpairs.annotate.features.label.queue import serve
from allpairs.annotate.features.projects.lifecycle import archive_project, restore_project
from allpairs.db.domain import AnswerKind
from allpairs.db.labels.withdrawn import open_batch
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Lease, Round, Task, now
from tests.helpers.browser import PAUSE, Desk, MakeDesk, drawn, open_card, press, settle
from tests.helpers.factories import make_round
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


def test_readers_keep_the_pairs_and_leavers_do_not(page: Page, desk: Desk) -> None:
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


def test_answers_of_the_next_batch_count_and_six_people_share_it(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(40, reserve=20)
    open_card(page, f"{desk.url}&annotator=ann")
    for _ in range(45):
        press(page, "2")
    settle(page, 45)
    new_batch(desk, 60, again=15)
    expect(page.locator(".counts")).to_contain_text("Batch 2: 0 of 60 answered")
    page.wait_for_timeout(PAUSE)
    for _ in range(60):
        press(page, "2")
    settle(page, 105)
    expect(page.locator(".counts")).to_contain_text("Batch 2: 60 of 60 answered")

    new_batch(desk, 40)
    expect(page.locator(".counts")).to_contain_text("Batch 3: 0 of 40 answered")
    others = [serve(desk.engine, desk.project_id, who)[0] for who in ("ben", "cem", "dan", "eve", "fay")]
    assert all(len(pairs) >= 6 and pairs[0].in_batch for pairs in others)
    page.wait_for_timeout(PAUSE)
    for count in range(1, 6):
        press(page, "2")
        settle(page, 105 + count)
    held = {pair.task_id for pairs in others for pair in pairs}
    assert not held & {answer.task_id for answer in desk.answers}


def new_batch(desk: Desk, size: int, again: int = 0) -> None:
    """Make a batch, of which so many pairs are unlabelled ones of the reserve before."""
    left = [task for task, label in zip(desk.tasks, desk.labels, strict=True) if label is None][:again]
    newest = make_round(desk.engine, desk.project_id, size)
    with writing(desk.engine) as session:
        tasks = session.scalars(select(Task).where(Task.round_id == newest).order_by(Task.position))
        for task, old in zip(tasks, left, strict=False):
            task.left_id, task.right_id = old.left_id, old.right_id
        open_batch(session, session.get_one(Round, newest))


def test_archiving_a_project_closes_the_open_card(page: Page, make_desk: MakeDesk) -> None:
    desk, other = make_desk(5), make_desk(5)
    open_card(page, f"{desk.url}&annotator=ann")
    press(page, "2")
    settle(page, 1)
    archive_project(desk.engine, desk.project_id)
    page.keyboard.press("2")
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("is archived")
    expect(page.locator(".card")).to_have_count(0)
    for key in ("1", "2", "1"):
        page.keyboard.press(key)
    strip = page.locator("#allpairs-strip")
    expect(strip).to_contain_text("1 answer was not")
    expect(strip).to_contain_text("is archived")
    assert len(desk.answers) == 1 and not other.answers
    restore_project(desk.engine, desk.project_id)
    open_card(page, f"{desk.url}&annotator=ann")
    wait_for(lambda: len(desk.answers) == 2, 30)
    assert [answer.answer for answer in desk.answers] == [AnswerKind.NEGATIVE] * 2

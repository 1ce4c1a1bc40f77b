"""Hidden checks in a real browser: they look like pairs, count for nothing, and are undone like pairs."""

from collections.abc import Callable

from playwright.sync_api import Page, expect
from sqlalchemy import select

from allpairs.db.domain import AnswerKind
from allpairs.db.labels.hidden_checks import check_results
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Check
from tests.helpers.browser import App, Desk, Picture, drawn, open_card, press, settle
from tests.helpers.projects.labels import know

PAIRS = 20


def checks_of(desk: Desk) -> tuple[int, list[AnswerKind]]:
    """Return the number of checks, and the answers to them."""
    with reading(desk.engine) as session:
        planned = session.scalars(select(Check.id).where(Check.project_id == desk.project_id)).all()
        return len(planned), [one.answer for one in check_results(session, desk.project_id)]


def answer_all(page: Page, key: str, times: int) -> None:
    for _ in range(times):
        press(page, key)


def undo_all(page: Page, times: int) -> None:
    for _ in range(times):
        expect(page.locator("[data-act=undo]")).to_be_enabled()
        page.keyboard.press("z")


def test_checks_are_answered_like_pairs_and_count_for_nothing(
    page: Page, app: App, make_desk: Callable[..., Desk], picture: Picture
) -> None:
    desk = make_desk(PAIRS, name="Checked", gold_share=0.5)
    know(desk.engine, desk.project_id, 40, 0)
    open_card(page, f"{desk.url}&annotator=ann")
    planned, said = checks_of(desk)
    assert planned > 1 and said == []
    answer_all(page, "1", PAIRS + planned)
    settle(page, PAIRS + planned)
    expect(page.locator(".counts")).to_have_text(f"Batch 1: {PAIRS} of {PAIRS} answered · {PAIRS} positive")
    assert len(desk.answers) == PAIRS
    assert checks_of(desk) == (planned, [AnswerKind.POSITIVE] * planned)
    undo_all(page, PAIRS + planned)
    settle(page, 2 * (PAIRS + planned))
    assert checks_of(desk) == (planned, [])
    assert desk.labels == [None] * PAIRS
    answer_all(page, "2", PAIRS + planned)
    settle(page, 3 * (PAIRS + planned))
    assert checks_of(desk)[1] == [AnswerKind.NEGATIVE] * planned
    page.reload()
    expect(page.locator("[data-act=undo]")).to_be_enabled(timeout=30_000)
    drawn(page)
    undo_all(page, PAIRS + planned)
    settle(page, PAIRS + planned)
    assert (checks_of(desk)[1], desk.labels) == ([], [None] * PAIRS)
    answer_all(page, "1", PAIRS + planned)
    settle(page, 2 * (PAIRS + planned))
    see_figures(page, app, picture)


def see_figures(page: Page, app: App, picture: Picture) -> None:
    """Wait for the figures on the page Review."""
    page.goto(f"{app.url}/review?project=Checked&annotator=ann")
    heading = page.get_by_role("heading", name="Hidden test pairs")
    heading.wait_for(timeout=30_000)
    expect(page.get_by_text("Suspiciously fast answers")).to_be_visible(timeout=15_000)  # so many keys in a row
    heading.scroll_into_view_if_needed()
    picture(page, "hidden-checks", 1300)

"""Two people label the same pairs in their own browsers, and a third settles their conflicts."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from allpairs.annotate.features.projects.projects import delete_project
from allpairs.db.domain import AnswerKind
from allpairs.db.labels.answers import Label, current_labels
from allpairs.db.schema.engine import reading
from tests.helpers.browser import PAUSE, App, Desk, Picture, drawn, open_card, settle
from tests.helpers.factories import require_votes
from tests.helpers.projects.labels import NEGATIVE, POSITIVE, label_pairs


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Iterator[Desk]:
    """Yield a batch of six pairs, each for two annotators."""
    questions = [f"How do I {what} the printer?" for what in ("replace", "clean", "restart", "reset", "sell", "move")]
    desk = make_desk(6, texts=questions, name="Reviewed")
    require_votes(desk.engine, 2)
    yield desk
    delete_project(desk.engine, desk.project_id)


def label(chromium: Browser, desk: Desk, who: str, keys: str) -> None:
    """Press these keys as this person, one per pair, in their own browser."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.clock.install()
        open_card(page, f"{desk.url}&annotator={who}")
        for key in keys:
            page.keyboard.press(key)
            page.clock.fast_forward(PAUSE)
        settle(page, len(keys))


def test_a_third_person_settles_what_two_differ_on(
    page: Page, app: App, desk: Desk, chromium: Browser, picture: Picture
) -> None:
    label(chromium, desk, "ann", "ynnnnn")
    label(chromium, desk, "ben", "nnnnnn")
    assert len(desk.answers) == 12
    page.goto(f"{app.url}/review?project=Reviewed&annotator=eve")
    expect(page.get_by_text("1 pair with different")).to_be_visible(timeout=30_000)
    case = page.locator(".st-key-review_case")
    expect(case.get_by_text("ann")).to_have_count(0)
    case.get_by_role("radio", name="No", exact=True).click()
    page.get_by_role("button", name="Settle: No").wait_for(timeout=15_000)
    page.get_by_text("Agreement of annotators").click()
    expect(page.get_by_text("Against the consensus")).to_be_visible(timeout=60_000)
    picture(page, "review", 1300)
    page.get_by_role("button", name="Settle: No").click()
    expect(page.get_by_text("Nothing to review")).to_be_visible(timeout=15_000)
    settled = [answer for answer in desk.answers if answer.settles]
    assert [(answer.annotator, answer.answer) for answer in settled] == [("eve", AnswerKind.NEGATIVE)]


def test_a_group_is_split_and_put_together_again(
    page: Page, app: App, make_desk: Callable[..., Desk], picture: Picture
) -> None:
    topics = ("renew a passport", "get a new passport", "extend my passport", "change my address", "move house")
    desk = make_desk(0, texts=[f"How do I {what}?" for what in topics], name="Grouped")
    label_pairs(desk.engine, desk.project_id, {(0, 1): POSITIVE, (1, 2): POSITIVE, (2, 3): POSITIVE, (3, 4): POSITIVE})
    page.goto(f"{app.url}/review?project=Grouped&annotator=eve")
    page.get_by_text("Groups of matching texts").click(timeout=30_000)
    group = page.locator("[class*=st-key-label_group]").first
    for text in topics[3:]:
        drawn(page)  # a tick on a page that is drawn anew is lost
        group.get_by_text(text).first.click(timeout=30_000)
        expect(group.get_by_text("across this split")).to_be_visible(timeout=15_000)
    split = page.get_by_role("button", name="Split: answer 1 pair")
    expect(split).to_be_visible(timeout=15_000)
    picture(page, "split", 1300)
    split.click()
    expect(page.get_by_text("Your last split: 1 pair")).to_be_visible(timeout=15_000)
    assert [label.answer for label in desk_labels(desk)] == [POSITIVE, POSITIVE, POSITIVE, NEGATIVE]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Your last split")).to_have_count(0, timeout=15_000)
    assert [label.answer for label in desk_labels(desk)] == [POSITIVE, POSITIVE, POSITIVE, POSITIVE]
    delete_project(desk.engine, desk.project_id)


def desk_labels(desk: Desk) -> list[Label]:
    with reading(desk.engine) as session:
        return sorted(current_labels(session, desk.project_id), key=lambda label: label.answer, reverse=True)

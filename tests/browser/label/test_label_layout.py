"""The card's layout: the pair is in sight on every screen, buttons stay where they are, and records are tables."""

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from allpairs.db.domain import AnswerKind
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Item, Project
from tests.helpers.browser import DESKTOP, PHONE, MakeDesk, open_card, settle

SIZES = [(640, 400), (320, 200), (390, 844), (1280, 800)]  # 1280 × 800 magnified to 200 % and 400 %; a phone; a desktop
TEXTS = ["How can I change it?", " ".join(["How can I change the password of my account?"] * 20), "Why?"]
# What a person sees of an element: its corner that is in sight belongs to it, and to nothing that covers it.
SEEN = """(box) => {
  const { left, right, top, bottom } = box.getBoundingClientRect()
  const at = [Math.max(left, 0) + 12, top + 12], root = box.getRootNode()
  return right <= innerWidth && at[1] < innerHeight && box.contains(root.elementFromPoint(...at))
}"""


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_pair_is_in_sight_when_the_page_opens(page: Page, make_desk: MakeDesk, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    desk = make_desk(3, texts=TEXTS, right=TEXTS, guidelines="Think.", question="Do both questions ask the same thing?")
    open_card(page, desk.url)
    for box in [*page.locator(".pair .text").all(), *page.locator(".answers button").all()]:
        assert box.evaluate(SEEN)
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth")


def test_a_text_is_as_tall_as_it_is_and_the_buttons_stay(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(3, texts=TEXTS)
    open_card(page, desk.url)
    heights, places = set(), set()
    for _ in range(3):
        heights |= {box.evaluate("(box) => box.offsetHeight") for box in page.locator(".pair .text").all()}
        places.add(page.locator(".answers").evaluate("(box) => box.getBoundingClientRect().top"))
        page.keyboard.press("2")
    assert len(places) == 1
    assert min(heights) < 70 and 200 < max(heights) < DESKTOP["height"] / 2 + 20


RECORDS = ["Camera MX-510 . Acme . black . 499", "Camera MX-512 . Acme . 399"]
LENGTHS = [[13, 4, 5, 3], [13, 4, 0, 3]]


def test_a_record_is_a_table_whose_rows_show_what_differs(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(1, texts=RECORDS)
    with writing(desk.engine) as session:
        session.get_one(Project, desk.project_id).text_columns = {"left": ["name", "maker", "colour", "price"]}
        items = session.scalars(select(Item).where(Item.project_id == desk.project_id).order_by(Item.id))
        for item, lengths in zip(items, LENGTHS, strict=True):
            item.field_lengths = lengths
    open_card(page, desk.url)
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        rows = page.get_by_role("table").get_by_role("row")
        expect(rows).to_have_count(5)  # with the names of the columns, which only screen readers tell
        expect(rows.nth(1).get_by_role("rowheader")).to_have_text("name")
        expect(rows.nth(3).get_by_role("cell")).to_have_text(["black", "–missing"])
        said = [rows.nth(row).get_by_role("rowheader").get_attribute("data-words") for row in range(1, 5)]
        assert said == ["similar", "same", None, "different"]
        left, right = (cell.bounding_box() for cell in rows.nth(4).get_by_role("cell").all())
        assert left is not None and right is not None and left["x"] + left["width"] <= right["x"] + 1
    assert page.locator(".records mark").all_text_contents() == ["510", "512", "499", "399"]
    assert {mark.get_attribute("class") for mark in page.locator(".records mark").all()} == {"strong"}
    page.keyboard.press("1")
    settle(page, 1)
    assert desk.labels == [AnswerKind.POSITIVE]

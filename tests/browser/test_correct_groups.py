"""Groups are corrected by keys on the page Clean list."""

from collections.abc import Callable

from playwright.sync_api import Page, expect
from sqlalchemy import select

from allpairs.db.domain import Side
from allpairs.db.projects.stable_groups import grouped_items
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, ListRow, ListVersion
from tests.helpers.browser import App, Desk, Picture, drawn
from tests.helpers.factories import make_groups

ROWS = [
    ("Anna Meier", "Hauptstr. 5", "030 1234"),
    ("Anna Meyer", "Hauptstraße 5", "030 1234"),
    ("Arne Beyer", "Am Markt 1", ""),
    ("Cem Kaya", "Ring 7", ""),
    ("Cem Kaya", "Ring 7a", "040 99"),
    ("C. Kaya", "", "040 99"),
]


def add_rows_of(desk: Desk) -> list[int]:
    """Store the rows of the project's list and two groups; return its texts."""
    with writing(desk.engine) as session:
        columns = ["name", "street", "phone"]
        version = ListVersion(project_id=desk.project_id, side=Side.LEFT, file="a.csv", columns=columns, id_column="",
                              compared=columns, format={"suffix": ".csv"})  # fmt: skip
        session.add(version)
        session.flush()
        common = {"project_id": desk.project_id, "side": Side.LEFT, "version_id": version.id}
        session.add_all(
            ListRow(**common, place=place, external_id=f"left-{place}", cells=list(row))
            for place, row in enumerate(ROWS)
        )
        items = list(session.scalars(select(Item.id).where(Item.project_id == desk.project_id).order_by(Item.id)))
    make_groups(desk.engine, desk.project_id, [items[:3], items[3:5]])
    return items


def groups_of(desk: Desk) -> dict[int, int]:
    with reading(desk.engine) as session:
        return dict(zip(*grouped_items(session, desk.project_id), strict=True))


def test_a_group_is_split_and_two_are_merged_by_keys(
    page: Page, app: App, make_desk: Callable[..., Desk], picture: Picture
) -> None:
    desk = make_desk(0, texts=[" . ".join(filter(None, row)) for row in ROWS], name="Customers")
    items = add_rows_of(desk)
    page.goto(f"{app.url}/clean?project=Customers&annotator=eve")
    expect(page.get_by_text("2 groups left")).to_be_visible()
    expect(page.locator("[data-mark=different]").first).to_be_visible()
    drawn(page)
    picture(page, "correct-groups", 1100)
    page.keyboard.press("d")  # the third row
    expect(page.locator("tr[style*=line-through]")).to_have_count(1)
    drawn(page)
    page.keyboard.press("2")
    expect(page.get_by_text("1 group left")).to_be_visible()
    assert groups_of(desk) == {items[0]: 1, items[1]: 1, items[3]: 2, items[4]: 2}
    drawn(page)
    page.keyboard.press("m")
    search = page.get_by_placeholder("Words of a row")
    search.fill("C. Kaya")
    search.press("Enter")
    page.get_by_role("button", name="C. Kaya").click()
    expect(page.get_by_text("looked at all 2 groups")).to_be_visible()
    assert groups_of(desk)[items[5]] == 2
    drawn(page)
    page.keyboard.press("z")
    expect(page.get_by_text("1 group left")).to_be_visible()
    assert items[5] not in groups_of(desk)

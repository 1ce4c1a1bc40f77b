"""What is typed in a browser survives a look at another page, and one click saves it."""

from playwright.sync_api import Page, expect

from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project
from tests.helpers.browser import MakeDesk, Picture, drawn


def test_guidelines_survive_looking_elsewhere_and_save_at_once(
    page: Page, make_desk: MakeDesk, picture: Picture
) -> None:
    desk = make_desk(1, guidelines="Same product.")
    page.goto(desk.url.replace("/label?", "/setting-s?"))  # nearly its address
    field = page.get_by_label("Guidelines", exact=True)
    expect(field).to_have_value("Same product.")
    field.fill("Same product, any edition.")
    page.get_by_role("link", name="History").click()  # while the field is still in focus
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    page.get_by_role("link", name="Settings").click()
    expect(field).to_have_value("Same product, any edition.")
    expect(page.get_by_text("Not saved yet.")).to_be_visible()
    drawn(page)
    field.fill("Same product, any edition or colour.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("All saved.")).to_be_visible()
    with reading(desk.engine) as session:
        settings = session.get_one(Project, desk.project_id).settings
    assert settings["guidelines"] == "Same product, any edition or colour."
    picture(page)

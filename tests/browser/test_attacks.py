"""Texts that try to be scripts, on every page that shows them, under the browser's security rules."""

import re
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import Engine

from allpairs.annotate.features.projects.projects import delete_project
from tests.helpers.browser import App, drawn
from tests.helpers.every_page import ANNOTATORS, HOSTILE_NAME, hostile_table, make_hostile_project

WAIT = 60_000  # milliseconds
# Each page, and what is on it once it shows the project.
PAGES = {
    "Rate": "h2", "Label": "text=Guidelines", "My answers": "text=Answers by", "Review": ".st-key-review_case",
    "Monitor": "[data-testid=stVegaLiteChart] :is(canvas, svg.marks)", "Explore": "[data-testid=stButtonGroup]",
    "Jobs": "[data-testid=stAlert]", "Settings": "textarea", "Overview": ".st-key-next_step", "Projects": "h3",
    "Export": "h1", "Experiments": "h1", "Pipelines": "h1", "History": "h1", "People": "h1", "API": "h1",
}  # fmt: skip
# What only a text of somebody can have made: nothing of ours runs a script, leads to one or draws a formula.
MADE = "img[src='x'], [onerror], [onload], [onmouseover], a[href^='javascript' i], iframe, .katex"


@pytest.fixture
def hostile(app: App, database: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the query of an address that opens a project of such texts."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(app.home))
    project_id = make_hostile_project(database)
    yield f"project={quote(HOSTILE_NAME)}&annotator={quote(ANNOTATORS[0])}"
    delete_project(database, project_id)


def test_no_text_becomes_a_script_and_no_other_site_is_asked(
    context: BrowserContext, app: App, hostile: str, tmp_path: Path
) -> None:
    page, kept_out = context.new_page(), set()
    page.set_default_timeout(WAIT)
    asked: list[str] = []
    page.on("response", lambda response: asked.append(response.url))
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    page.on("console", lambda message: kept_out.add(message.text) if "Content Security" in message.text else None)
    page.goto(f"{app.url}/rate?{hostile}")
    for name, shown in PAGES.items():
        if name != "Rate":
            counted = re.compile(rf"^{name}( \(\d+\))?$")
            page.locator(".st-key-menu").get_by_role("link", name=counted).click()
            drawn(page)
        expect(page.locator(shown).first).to_be_visible(timeout=WAIT)
        if name == "Label":
            expect(page.get_by_role("link", name="pixel")).to_be_visible(timeout=WAIT)
        assert page.locator(MADE).count() == 0, name
        assert page.evaluate("window.pwned") is None, name
    page.goto(f"{app.url}/new_project?{hostile}")
    expect(page.get_by_role("heading", name="New project", exact=True)).to_be_visible()
    drawn(page)
    page.locator("input[type=file]").first.set_input_files(hostile_table(tmp_path))
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    drawn(page)
    assert page.locator(MADE).count() == 0 and page.evaluate("window.pwned") is None
    assert kept_out == set()
    assert [url for url in asked if not url.startswith((app.url, "blob:", "data:"))] == []


def test_a_page_of_another_site_opens_no_socket(app: App) -> None:
    for origin, status in (("http://evil.example", 403), ("http://localhost:9999", 403), (app.url, 101)):
        connection = HTTPConnection("localhost", app.port, timeout=60)
        key = {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Origin": origin} | key
        connection.request("GET", "/_stcore/stream", headers=headers)
        assert connection.getresponse().status == status
        connection.close()  # who was called outside is looked at when the app stops


@pytest.mark.parametrize("address", ["", "label", "monitor"])
def test_a_page_opened_by_its_address_is_shown_at_once(page: Page, app: App, hostile: str, address: str) -> None:
    page.goto(f"{app.url}/healthz")
    page.goto(f"{app.url}/{address}?{hostile}")  # the fixture counts every 404
    page.wait_for_url(f"{app.url}/{address or 'overview'}?*")
    expect(page.locator(PAGES.get(address.capitalize(), ".st-key-next_step")).first).to_be_visible(timeout=WAIT)
    drawn(page)
    assert page.locator("[data-testid=stDialog]").count() == 0
    page.go_back()
    page.wait_for_url(f"{app.url}/healthz")

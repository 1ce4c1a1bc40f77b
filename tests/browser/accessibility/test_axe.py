"""Pages by the rules of WCAG 2.2 AA in light and dark, rings around what has the focus, and progress that is said."""

import time
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from allpairs.annotate.shell.menu import MENU
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Job
from tests.helpers.browser import App, drawn
from tests.helpers.every_page import BUSY, EMPTY, JOB, NAME

TAGS = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}  # the only ones that a scheme can break
PARTS: dict[str, list[tuple[Literal["tab", "radio"], str]]] = {
    "monitor": [("tab", name) for name in ("Curves", "People", "Audit", "Model")],
    "explore": [("radio", name) for name in ("Matches", "Groups", "Mistakes", "Compare")],
}
# The focused element with the ring around it, and the ring's contrast to what is below it; null where none is.
PATIENCE = 30  # seconds that the Tab key is pressed for, at most
RING = Path(__file__).with_name("ring.js").read_text(encoding="utf-8")
# Whether the page has the scheme's background, and no transition to it is under way.
IN_COLOURS = """(scheme) => {
  const app = document.querySelector("[data-testid=stApp]")
  const parts = app && getComputedStyle(app).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)
  const isDark = !app || parts.reduce((sum, part) => sum + part) < 384 === (scheme === "dark")
  const isEndless = (one) => one.effect.getTiming().iterations === Infinity
  return isDark && document.getAnimations().every((one) => one.playState !== "running" || isEndless(one))
}"""
# Keep all that is said.
HEAR = """() => {
  window.heard = []
  const region = document.querySelector("body > .unseen[role=status]")
  new MutationObserver(() => window.heard.push(region.textContent)).observe(region, { childList: true })
}"""


def broken(page: Page, where: str) -> list[str]:
    """Return the page's violations in both schemes, each with the rule and the element."""
    now = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'")
    found = violations(page, f"{where}, {now}", TAGS)
    then: Literal["light", "dark"] = "light" if now == "dark" else "dark"
    page.emulate_media(color_scheme=then)
    page.wait_for_function(IN_COLOURS, arg=then)
    return found + violations(page, f"{where}, {then}", COLOURS)


def violations(page: Page, where: str, rules: Any) -> list[str]:
    if page.get_by_test_id("stApp").count():
        drawn(page)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    known = [] if where.startswith("overview") else ["[data-testid=stSidebar]"]  # it is alike on all pages
    given = [{"exclude": known}, {"resultTypes": ["violations"], "runOnly": rules}]
    result = page.evaluate("([context, options]) => axe.run(context, options)", given)
    return [
        f"{where}: {rule['id']} at {node['target']}: {node['html'][:120]}"
        for rule in result["violations"]
        for node in rule["nodes"]
    ]


def open_page(page: Page, app: App, name: str, project: str = NAME) -> None:
    page.goto(f"{app.url}/{name}{'&' if '?' in name else '?'}project={quote(project)}")
    heading = page.get_by_test_id("stMain").get_by_role("heading")
    expect(page.locator(".card") if name == "label" else heading.first).to_be_visible(timeout=30_000)
    drawn(page)


@pytest.mark.timeout(300)
def test_no_page_breaks_a_rule(site: App, signed_in: Page) -> None:
    page, found = signed_in, []
    open_page(page, site, "overview")
    for name in (entry.file for group in MENU.values() for entry in group):
        page.locator(f".st-key-menu a[href^='/{name}?']").click()
        page.wait_for_url(f"**/{name}?**")
        if name == "label":
            expect(page.locator(".pair")).to_be_visible()
        found += broken(page, name)
        for role, part in PARTS.get(name, ()):
            page.get_by_role(role, name=part).click()
            found += broken(page, f"{name}, {part}")
        if name == "projects":
            page.get_by_role("button", name="More").first.click()
            page.get_by_text("Duplicate").click()
            found += broken(page, "projects, a dialog")
            page.keyboard.press("Escape")
    open_page(page, site, "new_project")
    for step in ("1 Files", "2 Question", "3 Create"):
        page.get_by_role("tab", name=step).click()
        for summary in page.get_by_role("tabpanel").locator("summary:visible").all():
            summary.click()
        found += broken(page, f"new_project, {step}")
    for name, project in (("monitor", BUSY), ("label", EMPTY)):
        open_page(page, site, name, project)
        found += broken(page, f"{name} of {project}")
    page.goto(f"{site.url}/api/v1/docs")
    found += broken(page, "reference of the API")
    assert found == []


def test_the_sign_in_page_breaks_no_rule(page: Page, site: App) -> None:
    page.goto(f"{site.url}/login")
    assert broken(page, "login") == []


def test_pages_break_no_rule_where_nobody_signs_in(page: Page, app: App) -> None:
    for name in ("overview", "people"):
        open_page(page, app, name)
        assert broken(page, name) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_whatever_the_keyboard_reaches_has_a_ring(site: App, signed_in: Page, scheme: str) -> None:
    page, least = signed_in, {"overview": 20, "monitor": 25, "new_project?step=2 Question": 25, "label": 35}
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for name, number in least.items():
        open_page(page, site, name)
        rings: dict[str, dict[str, Any]] = {}
        end = time.monotonic() + PATIENCE  # what is drawn anew may lose the focus, and Tab begins again
        while len(rings) < number and time.monotonic() < end:
            page.keyboard.press("Tab")
            if (ring := page.evaluate(RING)) is not None:
                rings[ring["said"]] = ring
        assert len(rings) >= number, name
        assert [ring for ring in rings.values() if ring["width"] < 2 or ring["contrast"] < 3] == [], name


def change(engine: Engine, **columns: object) -> None:
    with writing(engine) as session:
        job = session.get_one(Job, JOB)
        for name, value in columns.items():
            setattr(job, name, value)


def test_progress_names_its_stages_but_not_its_figures(site: App, signed_in: Page, engine: Engine) -> None:
    page = signed_in
    open_page(page, site, "monitor", BUSY)
    bar = page.get_by_test_id("stMain").get_by_role("progressbar")
    expect(bar).to_have_accessible_name("Train and prepare the next batch: training, 40%, about 2 min left")
    page.evaluate(HEAR)
    change(engine, fraction=0.6)
    expect(bar).to_have_attribute("aria-valuenow", "60")
    change(engine, stage="encode")
    expect(bar).to_have_accessible_name("Train and prepare the next batch: encoding texts, 60%, about 2 min left")
    change(engine, state="done", stage="")
    expect(page.get_by_text("Last job done")).to_be_visible()
    page.wait_for_function("() => window.heard.length >= 2")  # text would be evaluated at every look: forbidden here
    running, done = page.evaluate("window.heard")
    assert running.endswith("next batch: encoding texts, 60%, about 2 min left")
    assert done.endswith(": done")

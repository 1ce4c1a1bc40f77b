"""Annotators' pages in other languages: nothing is left in English, nothing is cut off, and they can be mirrored."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from allpairs.annotate.frame.language.catalog import COOKIE
from allpairs.db.domain import AnswerKind
from allpairs.db.projects.studies import Unit, add_study
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Study
from tests.helpers.browser import DESKTOP, PHONE, App, Desk, MakeDesk, drawn, open_card

NAME, QUESTION, GUIDELINES = "Fragebogen", "Gleichbedeutend?", "Sinngemäß."
TEXTS = ["Rotwein aus Georgien", "Weißwein aus Georgien", "Apfelsaft"]
OF_PEOPLE = (*TEXTS, QUESTION, GUIDELINES, NAME, "English", "Deutsch", "Français", "Allpairs")
UNITS = re.compile(r"\d\s*(s|min|h|px)\b|\bUTC\b|\bme\b")

# What is in sight, and neither an icon (a word in a font of its own), a key, nor Streamlit's link for screen readers.
IN_SIGHT = """
  const skipped = "kbd, [data-change], script, style, template, svg, .unseen, [data-testid=stSkipToContent]"
  const isIn = (element) => {
    const { display, fontFamily } = getComputedStyle(element)
    if (element.matches("[data-testid=stSidebar][data-collapsed=true]")) return false
    const seen = { visibilityProperty: true, opacityProperty: true }
    const isSeen = display === "contents" || element.checkVisibility(seen)
    return isSeen && !element.matches(skipped) && !fontFamily.includes("Material Symbols")
  }
"""
# The texts in sight, in the order of the page and of the card in it.
SEEN = f"""() => {{ {IN_SIGHT}
  const said = []
  const walk = (root) => {{
    for (const node of root.childNodes) {{
      if (node instanceof Text) said.push(node.data)
      else if (node instanceof Element && isIn(node)) {{
        const around = getComputedStyle(node).display === "inline" ? "" : "\\n"
        said.push(around)
        walk(node.shadowRoot ?? node)
        said.push(around)
      }}
    }}
  }}
  walk(document.body)
  return said.join("")
}}"""
# What is wider than its box: boxes in sight that hold a text of their own, and the page itself.
CUT = f"""() => {{ {IN_SIGHT}
  const cut = []
  const walk = (root) => {{
    for (const element of root.children) {{
      if (!isIn(element)) continue
      const hasText = [...element.childNodes].some((node) => node instanceof Text && node.data.trim())
      const holds = hasText || getComputedStyle(element).textOverflow === "ellipsis"
      const isCut = element.clientWidth && element.scrollWidth > element.clientWidth + 1
      if (holds && isCut) cut.push(element.textContent.trim())
      walk(element.shadowRoot ?? element)
    }}
  }}
  walk(document.body)
  const main = document.querySelector("[data-testid=stMain]") ?? document.documentElement
  if (main.scrollWidth > main.clientWidth) cut.push("the page")
  return cut
}}"""


@pytest.fixture
def desk(make_desk: MakeDesk) -> Iterator[Desk]:
    desk = make_desk(2, texts=TEXTS, name=NAME, question=QUESTION, guidelines=GUIDELINES)
    with writing(desk.engine) as session:
        study = Study(project_id=desk.project_id, run_id="run", models=["a"], per_model=1, seed=0)
        add_study(session, study, [Unit(TEXTS[0], QUESTION, ["a"])])
    return desk


def read_in(context: BrowserContext, app: App, code: str) -> None:
    """Make the pages of this browser appear in the language."""
    context.add_cookies([{"name": COOKIE, "value": code, "url": app.url}])


def untranslated(page: Page) -> list[str]:
    """Return the lines in sight of which a word is outside of the brackets of a translation."""
    text = page.evaluate(SEEN)
    for own in OF_PEOPLE:
        text = text.replace(own, "")
    while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "", text)) != text:
        text = shorter
    return [line.strip() for line in UNITS.sub("", text).splitlines() if re.search(r"[^\W\d_]", line)]


def check(page: Page, where: str) -> None:
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        if where != "login":
            folded = "true" if size == PHONE else "false"
            expect(page.locator("[data-testid=stSidebar]")).to_have_attribute("data-collapsed", folded)
            drawn(page)
        assert untranslated(page) == [], (where, size)
        assert page.evaluate(CUT) == [], (where, size)
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]


def test_nothing_is_left_in_english_or_cut_off(page: Page, context: BrowserContext, app: App, desk: Desk) -> None:
    read_in(context, app, "en-XA")
    page.goto(f"{app.url}/login")
    check(page, "login")
    open_card(page, desk.url)
    page.keyboard.press("1")
    expect(page.locator(".last")).to_contain_text("⟦")
    check(page, "label")
    named = page.locator(".card [aria-label]").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert len(named) > 20 and [name for name in named if "⟦" not in name] == []  # what screen readers say
    page.keyboard.press("?")
    expect(page.locator("dialog.help")).to_be_visible()
    check(page, "keys")
    page.keyboard.press("Escape")
    for name in ("answers", "rate", "overview"):
        page.goto(f"{app.url}/{name}?{desk.url.partition('?')[2]}")
        expect(page.locator("[data-testid=stMain]")).to_contain_text("⟦")
        check(page, name)


def left(box: Locator) -> float:
    found = box.bounding_box()
    assert found is not None
    return found["x"]


def test_pages_are_mirrored_for_those_who_read_from_the_right(
    page: Page, context: BrowserContext, app: App, desk: Desk
) -> None:
    read_in(context, app, "ar-XB")
    page.goto(f"{app.url}/login")
    assert page.locator("h1").evaluate("(title) => getComputedStyle(title).direction") == "rtl"
    open_card(page, desk.url)
    expect(page.locator("html")).to_have_attribute("lang", "ar-XB")
    assert left(page.get_by_role("button", name="Yes", exact=False).first) > left(page.locator("[data-act=skip]").first)
    first, second = page.locator("[data-side=left]"), page.locator("[data-side=right]")
    assert left(first) > left(second)
    assert left(page.locator(".counts")) > left(page.locator(".saved"))
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        drawn(page)
        assert page.evaluate(CUT) == []
    assert left(page.locator("[data-testid=stSidebarContent]")) >= PHONE["width"]  # folded away, not over the page
    page.get_by_role("button", name="Expand sidebar").click()
    expect(page.locator("[data-testid=stSidebar]")).to_be_in_viewport()
    assert left(page.locator("[data-testid=stSidebar]")) > 0


def test_a_language_is_chosen_by_a_link_and_stays(page: Page, app: App, desk: Desk) -> None:
    open_card(page, desk.url)
    expect(page.get_by_role("button", name="Yes").first).to_be_visible()
    page.get_by_role("link", name="Deutsch").click()
    expect(page.locator(".pair")).to_be_visible(timeout=30_000)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert page.url.startswith(desk.url)
    expect(page.locator("[data-act=positive]")).to_have_text(re.compile("^Ja"))
    page.keyboard.press("1")
    expect(page.locator(".saved")).to_have_text("Alles gespeichert")
    assert desk.labels.count(AnswerKind.POSITIVE) == 1
    page.goto(f"{app.url}/login")
    expect(page.get_by_role("heading")).to_have_text("Anmelden")

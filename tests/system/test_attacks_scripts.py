"""Texts that try to be scripts, markup or Markdown reach no element that would interpret them."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.message import Message
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.frame.access import logins, people
from allpairs.annotate.kit.ui import state
from allpairs.db.domain import Role
from allpairs.db.schema.tables import now
from tests.helpers.every_page import ANNOTATORS, GUIDELINES, HOSTILE_NAME, make_hostile_project
from tests.helpers.machine import ROOT
from tests.helpers.people import PASSWORD

PAGES = sorted(path.stem for path in (ROOT / "annotate" / "pages").glob("*.py"))
# What is chosen within a page, by its key: only what is open is drawn.
CHOICES = {
    "monitor": ("tab", ("Summary", "Curves", "People", "Audit", "Model")),
    "explore": ("explore_view", ("Search", "Matches", "Groups", "Mistakes")),
}
# Fields that the browser shows as they are, or does not show: everything else may be read as Markdown or HTML.
PLAIN = {
    "text.body", "text_input.default", "text_area.default", "code.code_text", "selectbox.options",
    "bidi_component.json", "selectbox.raw_value", "page_link.query_string", "vega_lite_chart.spec",
    "vega_lite_chart.alt",
}  # fmt: skip
TAGS = re.compile(r"</?(?:div|mark)(?: [a-z]+='[^'<>]*')*>")  # that the app itself writes where it writes HTML
LINKS = re.compile(r'</?(?:nav|span|a)(?: (?!on)[a-z-]+="[^"<>]*")*>')  # of languages
ACTIVE = re.compile(r"[<$`]|\]\(|:\w")


@pytest.fixture
def page(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Return the app at a project of such texts, opened by an administrator with such a name."""
    project_id = make_hostile_project(engine)
    people.add_account(engine, ANNOTATORS[0], PASSWORD, now(), administrator=True)
    people.add_account(engine, ANNOTATORS[1], PASSWORD, now())
    people.set_role_of(engine, people.id_of(engine, ANNOTATORS[1]), project_id, Role.ANNOTATOR, now())
    token = logins.log_in(engine, ANNOTATORS[0], PASSWORD, "1.1.1.1", now())
    monkeypatch.setattr(state, "login_token", lambda: token)
    page = AppTest.from_file(str(ROOT / "annotate" / "shell" / "app.py"), default_timeout=30)
    page.query_params["project"] = HOSTILE_NAME
    return page.run()


def test_texts_of_people_are_shown_as_they_are(page: AppTest) -> None:
    seen: set[str] = set()
    for name in PAGES:
        page.switch_page(f"../pages/{name}.py").run()
        seen |= read(page)
    for name, (key, views) in CHOICES.items():
        page.switch_page(f"../pages/{name}.py")
        for view in views:
            page.session_state[key] = view
            seen |= read(page.run())
    assert seen >= {"markdown", "caption", "text", "selectbox", "error", "bidi_component", "header", "vega_lite_chart"}


def read(page: AppTest) -> set[str]:
    """Return the kinds of elements that show such a text, none of which would run or render it."""
    assert not page.exception, page.exception
    found = set()
    for kind, path, text in _shown(page):
        if "pwned" not in text or path.endswith(".id"):
            continue
        found.add(kind)
        if kind == "html":
            assert "<" not in LINKS.sub("", TAGS.sub("", text)), text
            continue
        assert f"{kind}{path}" in PLAIN or text == GUIDELINES or not ACTIVE.search(_without_escaped(text)), (path, text)
    return found


def _without_escaped(text: str) -> str:
    return re.sub(r"\\.", "", text)


def _shown(page: AppTest) -> Iterator[tuple[str, str, str]]:
    """Yield (kind of element, path of a field, its text) of everything on the page."""
    for root in (page.main, page.sidebar):
        for element in _elements(root):
            if (proto := getattr(element, "proto", None)) is not None:
                yield from ((element.type, *one) for one in _texts(proto))


def _elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from _elements(child)


def _texts(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    assert not (message.DESCRIPTOR.name == "Markdown" and message.allow_html), message  # type: ignore[attr-defined]
    for field, value in message.ListFields():
        for one in value if field.is_repeated else [value]:
            if isinstance(one, Message):
                yield from _texts(one, f"{path}.{field.name}")
            elif isinstance(one, str):
                yield f"{path}.{field.name}", one

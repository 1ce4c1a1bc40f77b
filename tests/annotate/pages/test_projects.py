"""The page “Projects”, without a browser."""

from pathlib import Path

from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.features.texts.change_texts import Act, TextFile
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page, said

APP = ROOT / "annotate" / "shell" / "app.py"


def projects_page(engine: Engine) -> AppTest:
    page = open_page(APP)
    page.switch_page("../pages/projects.py").run()
    assert not page.exception
    return page


def test_without_a_project_the_page_leads_to_a_new_one(engine: Engine) -> None:
    page = projects_page(engine)
    assert "no project yet" in said(page)
    page.button(key="new_project").click().run()
    assert not page.exception
    assert page.title[0].value == "New project"


def test_a_card_counts_the_texts_that_are_there_now(engine: Engine, tmp_path: Path) -> None:
    make_project(engine, ["a", "b"], name="Products")
    assert "list of 2 texts" in said(projects_page(engine))
    (tmp_path / "more.csv").write_text("id,text\nx,c\n")
    change_texts.apply(engine, "Products", TextFile(tmp_path / "more.csv", Act.ADD))
    assert "list of 3 texts" in said(projects_page(engine))


def test_each_project_has_a_card_with_its_counts_and_links(engine: Engine) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(6)], name="Help *desk*")
    make_round(engine, project_id, 3)
    make_project(engine, ["a", "b"], ["c", "d", "e"], name="Products")
    page = projects_page(engine)
    text = said(page)
    assert "Help \\*desk\\*" in [head.value for head in page.subheader]  # no Markdown of its own
    assert "list of 6 texts" in text
    assert "two lists, 2 × 3 texts" in text
    assert "Batch 1: 0 of 3 answered" in text
    assert "not ready yet" in text
    links = [(link.proto.page, link.proto.query_string) for link in page.get("page_link")]
    assert ("label", "project=Products") in links
    assert ("monitor", "project=Help+%2Adesk%2A") in links

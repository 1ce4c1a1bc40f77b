"""The page “New project”, without a browser."""

from pathlib import Path

import openpyxl
import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.new_project.templates import TEMPLATES
from allpairs.annotate.features.projects.projects import project_by_name, project_summary
from allpairs.db.domain import PAPER_SETTINGS, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.lists import current_list, rows_of_list
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Identifier, Job, Project
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page, said
from tests.helpers.projects.lists import write_questions

APP, NEW = ROOT / "annotate" / "shell" / "app.py", ROOT / "annotate" / "pages" / "new_project.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_questions(tmp_path)


def fill(page: AppTest, **values: object) -> None:
    for key, value in values.items():
        widget = next(w for kind in (page.text_input, page.text_area, page.radio) for w in kind if w.key == key)
        widget.set_value(value)  # type: ignore[arg-type]
    page.run()
    assert not page.exception


def upload(page: AppTest, which: str, path: Path) -> None:
    page.file_uploader(key=f"{which}_upload").upload(path.name, path.read_bytes(), "text/csv")
    page.run()
    assert not page.exception


def disabled(page: AppTest) -> bool:
    return page.button(key="create").disabled


def test_a_project_is_made_from_a_path_on_the_server(engine: Engine, folder: Path) -> None:
    page = open_page(APP)
    page.switch_page("../pages/new_project.py").run()
    assert disabled(page)
    fill(page, new_name="Help desk", left_path=str(folder / "q.csv"), gold_path=str(folder / "gold.csv"))
    assert "3 positive (1 of them implied by others), 1 negative" in said(page)
    assert "2 rows share" in said(page)
    assert list(page.dataframe[0].value["text"][:2]) == ["How do I do *0*?", "How do I do *1*?"]
    assert not disabled(page)
    page.button(key="new_settings_paper").click().run()
    page.button(key="create").click().run()
    assert not page.exception
    summary = project_summary(engine, "Help desk")
    assert (summary.contents.gold_positives, summary.contents.gold_negatives) == (3, 1)
    assert summary.project.settings.first == PAPER_SETTINGS["first"]
    with reading(engine) as session:
        assert [job.project_id for job in session.scalars(select(Job))] == [summary.project.id]
    assert page.query_params["project"] == "Help desk"
    assert not [button for button in page.button if button.key == "create"]  # this is the label page
    assert "first batch: waiting" in said(page)


def test_the_separator_is_shown_and_can_be_changed(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(b"id;title, short\n1;caf\xe9, old\n2;bar, new\n")
    page = open_page(NEW)
    fill(page, left_path=str(path))
    separator = page.selectbox(key=f"separator_{path}")
    assert separator.value == ";" and list(page.dataframe[0].value.columns) == ["id", "title, short"]
    assert "Windows-1252" in said(page) and "letters right? café" in said(page) and not disabled(page)
    page.selectbox(key=f"encoding_{path}").select("cp1251").run()
    assert page.dataframe[0].value["title, short"].iloc[0] == "cafй, old" and "letters right" not in said(page)
    page.selectbox(key=f"separator_{path}").select("|").run()
    assert list(page.dataframe[0].value.columns) == ["id;title, short"] and "one column" in said(page)
    page.selectbox(key=f"separator_{path}").select(",").run()
    assert list(page.dataframe[0].value.columns) == ["id;title", "short"]
    path.write_text("id,text\n1,привет\n2,пока\n", encoding="cp1251")
    page = open_page(NEW)
    fill(page, left_path=str(path))
    assert "0xEF" in said(page) and disabled(page)
    page.selectbox(key=f"encoding_{path}").select("cp1251").run()
    assert list(page.dataframe[0].value["text"]) == ["привет", "пока"] and not disabled(page)


def ticks(page: AppTest) -> dict[str, bool]:
    """Return whether each column is ticked."""
    boxes = [box for box in page.checkbox if "compare_" in (box.key or "")]
    return {box.label.replace("\\", ""): box.value for box in boxes}


def tick(page: AppTest, name: str, value: bool) -> None:
    next(box for box in page.checkbox if box.label == name and "compare_" in (box.key or "")).set_value(value).run()


def test_a_sheet_of_a_workbook_becomes_a_list(engine: Engine, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    notes = book.create_sheet("Notes")
    for row in (
        ["No", "Name", "City", "E-mail", "Remark"],
        [1, "Ann", "Rome", "a@x.de", None],
        [2, "Bob", "Bonn", "b@x.de", None],
    ):
        notes.append(row)
    people = book.create_sheet("People")
    for row in (["id", "name"], [1, "Cy"], [2, "Di"], [3, "Ed"]):
        people.append(row)
    book.save(tmp_path / "customers.xlsx")
    page = open_page(NEW)
    upload(page, "left", tmp_path / "customers.xlsx")
    assert ticks(page) == {"Name": True, "City": True, "E-mail": True, "Remark": False}
    assert "Not compared, but kept: Remark." in said(page) and "2 texts" in said(page)
    next(box for box in page.selectbox if box.label == "Sheet").select("People").run()
    assert ticks(page) == {"name": True} and "3 texts" in said(page)
    page.button(key="create").click().run()
    with reading(engine) as session:
        project_id = session.scalars(select(Project.id)).one()
        version = current_list(session, project_id, Side.LEFT)
        assert version is not None
        assert (version.file, version.columns, version.id_column, version.compared, version.format["sheet"]) == (
            "customers.xlsx",
            ["id", "name"],
            "id",
            ["name"],
            "People",
        )
        assert [row.cells for row in rows_of_list(session, project_id, Side.LEFT)] == [
            ["1", "Cy"],
            ["2", "Di"],
            ["3", "Ed"],
        ]


def test_a_chosen_file_is_enough(engine: Engine, folder: Path) -> None:
    page = open_page(NEW)
    fill(page, left_path=str(folder / "q.csv"))
    page.button(key="create").click().run()
    settings = project_by_name(engine, "Q").settings
    duplicates = TEMPLATES["duplicates"]
    assert (settings.question, settings.guidelines) == (duplicates.question, duplicates.guidelines)
    assert not settings.keep_groups


def test_the_rows_are_numbered_where_there_are_no_ids(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_text("subject,body\n" + "".join(f"Printer,Error {i}\n" for i in range(4)))
    page = open_page(NEW)
    fill(page, left_path=str(tmp_path / "tickets.csv"))
    page.button(key="create").click().run()
    with reading(engine) as session:
        assert session.scalars(select(Identifier.external_id).order_by(Identifier.external_id)).all() == [
            "2",
            "3",
            "4",
            "5",
        ]


def test_what_columns_hold_is_guessed_and_can_be_corrected(engine: Engine, tmp_path: Path) -> None:
    rows = "".join(f"{i},A pen of kind {i},{i},{i}.99\n" for i in range(1, 5))
    (tmp_path / "pens.csv").write_text(f"id,title,size,price\n{rows}")
    page = open_page(NEW)
    fill(page, left_path=str(tmp_path / "pens.csv"))
    assert ticks(page) == {"title": True, "size": True, "price": True}
    tick(page, "price", False)
    assert "Not compared, but kept: price." in said(page)
    tick(page, "price", True)
    kinds = {box.label.split()[1]: box for box in page.selectbox if box.key and box.key.startswith("kind_")}
    assert {name: box.value for name, box in kinds.items()} == {"title": "text", "size": "number", "price": "price"}
    kinds["size"].set_value("code").run()
    page.button(key="create").click().run()
    with reading(engine) as session:
        stored = session.scalars(select(Project.text_columns)).one()
    assert stored == {"left": ["title", "size", "price"], "left_kinds": ["text", "code", "price"]}
    assert project_by_name(engine, "Pens").settings.keep_groups


def test_the_template_follows_the_files_until_a_person_chooses(engine: Engine, folder: Path) -> None:
    (folder / "products.csv").write_text("id,title,maker\n1,A pen,Pens Ltd\n2,A red pen,Pencils\n")
    page = open_page(NEW)
    fill(page, left_path=str(folder / "products.csv"))
    assert page.text_input(key="new_settings_question").value == TEMPLATES["records"].question
    fill(page, left_path=str(folder / "q.csv"))
    assert page.text_input(key="new_settings_question").value == TEMPLATES["duplicates"].question
    fill(page, new_task=TEMPLATES["answers"].title)
    fill(page, left_path=str(folder / "products.csv"))
    assert page.text_input(key="new_settings_question").value == TEMPLATES["answers"].question


def test_what_a_person_typed_is_never_replaced(engine: Engine, folder: Path) -> None:
    page = open_page(NEW)
    fill(page, left_path=str(folder / "q.csv"))
    fill(page, new_name="Mine", new_settings_guidelines="My rules")
    fill(page, new_task=TEMPLATES["answers"].title, left_path=str(folder / "gold.csv"))
    assert page.text_input(key="new_name").value == "Mine"
    assert page.text_area(key="new_settings_guidelines").value == "My rules"
    assert page.text_input(key="new_settings_question").value == TEMPLATES["answers"].question
    page.button(key="use_template").click().run()  # unless they ask for it
    assert page.text_area(key="new_settings_guidelines").value == TEMPLATES["answers"].guidelines


def test_the_name_is_guessed_from_the_files(engine: Engine, folder: Path) -> None:
    make_project(engine, ["a", "b"], name="Q")
    page = open_page(NEW)
    fill(page, left_path=str(folder / "q.csv"))
    assert page.text_input(key="new_name").value == "Q (2)"
    fill(page, new_kind=page.radio(key="new_kind").options[1])
    fill(page, right_path=str(folder / "right.csv.gz"))
    assert page.text_input(key="new_name").value == "Q and right"


def test_steps_go_forth_and_back_without_losing_anything(engine: Engine, folder: Path) -> None:
    page = open_page(NEW)
    assert (page.session_state["step"], page.button(key="step_Back").disabled) == ("1 Files", True)
    fill(page, left_path=str(folder / "q.csv"), new_settings_question="Same?")
    for step in ("2 Question", "3 Create"):
        page.button(key="step_Next").click().run()
        assert page.session_state["step"] == step
    assert page.button(key="step_Next").disabled
    page.number_input(key="new_settings_first").set_value(64).run()
    assert "First batch 64" in said(page)
    page.button(key="step_Back").click().run()
    assert (page.session_state["step"], page.number_input(key="new_settings_first").value) == ("2 Question", 64)
    assert page.text_input(key="new_settings_question").value == "Same?"
    assert not disabled(page)


def test_a_reload_keeps_what_was_typed(engine: Engine, folder: Path) -> None:
    typed = {"new_name": "Mine", "new_settings_question": "Same?", "new_settings_guidelines": "My rules"}
    page = open_page(NEW, **typed, step="2 Question")
    fill(page, left_path=str(folder / "q.csv"))
    shown = {widget.key: widget.value for widget in (*page.text_input, *page.text_area)}
    assert typed.items() <= shown.items()
    assert page.session_state["step"] == "2 Question"


def test_uploaded_files_of_two_lists_have_columns_of_their_own(engine: Engine, folder: Path) -> None:
    page = open_page(NEW)
    fill(page, new_name="Products", new_kind=page.radio(key="new_kind").options[1])
    upload(page, "left", folder / "q.csv")
    assert "Right list: choose a file" in said(page)
    upload(page, "right", folder / "right.csv.gz")
    assert [box.value for box in page.selectbox if box.label == "Id column"] == ["id", "key"]
    assert ticks(page) == {"text": True, "body": True}
    assert "8 × 1 texts; no known pairs" in said(page)
    assert not disabled(page)


def test_problems_are_listed_and_nothing_can_be_stored(engine: Engine, folder: Path) -> None:
    page = open_page(NEW)
    fill(page, new_name="X", left_path=str(folder / "q.csv"), gold_path=str(folder / "bad.csv"))
    assert "row 2, column 'id2': the id 'q99'" in said(page)
    assert disabled(page)
    fill(page, gold_path=str(folder / "absent.csv"))  # not silently left out
    assert "no such file" in said(page)
    assert disabled(page)
    fill(page, gold_path="")
    assert not disabled(page)
    tick(page, "text", False)
    assert "one column" in said(page)
    assert disabled(page)


def test_names_and_settings_are_checked_before_storing(engine: Engine, folder: Path) -> None:
    make_project(engine, ["a", "b"], name="Taken")
    page = open_page(NEW)
    fill(page, new_name="Taken", left_path=str(folder / "q.csv"))
    assert "'Taken' exists already" in said(page)
    assert disabled(page)
    fill(page, new_name="Free")
    assert not disabled(page)
    page.number_input(key="new_settings_first").set_value(1).run()
    assert disabled(page)
    line = "First batch: should be greater than or equal to 2, not 1."
    assert [error.value.replace("\\", "").replace("\u2060", "") for error in page.error] == [line]  # at the field
    assert line in said(page).replace("\u2060", "")
    page.number_input(key="new_settings_first").set_value(2).run()
    page.number_input(key="new_settings_evaluation_share").set_value(0.99).run()
    page.button(key="create").click().run()
    assert "too few for a pair" in said(page)  # one item would be left for training
    with pytest.raises(InputError):
        project_by_name(engine, "Free")


def test_a_corrected_file_is_checked_again(engine: Engine, folder: Path) -> None:
    page = open_page(NEW)
    fill(page, left_path=str(folder / "q.csv"), gold_path=str(folder / "bad.csv"))
    assert "q99" in said(page)
    (folder / "bad.csv").write_text("id1,id2\nq0,q3\n")
    page.run()
    assert "known pairs: 1 positive" in said(page)

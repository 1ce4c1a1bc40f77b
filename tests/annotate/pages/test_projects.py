"""The pages “Projects” and “New project”, without a browser."""

import gzip
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.projects import import_files
from allpairs.annotate.projects.import_files import Findings, Source, check, guess_columns, guess_gold_columns, load
from allpairs.annotate.projects.projects import project_by_name, project_summary
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import PAPER_SETTINGS
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job
from tests.helpers.factories import make_project, make_round
from tests.helpers.paths import ROOT

APP, NEW = ROOT / "annotate" / "shell" / "app.py", ROOT / "annotate" / "pages" / "new_project.py"
QUESTIONS = "id,text\n" + "".join(f"q{i},How do I do *{i}*?\n" for i in range(8)) + "q8,How do I do *1*?\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with questions and known pairs."""
    (tmp_path / "q.csv").write_text(QUESTIONS)
    (tmp_path / "gold.csv").write_text("id1,id2,label\nq0,q1,1\nq1,q2,1\nq3,q4,0\n")
    (tmp_path / "bad.csv").write_text("id1,id2\nq0,q99\n")
    (tmp_path / "right.csv.gz").write_bytes(gzip.compress(b"key,body\nr0,answer\n"))
    return tmp_path


def open_page(script: Path) -> AppTest:
    page = AppTest.from_file(str(script), default_timeout=20).run()
    assert not page.exception
    return page


def fill(page: AppTest, **values: object) -> None:
    for key, value in values.items():
        widget = next(w for kind in (page.text_input, page.radio) for w in kind if w.key == key)
        widget.set_value(value)  # type: ignore[arg-type]
    page.run()
    assert not page.exception


def upload(page: AppTest, which: str, path: Path) -> None:
    page.file_uploader(key=f"{which}_upload").upload(path.name, path.read_bytes(), "text/csv")
    page.run()
    assert not page.exception


def said(page: AppTest) -> str:
    kinds = (page.title, page.subheader, page.markdown, page.caption, page.error, page.success, page.warning, page.info)
    bars = [bar.proto.text for bar in page.get("progress")]
    return "\n".join([*(element.value for kind in kinds for element in kind), *bars])


def disabled(page: AppTest) -> bool:
    return page.button(key="create").disabled


def projects_page(engine: Engine) -> AppTest:
    page = open_page(APP)
    page.switch_page("../pages/projects.py").run()
    assert not page.exception
    return page


def test_without_a_project_the_page_leads_to_a_new_one(engine: Engine) -> None:
    page = projects_page(engine)
    assert "There is no project yet" in said(page)
    page.button(key="new_project").click().run()
    assert not page.exception
    assert page.title[0].value == "New project"


def test_each_project_has_a_card_with_its_counts_and_links(engine: Engine) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(6)], name="Help *desk*")
    make_round(engine, project_id, 3)
    make_project(engine, ["a", "b"], ["c", "d", "e"], name="Products")
    page = projects_page(engine)
    text = said(page)
    assert "Help \\*desk\\*" in text
    assert "one list of 6 texts" in text
    assert "two lists, 2 × 3 texts" in text
    assert "Batch 1 · 0 of 3 answered" in text
    assert "The first batch is not ready yet." in text
    links = [(link.proto.page, link.proto.query_string) for link in page.get("page_link")]
    assert ("label", "project=Products") in links
    assert ("monitor", "project=Help+%2Adesk%2A") in links


def test_a_project_is_made_from_a_path_on_the_server(engine: Engine, folder: Path) -> None:
    page = open_page(APP)
    page.switch_page("../pages/new_project.py").run()
    assert disabled(page)
    fill(page, new_name="Help desk", left_path=str(folder / "q.csv"), gold_path=str(folder / "gold.csv"))
    assert "8 texts; known pairs: 3 positive (1 of them implied by others), 1 negative" in said(page)
    assert "2 rows share their text with another row" in said(page)
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


def test_uploaded_files_of_two_lists_have_columns_of_their_own(engine: Engine, folder: Path) -> None:
    page = open_page(NEW)
    fill(page, new_name="Products", new_kind=page.radio(key="new_kind").options[1])
    upload(page, "left", folder / "q.csv")
    assert "Choose a readable file for each list" in said(page)
    upload(page, "right", folder / "right.csv.gz")
    assert [box.value for box in page.selectbox if box.label == "Id column"] == ["id", "key"]
    assert [box.value for box in page.multiselect] == [["text"], ["body"]]
    assert "8 × 1 texts; no known pairs" in said(page)
    assert not disabled(page)


def test_problems_are_listed_and_nothing_can_be_stored(engine: Engine, folder: Path) -> None:
    page = open_page(NEW)
    fill(page, new_name="X", left_path=str(folder / "q.csv"), gold_path=str(folder / "bad.csv"))
    assert "row 2, column 'id2': the id 'q99'" in said(page).replace("\\", "")
    assert disabled(page)
    fill(page, gold_path=str(folder / "absent.csv"))  # not silently left out
    assert "no such file" in said(page)
    assert disabled(page)
    fill(page, gold_path="")
    assert not disabled(page)
    page.multiselect[0].set_value([]).run()
    assert "Choose at least one text column." in said(page)
    assert disabled(page)


def test_names_and_settings_are_checked_before_anything_is_stored(engine: Engine, folder: Path) -> None:
    make_project(engine, ["a", "b"], name="Taken")
    page = open_page(NEW)
    fill(page, new_name="Taken", left_path=str(folder / "q.csv"))
    assert "A project named 'Taken' exists already" in said(page).replace("\\", "")
    assert disabled(page)
    fill(page, new_name="Free")
    assert not disabled(page)
    page.number_input(key="new_settings_first").set_value(1).run()
    assert disabled(page)
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


def test_both_lists_report_their_problem(folder: Path) -> None:
    source = Source(folder / "absent.csv", Columns(), folder / "bad.csv", Columns())
    found = check(source)
    assert [line.split(":")[0].rpartition("/")[2] for line in found.problems] == [
        "absent.csv",
        "bad.csv, row 1, column 'id'",
    ]
    with pytest.raises(InputError, match=r"absent\.csv.*; bad\.csv"):
        load(source)


def test_findings_count_what_will_be_stored(folder: Path) -> None:
    right = Columns("key", ("body",))
    assert check(Source(folder / "q.csv", Columns(), folder / "right.csv.gz", right)).right == 1
    found = check(Source(folder / "q.csv", Columns(), gold=folder / "gold.csv"))
    assert found == Findings((), found.notes, 8, 0, 3, 1, 1)


@pytest.mark.parametrize(
    ("names", "columns", "gold"),
    [
        (["id", "text"], Columns("id", ("text",)), ("id", "text", "")),
        (["Question", "ID"], Columns("ID", ("Question",)), ("Question", "ID", "")),
        (["a", "b", "label"], Columns("a", ("b",)), ("a", "b", "label")),
        (["qid1", "qid2", "is_duplicate"], Columns("qid1", ("qid2",)), ("qid1", "qid2", "is_duplicate")),
        (["only"], Columns("only", ("only",)), ("only", "only", "")),
    ],
)
def test_columns_are_guessed(names: list[str], columns: Columns, gold: tuple[str, str, str]) -> None:
    assert guess_columns(names) == columns
    assert guess_gold_columns(names) == gold


def test_an_upload_cannot_leave_its_folder(tmp_path: Path, folder: Path) -> None:
    with (folder / "q.csv").open("rb") as stream:
        kept = import_files.keep_upload(stream, "../../q.csv", tmp_path / "uploads" / "left")
    assert kept == tmp_path / "uploads" / "left" / "q.csv"
    assert kept.read_text() == QUESTIONS

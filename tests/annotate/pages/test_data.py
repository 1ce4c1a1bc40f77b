"""The page “Export”, without a browser."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.download.routes import routes
from allpairs.annotate.features.projects.projects import list_projects
from allpairs.annotate.features.texts.change_texts import list_changes
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import Clustering, Representative, Side
from allpairs.db.errors import InputError
from allpairs.db.results.matches import write_summary, writing_matches
from allpairs.db.results.pipelines import pipeline_folder, results_folder
from allpairs.db.schema.engine import artifacts, writing
from allpairs.db.schema.tables import Project
from allpairs.learner.light.groups.grouping import Grouping
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import add_job, add_worker, make_measured_project
from tests.helpers.machine import ROOT
from tests.helpers.projects.labels import N, P, answer, stored
from tests.helpers.projects.results import make_matches

SHELL = ROOT / "annotate" / "shell" / "app.py"


def open_page() -> AppTest:
    page = AppTest.from_file(str(SHELL), default_timeout=30).run()
    page.switch_page("../pages/data.py").run()
    assert not page.exception
    return page


def links(page: AppTest) -> dict[str, str]:
    return {link.proto.label: link.proto.url for link in page.get("link_button")}


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project of six texts with two labelled pairs."""
    project_id = make_project(engine, [f"text {i}" for i in range(6)])
    make_round(engine, project_id, 2)
    answer(engine, project_id, (0, P), (1, N), who="ann")
    return project_id


@pytest.fixture
def get(engine: Engine) -> TestClient:
    return TestClient(Starlette(routes=routes()))


def test_every_form_has_an_explanation_and_a_working_link(engine: Engine, project: int, get: TestClient) -> None:
    page = open_page()
    assert links(page)["Download labels"] == f"download/labels/{project}?form=labels&suffix=csv&noted=0"
    page.segmented_control(key="take_as").set_value("jsonl").run()
    for form in page.selectbox(key="take_form").options:
        page.selectbox(key="take_form").set_value({"Current labels": "labels", "Whole history": "history",
            "Labelled pairs": "pairs", "Positive pairs": "positives", "Triplets": "triplets",
            "Hugging Face dataset": "dataset", "Audit labels": "audit",
            "Implied pairs": "implied", "Verdicts of machine raters": "verdicts"}[form]).run()  # fmt: skip
        assert not page.exception
        got = get.get("/" + links(page)["Download labels"])
        assert got.status_code == 200, form
        assert got.content[:2] == b"PK" or got.content == b"" or got.content.startswith(b"{")
    assert not list(artifacts().glob(".*"))  # what was made is gone once it is sent


def test_downloads_say_what_they_are(project: int, get: TestClient) -> None:
    got = get.get(f"/download/labels/{project}?form=history&suffix=csv")
    assert got.headers["content-disposition"] == 'attachment; filename="questions-history.csv"'
    assert got.text.splitlines()[1].startswith("left-0,left-1,text 0,text 1,1,positive,ann,1,uncertainty")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("labels/99?form=labels", "no project number 99"),
        ("labels/1?form=nonsense", "no label format 'nonsense'"),
        ("labels/1?form=labels&suffix=../x", "cannot write files that end in"),
        ("matches/1?what=pairs", "there are no matches yet"),
        ("matches/1?what=people", "no table 'people' of matches"),
        ("projects/99", "no project number 99"),
    ],
)
def test_what_cannot_be_made_is_said(project: int, get: TestClient, address: str, said: str) -> None:
    got = get.get(f"/download/{address}")
    assert got.status_code == 404 and said in got.text
    assert not list(artifacts().glob(".*"))


def test_a_project_is_downloaded_and_imported_again(
    engine: Engine, project: int, get: TestClient, tmp_path: Path
) -> None:
    page = open_page()
    where = links(page)["Download project"]
    assert where.endswith("models=1&vectors=0")
    (tmp_path / "questions.zip").write_bytes(get.get(f"/{where}").content)
    assert page.button(key="bring_import").disabled
    page.text_input(key="bring_project_path").set_value(str(tmp_path / "questions.zip")).run()
    page.button(key="bring_import").click().run()
    assert not page.exception
    assert [one.name for one in list_projects(engine)].count("Questions (2)") == 1
    assert "6 texts and 2 answers" in page.success[0].value
    assert page.main.get("page_link")[-1].proto.label == "Open the project"


def test_importing_a_project_lets_one_choose_the_encoder(engine: Engine, tmp_path: Path) -> None:
    make_project(engine, ["a", "b"], name="Theirs", encoder="/theirs")
    export_project(engine, "Theirs", tmp_path / "theirs.zip")
    page = open_page()
    page.text_input(key="bring_project_path").set_value(str(tmp_path / "theirs.zip")).run()
    page.button(key="bring_import").click().run()
    assert "the folder '/theirs'" in page.error[-1].value.replace("\\", "")
    page.text_input(key="bring_encoder").set_value("/ours").run()
    page.button(key="bring_import").click().run()
    assert [one.settings.encoder for one in list_projects(engine)] == ["/ours", "/theirs"]


def test_a_damaged_archive_is_an_error_on_the_page(engine: Engine, project: int, tmp_path: Path) -> None:
    export_project(engine, "Questions", tmp_path / "questions.zip")
    (tmp_path / "questions.zip").write_bytes((tmp_path / "questions.zip").read_bytes()[:-200])
    page = open_page()
    page.text_input(key="bring_project_path").set_value(str(tmp_path / "questions.zip")).run()
    page.button(key="bring_import").click().run()
    assert "not a complete project archive" in page.error[-1].value and len(list_projects(engine)) == 1


def test_labels_are_checked_and_then_stored(engine: Engine, project: int, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        "id1,id2,label\nleft-2,left-3,1\nleft-0,left-1,0\nleft-9,left-1,1\nleft-2,left-3,1\n"
    )
    page = open_page()
    page.text_input(key="bring_labels_path").set_value(str(tmp_path / "labels.csv")).run()
    assert page.button(key="bring_store").disabled
    page.button(key="bring_check").click().run()
    assert "1 label can be stored" in page.success[0].value and stored(engine) == 2
    unknown, kept, already = (box.label for box in page.expander)
    assert unknown.startswith("1 row") and "with this id" in unknown
    assert kept.startswith("1 row") and "differs and is kept" in kept
    assert already.startswith("1 row") and "already" in already
    assert page.button(key="bring_store").label == "Store 1 label"
    page.button(key="bring_store").click().run()
    assert not page.exception
    assert page.success[0].value == "1 label stored." and stored(engine) == 3
    assert page.button(key="bring_store").disabled
    page.checkbox(key="bring_replace").check().run()
    assert not page.success  # another choice is another report
    page.button(key="bring_check").click().run()
    assert page.button(key="bring_store").label == "Store 1 label"


def test_a_file_that_is_no_table_is_an_error(engine: Engine, project: int, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("a,b\n1,2\n")
    page = open_page()
    page.text_input(key="bring_labels_path").set_value(str(tmp_path / "labels.csv")).run()
    page.button(key="bring_check").click().run()
    assert "no such column" in page.error[-1].value


def test_matches_are_asked_for_and_taken_away(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch, get: TestClient
) -> None:
    project_id = make_measured_project(engine, rounds=3)
    with writing(engine) as session:
        session.get_one(Project, project_id).text_columns = {Side.LEFT: ["name", "year"]}
    asked: list[tuple[object, ...]] = []

    def request(engine: Engine, *given: object) -> str:
        asked.append(given)
        raise InputError("a search for matches is already running")

    monkeypatch.setattr(jobs, "request_matches", request)
    page = open_page()
    assert page.number_input(key="match_threshold_2").value == 0.625  # where p = ½
    page.button(key="find_matches").click().run()
    assert (
        asked == [(project_id, 2, 0.625, None, Grouping(Clustering.AVERAGE), True)]
        and "already running" in page.error[-1].value
    )
    page.get_by_key("match_groups_symmetric_True").set_value(Clustering.CORRELATION).run()
    page.selectbox(key="match_representative").set_value("Newest by year").run()
    page.checkbox(key="match_keep").uncheck()
    page.button(key="find_matches").click().run()
    assert asked[-1][-2:] == (Grouping(Clustering.CORRELATION, Representative.NEWEST, "year"), False)
    page.selectbox(key="match_round_2").set_value(0).run()
    assert page.get_by_key("match_groups_symmetric_False").options == ["Connected matches"]
    assert page.button(key="find_matches").disabled  # the encoder alone has no threshold of its own

    with writing_matches(project_id) as folder:
        pairs = {"id1": ["a"], "id2": ["=b"], "score": [0.5], "p": [0.7], "known": pa.array([None], pa.string()),
                 "text1": ["x"], "text2": ["y"]}  # fmt: skip
        pq.write_table(pa.table(pairs), folder / "pairs.parquet")
        groups = pa.table({"group": [1], "size": [2], "side": ["left"], "id": ["a"], "text": ["x"]})
        pq.write_table(groups, folder / "groups.parquet")
        write_summary(folder, make_matches(2, 0.625, 1, 1, 2))
    page.run()
    assert any("1 pair of texts, 1 groups of 2" in text.value for text in page.markdown)
    assert get.get(f"/{links(page)['Pairs as CSV']}").text.splitlines()[1] == "a,'=b,0.5,0.7,,x,y"
    assert get.get(f"/{links(page)['Groups as CSV']}").text.splitlines()[1] == "1,2,left,a,x"


def test_a_reranker_of_a_run_can_order_the_matches(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch, get: TestClient
) -> None:
    project_id = make_measured_project(engine, rounds=2)
    asked: list[str | None] = []
    monkeypatch.setattr(jobs, "request_matches", lambda *given: asked.append(given[4]))
    add_job(engine, project_id, "run-1", kind="pipeline", state="done")
    (pipeline_folder("run-1") / "model").mkdir(parents=True)
    results_folder("run-1").mkdir()
    made = {"kind": "reranker", "title": "Re-ranker", "path": "model", "about": {}}
    (results_folder("run-1") / "artifacts.json").write_text(json.dumps([made]))
    page = open_page()
    order = page.selectbox(key="match_order")
    assert order.options[0] == "score" and order.options[1].startswith("Re-ranker, ")
    order.set_value("run-1/model").run()
    page.button(key="find_matches").click().run()
    assert asked == ["run-1/model"]
    with writing_matches(project_id) as folder:
        row = {
            "id1": "a",
            "id2": "b",
            "score": 0.5,
            "p": 0.7,
            "known": "positive",
            "text1": "x",
            "text2": "y",
            "rerank": 2.5,
        }
        pq.write_table(pa.Table.from_pylist([row]), folder / "pairs.parquet")
        write_summary(folder, make_matches(1, 0.625, 1, 1, 2, "run-1/model"))
    page.run()
    assert any("ordered by a re-ranker" in text.value for text in page.markdown)
    assert get.get(f"/{links(page)['Pairs as CSV']}").text.splitlines()[1] == "a,b,0.5,0.7,positive,x,y,2.5"


def test_a_search_under_way_shows_how_far_it_is(engine: Engine, home: Path) -> None:
    project_id = make_measured_project(engine, rounds=2)
    add_worker(engine)
    add_job(engine, project_id, "matches-1", kind="matches", state="running", stage="encode", fraction=0.4)
    page = open_page()
    assert page.get("progress")[0].proto.text.startswith("Matches: encoding texts, 40%")
    assert "find_matches" not in [button.key for button in page.button]


def test_without_a_project_one_can_be_imported(engine: Engine) -> None:
    page = open_page()
    assert [header.value for header in page.header] == ["Import"]
    assert page.button(key="bring_import").disabled


def test_texts_are_checked_applied_and_undone(engine: Engine, project: int, tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("key,words\nnew,a new text\nleft-0,text zero\nleft-1,text 1\n")
    page = open_page()
    page.text_input(key="change_texts_path").set_value(str(tmp_path / "texts.csv")).run()
    assert page.button(key="texts_apply").disabled
    assert page.selectbox(key="texts_id").value == "key" and page.selectbox(key="texts_text_0").value == "words"
    page.button(key="texts_check").click().run()
    assert not page.exception and not page.button(key="texts_apply").disabled
    counts = next(table.value for table in page.dataframe if "ids" in table.value.columns)
    assert counts["ids"].tolist() == [1, 1, 1]
    page.button(key="texts_apply").click().run()
    assert "change 1" in page.success[-1].value and page.button(key="texts_apply").disabled
    assert [one.added + one.changed for one in list_changes(engine, project)] == [2]
    page.button(key="texts_undo_1").click().run()
    assert not page.exception and list_changes(engine, project)[0].undone_at is not None


def test_a_file_that_cannot_be_read_is_an_error_beside_it(engine: Engine, project: int, tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("id,text\nnew,\n")
    page = open_page()
    page.text_input(key="change_texts_path").set_value(str(tmp_path / "texts.csv")).run()
    page.button(key="texts_check").click().run()
    assert "row 2" in page.error[-1].value and list_changes(engine, project) == []

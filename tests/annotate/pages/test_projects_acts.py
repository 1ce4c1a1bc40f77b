"""Operations on whole projects on the page “Projects”, without a browser."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.projects.lifecycle import archive_project, list_archive, list_bin
from allpairs.annotate.features.projects.list_view import DAYS, Overview, Precision, arranged, read_overviews
from allpairs.annotate.features.projects.projects import list_projects, project_summary
from allpairs.db.domain import AnswerKind, Kind, Purpose
from allpairs.db.estimate import Estimate
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Answer, Task, now
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import answer_on, make_audited_project, make_measured_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import said

APP = ROOT / "annotate" / "shell" / "app.py"
P, N, U, S, R = AnswerKind


def open_page(name: str = "projects") -> AppTest:
    page = AppTest.from_file(str(APP), default_timeout=30).run()
    page.switch_page(f"../pages/{name}.py").run()
    assert not page.exception
    return page


def press(page: AppTest, key: str) -> None:
    page.button(key=key).click().run()
    assert not page.exception


def choose(page: AppTest, project: int, act: str) -> None:
    """Choose an entry of the card's menu."""
    page.menu_button(key=f"more_{project}").click(act).run()
    assert not page.exception


def shown(page: AppTest) -> list[str]:
    return [element.value.replace("\\", "") for element in page.subheader]


def test_a_card_shows_batch_round_figure_and_labels(engine: Engine) -> None:
    exact = make_measured_project(engine, "Exact")
    make_audited_project(engine, "Sampled")
    make_round(engine, exact, 20)
    with writing(engine) as session:
        session.execute(update(Answer).values(created_at=now()))
    page = open_page()
    text, figures = said(page), [(metric.label, metric.value) for metric in page.metric]
    assert "exact over 200,600 pairs, round 4" in text
    assert "0.520 to 0.680, sampled: 200 audit labels, round 4" in text
    assert "Round 4 was trained" in text and "on 325 labels" in text
    assert "325 answers in 14 days, 325 today" in text
    assert [bar.proto.text for bar in page.main.get("progress")] == [
        "Batch 4: 135 of 135 answered", "Batch 5: 0 of 20 answered"
    ]  # fmt: skip
    assert figures[:2] == [("Average precision", "0.600"), ("Labels", "325")]


def test_a_batch_counts_pairs_that_carry_a_label(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(9)])
    make_round(engine, project, 6, reserve=2)
    acts = ((0, P, "a"), (0, N, "b"), (1, P, "a"), (1, R, "a"), (2, S, "a"), (3, U, "a"), (4, N, "a"), (4, R, "a"),
            (4, P, "b"), (6, P, "a"))  # fmt: skip
    with writing(engine) as session:
        tasks = session.scalars(select(Task).order_by(Task.position)).all()
        for act, (place, kind, who) in enumerate(acts):
            session.add(answer_on(tasks[place], kind, who, act))
            session.flush()
    (found,) = read_overviews(engine)
    assert found.batch is not None
    assert (found.batch.number, found.batch.size, found.batch.answered) == (1, 6, 3)
    assert found.labels == {Purpose.TRAIN: 4}
    assert found.days == (*[0] * (DAYS - 1), 5)  # two were undone


def test_answers_count_on_their_day(engine: Engine) -> None:
    project = make_project(engine, ["a", "b", "c"])
    make_round(engine, project, 3)
    noon = now().replace(hour=12)
    with writing(engine) as session:
        for task, days in zip(session.scalars(select(Task)).all(), (1, 13, 14), strict=True):
            answer = answer_on(task, P)
            answer.created_at = noon - timedelta(days=days)
            session.add(answer)
    (found,) = read_overviews(engine)
    assert found.days == (1, *[0] * 11, 1, 0)
    assert found.labelled_at == noon - timedelta(days=1)


def test_projects_are_arranged() -> None:
    def orders(wanted: str = "") -> list[list[str]]:
        return [[project.name for project in arranged(found, wanted, order)]
                for order in ("Newest first", "Last labelled", "Name", "Average precision")]  # fmt: skip

    found: list[Any] = [
        _at_a_glance(1, "beta", 0.5, 3),
        _at_a_glance(2, "Alpha", None, 9),
        _at_a_glance(3, "gamma", 0.7),
    ]
    assert orders() == [["gamma", "Alpha", "beta"], ["Alpha", "beta", "gamma"], ["Alpha", "beta", "gamma"],
                        ["gamma", "beta", "Alpha"]]  # fmt: skip
    assert orders(" ALPH ") == [["Alpha"]] * 4


def _at_a_glance(id_: int, name: str, value: float | None, labelled: int | None = None) -> Any:
    start = now().replace(hour=0)
    return Overview(
        id_, name, Kind.SYMMETRIC, start + timedelta(minutes=id_), False, None, None,
        None if value is None else Precision(1, 10, Estimate(value, value, value, "exact")), Counter(), (0,) * DAYS,
        None if labelled is None else start + timedelta(minutes=labelled),
    )  # fmt: skip


def test_many_projects_are_searched_and_drawn_in_parts(engine: Engine) -> None:
    for i in range(14):
        make_project(engine, ["a", "b"], name=f"Project {i:02d}")
    page = open_page()
    assert shown(page) == [f"Project {i:02d}" for i in range(13, 1, -1)]
    press(page, "show_more")
    assert len(shown(page)) == 14
    page.text_input(key="search").set_value("project 1").run()
    page.selectbox(key="order").set_value("Name").run()
    assert shown(page) == ["Project 10", "Project 11", "Project 12", "Project 13"]


def test_a_project_is_deleted_undone_and_removed_for_good(engine: Engine) -> None:
    project = make_measured_project(engine, "Help *desk*")
    summary = project_summary(engine, "Help *desk*")
    page = open_page()
    choose(page, project, "Delete")
    assert "180 texts, 325 labels, 4 models" in said(page)
    assert page.button(key="confirm_delete").disabled
    page.checkbox(key="sure").check().run()
    press(page, "confirm_delete")
    assert [binned.name for binned in list_bin(engine)] == ["Help *desk*"]
    press(page, "undo")
    assert project_summary(engine, "Help *desk*") == summary
    assert shown(page) == ["Help *desk*"]
    choose(page, project, "Delete")
    page.checkbox(key="sure").check().run()
    press(page, "confirm_delete")
    assert page.expander[0].label == "Bin (1)"
    assert "archived or in the bin" in said(page)
    press(page, f"remove_{project}")
    page.checkbox(key="sure_for_good").check().run()
    press(page, "confirm_remove")
    assert list_bin(engine) == []
    assert "no project yet" in said(page)


def test_an_archived_project_is_hidden_and_comes_back(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"], name="Old")
    make_project(engine, ["a", "b"], name="New")
    page = open_page()
    choose(page, project, "Archive")
    press(page, "confirm_archive")
    assert shown(page) == ["New"]
    assert page.sidebar.selectbox[0].options == ["New"]
    page.toggle(key="show_archived").set_value(True).run()
    assert shown(page) == ["New", "Old"]
    press(page, f"restore_{project}")
    assert list_archive(engine) == []
    assert shown(page) == ["New", "Old"]


def test_a_link_to_an_archived_project_says_so(engine: Engine) -> None:
    archive_project(engine, make_project(engine, ["a", "b"], name="Old"))
    make_project(engine, ["a", "b"], name="New")
    page = AppTest.from_file(str(APP), default_timeout=30)
    page.query_params["project"] = "Old"
    page.run()
    assert "Old is archived" in page.main.warning[0].value
    page.selectbox(key="chosen_instead").select("New").run()
    assert not page.main.warning and page.title[0].value == "New"


@pytest.mark.parametrize("labels", [False, True])
def test_a_project_is_duplicated_with_or_without_labels(engine: Engine, labels: bool) -> None:
    project = make_measured_project(engine, "Source")
    page = open_page()
    choose(page, project, "Duplicate")
    assert page.text_input(key="copy_name").value == "Source copy"
    page.text_input(key="copy_name").set_value("Source")
    press(page, "confirm_copy")
    assert [row.name for row in list_projects(engine)] == ["Source"]
    page.text_input(key="copy_name").set_value("Twin").run()
    page.toggle(key="copy_labels").set_value(labels).run()
    press(page, "confirm_copy")
    copy = next(row for row in list_projects(engine) if row.name == "Twin")
    assert sum(copy.answers.values()) == (325 if labels else 0)
    assert shown(page) == ["Twin", "Source"]

"""The page of one's own answers."""

import re
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.label.own_answers import history
from allpairs.annotate.features.label.queue import record, serve
from allpairs.db.domain import AnswerKind
from allpairs.db.labels.answers import current_labels
from allpairs.db.schema.engine import reading
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.projects.lists import make_products

PAGE = ROOT / "annotate" / "pages" / "answers.py"
open_page = partial(opened, PAGE)


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project in which “me” has answered 25 pairs: yes to the first, no to the others."""
    project_id = make_project(engine, [f"*text* {i}" for i in range(10)], auto_train=False)
    make_round(engine, project_id, 25)
    events = [
        {
            "key": f"k{at}",
            "task_id": pair.task_id,
            "answer": "negative" if at else "positive",
            "note": "" if at else "why",
        }
        for at, pair in enumerate(serve(engine, project_id, "me")[0])
    ]
    record(engine, project_id, "me", events)
    return project_id


def counts(engine: Engine, project_id: int) -> dict[AnswerKind, int]:
    with reading(engine) as session:
        labels = [label.answer for label in current_labels(session, project_id)]
    return {kind: labels.count(kind) for kind in set(labels)}


def test_an_answer_is_corrected(engine: Engine, project: int) -> None:
    page = open_page()
    assert page.caption[0].value == "25 answers"
    newest = history(engine, project, "me", 1).answers[0]
    assert page.text[0].value == newest.left  # as it is, not as Markdown
    page.segmented_control(key=f"change_{newest.answer.id}").set_value(AnswerKind.UNSURE).run()
    assert not page.exception
    assert counts(engine, project) == {AnswerKind.POSITIVE: 1, AnswerKind.NEGATIVE: 23, AnswerKind.UNSURE: 1}


def test_columns_are_shown_side_by_side(engine: Engine, tmp_path: Path) -> None:
    project_id = make_products(engine, tmp_path)
    pair = serve(engine, project_id, "me")[0][0]
    record(engine, project_id, "me", [{"key": "k", "task_id": pair.task_id, "answer": "positive"}])
    page = open_page()
    table = next(one.value for one in page.get("html") if "<table" in one.value)
    assert [name.strip() for name in re.findall("<th[^>]*>([^<]*)<", table)] == [name for name, _, _ in pair.rows]
    assert "Corel" in table and "<mark" in table
    assert [one.value for one in page.text] == []


def test_an_answer_is_taken_back(engine: Engine, project: int) -> None:
    page = open_page()
    newest = history(engine, project, "me", 1).answers[0]
    page.button(key=f"retract_{newest.answer.id}").click().run()
    assert page.caption[0].value == "24 answers"
    assert counts(engine, project) == {AnswerKind.POSITIVE: 1, AnswerKind.NEGATIVE: 23}


def test_answers_are_narrowed_down(engine: Engine, project: int) -> None:
    page = open_page()
    page.segmented_control(key="answers_kind").set_value(AnswerKind.POSITIVE).run()
    assert page.caption[0].value == "1 answer"
    oldest = history(engine, project, "me", 1, answer=AnswerKind.POSITIVE).answers[0].answer
    note = page.text_input(key=f"note_{oldest.id}")
    assert note.value == "why"
    note.set_value("because").run()
    assert history(engine, project, "me", 1, answer=AnswerKind.POSITIVE).answers[0].answer.note == "because"
    page.text_input(key="answers_words").set_value("no such words").run()
    assert "No answer matches" in page.info[0].value


def test_fewer_pages_than_before_begin_again(engine: Engine, project: int) -> None:
    page = open_page()
    page.session_state["answers_page"] = 2
    page.run()
    assert len(page.text) == 10
    page.segmented_control(key="answers_kind").set_value(AnswerKind.POSITIVE).run()
    assert not page.exception
    assert page.caption[0].value == "1 answer"


def test_who_has_answered_nothing_is_told_so(engine: Engine, project: int) -> None:
    page = open_page(annotator="bob")
    assert page.info[0].value.startswith("There are no answers")


def test_without_a_project(engine: Engine) -> None:
    assert "no project yet" in open_page().info[0].value

"""The page of people's changes, and the histories of pairs on the pages Answers and Review."""

from functools import partial

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.label.own_answers import pair_history
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.projects.projects import list_projects, update_settings
from allpairs.annotate.frame.access import mode, people
from allpairs.db.domain import AnswerKind, Settings, version_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Task
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.people import PASSWORD, START

PAGE = ROOT / "annotate" / "pages" / "history.py"
open_page = partial(opened, PAGE)


@pytest.fixture
def project(engine: Engine) -> int:
    return make_project(engine, [f"text {i}" for i in range(6)], name="Old *name*", auto_train=False)


def change(engine: Engine, project_id: int, **values: object) -> None:
    update_settings(
        engine, project_id, Settings.model_validate(list_projects(engine)[0].settings.model_dump() | values)
    )


def read(page: AppTest) -> list[str]:
    assert not page.exception
    return [str(one.value) for one in (*page.markdown, *page.text, *page.caption, *page.info)]


def items_of(engine: Engine, task_id: int) -> tuple[int, int]:
    with reading(engine) as session:
        task = session.get_one(Task, task_id)
        return task.left_id, task.right_id


def test_nothing_is_changed_yet(engine: Engine, project: int) -> None:
    assert "no changes yet" in "\n".join(read(open_page()))


def test_changes_are_told_as_they_are_the_newest_first(engine: Engine, project: int) -> None:
    change(engine, project, guidelines="**Dates** count.")
    change(engine, project, first=64, question="<b>Same?</b>")
    page = open_page()
    assert [text.value for text in page.text] == [
        "Question: Do these two texts mean the same? → <b>Same?</b>",
        "First batch: 40 → 64",
        f"Guidelines: version {version_of('')} → version {version_of('**Dates** count.')}",
        "(none)",
        "**Dates** count.",
    ]
    assert "2 events" in read(page) and any("without sign-in" in line for line in read(page))


def test_accounts_are_told_apart(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    change(engine, project, first=64)
    page = open_page()
    page.toggle(key="history_whole").set_value(True).run()
    assert "no changes yet" in "\n".join(read(page))
    people.add_account(engine, "Anna :red[x]", PASSWORD, START)
    monkeypatch.setattr(mode, "login_needed", lambda *_: False)  # else the first account asks for a login
    page.run()
    assert [line for line in read(page) if "Account made" in line]
    assert "administrator: False" in [text.value for text in page.text]


def test_many_events_are_paged(engine: Engine, project: int) -> None:
    for first in range(41, 64):
        change(engine, project, first=first)
    page = open_page()
    assert len(page.text) == 20 and page.text[0].value.endswith("62 → 63")
    page.session_state[f"history_page_{project}"] = 2
    assert [text.value[-7:] for text in page.run().text] == ["42 → 43", "41 → 42", "40 → 41"]


def test_a_pair_has_its_history_with_batch_model_and_guidelines(engine: Engine, project: int) -> None:
    make_round(engine, project, 4)
    task = serve(engine, project, "ann")[0][0].task_id
    say = {"task_id": task, "seconds": 1.0}
    record(engine, project, "ann", [say | {"key": "a", "answer": "positive", "note": "sure"}])
    change(engine, project, guidelines="Dates count.")
    record(engine, project, "ben", [say | {"key": "b", "answer": "negative"}])
    record(engine, project, "ann", [say | {"key": "c", "answer": "retract"}])
    pair = items_of(engine, task)
    rows = pair_history(engine, project, *pair)
    assert [(row.annotator, row.answer, row.guidelines, row.round, row.counts) for row in rows] == [
        ("ann", AnswerKind.POSITIVE, version_of(""), 1, False),
        ("ben", AnswerKind.NEGATIVE, version_of("Dates count."), 1, True),
        ("ann", AnswerKind.RETRACT, version_of("Dates count."), 1, False),
    ]
    assert [row.answer for row in pair_history(engine, project, *pair, "ben")] == [AnswerKind.NEGATIVE]


@pytest.mark.parametrize("own", [True, False])
def test_a_table_of_own_answers_hides_whether_others_differ(engine: Engine, project: int, own: bool) -> None:
    make_round(engine, project, 4)
    task = serve(engine, project, "ann")[0][0].task_id
    for who, answer in (("ann", "positive"), ("ben", "negative")):
        record(engine, project, who, [{"key": who, "task_id": task, "answer": answer}])

    def table(rows: object, own: bool) -> None:
        from allpairs.annotate.kit.ui.pair_history import pair_acts

        pair_acts(rows, own)

    rows = pair_history(engine, project, *items_of(engine, task), "ann" if own else None)
    page = AppTest.from_function(table, args=(rows, own)).run()
    shown = page.dataframe[0].value
    assert list(shown["answer"]) == (["Yes"] if own else ["Yes", "No"])
    assert {"counts", "who"} & set(shown) == (set() if own else {"counts", "who"})
    if not own:
        assert list(shown["counts"]) == ["", "yes"]

"""The label page and the frame of every page, without a browser: the native buttons stand for the card."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.label import queue as labelling
from allpairs.annotate.features.label.ui import card
from allpairs.annotate.features.projects.lifecycle import archive_project, bin_project
from allpairs.annotate.features.projects.projects import delete_project
from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.labels.answers import current_labels
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Job, Lease, Round, Task, Worker, now
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened

SCRIPT, PAGE = ROOT / "annotate" / "shell" / "app.py", ROOT / "annotate" / "pages" / "label.py"


@pytest.fixture
def project(engine: Engine) -> int:
    project_id = make_project(engine, [f"text {i}" for i in range(6)], auto_train=False, guidelines="Think **twice**.")
    make_round(engine, project_id, 3, reserve=1)
    return project_id


@pytest.fixture
def open_page(engine: Engine) -> Callable[..., AppTest]:
    """Return a function that opens the page in the app, or alone."""

    def open_page(script: Path = SCRIPT, **parameters: str) -> AppTest:
        page = opened(script, **parameters)
        return page.switch_page("../pages/label.py").run() if script == SCRIPT else page

    return open_page


def first_task(engine: Engine, project_id: int) -> Task:
    with reading(engine) as session:
        task = session.scalars(select(Task).where(Task.project_id == project_id).order_by(Task.id)).first()
        assert task is not None
        return task


def click(page: AppTest, task_id: int, answer: str) -> None:
    page.button(key=f"answer_{task_id}_{answer}").click().run()
    assert not page.exception


def test_the_native_buttons_answer_the_pair_they_were_drawn_for(
    engine: Engine, project: int, open_page: Callable[..., AppTest]
) -> None:
    page = open_page(PAGE)
    task = first_task(engine, project)
    assert [text.value for text in page.text] == ["Do these two texts mean the same?", "text 0", "text 1"]
    click(page, task.id, "positive")
    assert page.text[2].value == "text 2"
    click(page, task.id + 1, "skip")
    click(page, task.id + 2, "unsure")
    with reading(engine) as session:
        assert [(label.task_id, label.answer) for label in current_labels(session, project)] == [
            (task.id, AnswerKind.POSITIVE),
            (task.id + 2, AnswerKind.UNSURE),
        ]
    click(page, task.id + 1, "negative")
    assert page.text[2].value == "text 4"  # the reserve
    click(page, task.id + 3, "negative")
    assert "Batch 1 is complete" in page.text[0].value
    assert page.button(key="make_next_batch").label == "Prepare the next batch"


def test_the_annotator_of_the_address_answers(engine: Engine, project: int, open_page: Callable[..., AppTest]) -> None:
    page = open_page(annotator=" Änne ")
    click(page, first_task(engine, project).id, "negative")
    page = open_page(annotator="Änne")
    page.text_input(key="chosen_annotator").set_value("bob").run()
    assert page.query_params["annotator"] == "bob"
    click(page, first_task(engine, project).id + 1, "negative")
    with reading(engine) as session:
        assert list(session.scalars(select(Answer.annotator).order_by(Answer.id))) == ["Änne", "bob"]


def test_the_project_of_the_address_is_shown_and_can_be_changed(
    engine: Engine, project: int, open_page: Callable[..., AppTest]
) -> None:
    make_project(engine, ["a", "b"], name="Newer")
    page = open_page(project="Questions")
    assert page.header[0].value == "Questions"
    page.selectbox(key="chosen_project").select("Newer").run()
    assert page.header[0].value == "Newer"
    assert page.query_params["project"] == "Newer"
    assert "first batch" in page.text[0].value


def test_an_unknown_project_is_named_and_no_other_is_shown(engine: Engine, project: int) -> None:
    page = opened(SCRIPT, project="Gone")
    page.switch_page("../pages/label.py").run()
    assert "project named Gone" in page.main.warning[0].value
    assert not page.main.header and not page.main.button and page.sidebar.selectbox[0].value is None
    assert page.query_params["project"] == "Gone"
    page.selectbox(key="chosen_instead").select("Questions").run()
    assert page.main.header[0].value == "Questions" and page.query_params["project"] == "Questions"


@pytest.mark.parametrize(("put_away", "where"), [(archive_project, "archived"), (bin_project, "in the bin"),
                                                 (delete_project, "removed")])  # fmt: skip
def test_annotators_of_a_project_put_away_hear_where_it_is(
    engine: Engine, project: int, put_away: Callable[[Engine, int], None], where: str
) -> None:
    make_round(engine, make_project(engine, ["a", "b"], name="Newer"), 1)
    page = opened(SCRIPT, project="Questions").switch_page("../pages/label.py").run()
    yes = next(button for button in page.main.button if button.label == "Yes")
    put_away(engine, project)
    yes.click().run()
    assert not page.exception and where in page.main.warning[0].value and not page.main.button
    with reading(engine) as session:
        assert not session.scalars(select(Answer)).all()


def test_without_a_project_the_page_says_what_to_do(open_page: Callable[..., AppTest]) -> None:
    assert "no project yet" in open_page().info[0].value


def test_a_red_line_says_that_no_worker_is_alive(
    engine: Engine, project: int, open_page: Callable[..., AppTest]
) -> None:
    line = "No worker is running. Start one with `allpairs worker`."
    assert [error.value for error in open_page().error] == [line]
    with writing(engine) as session:
        session.add(Worker(executor_id="w", host="h", pid=1, device="cpu", seen_at=now()))
    assert not open_page().error


@pytest.mark.parametrize(
    ("state", "error", "texts"),
    [
        ("waiting", None, ["Preparing the next batch: waiting for a worker"]),
        ("failed", "The disk is full", ["The disk is full"]),
    ],
)
def test_the_work_under_way_is_shown(
    engine: Engine, project: int, open_page: Callable[..., AppTest], state: str, error: str | None, texts: list[str]
) -> None:
    with writing(engine) as session:
        session.execute(delete(Task))
        session.add(Job(id="j", project_id=project, kind="next_round", state=state, error=error))
    page = open_page(PAGE)
    assert [bar.text for bar in page.main.progress] + [line.value for line in page.error] == texts


def test_the_note_of_the_batch_is_shown(engine: Engine, project: int, open_page: Callable[..., AppTest]) -> None:
    with writing(engine) as session:
        session.scalars(select(Round)).one().note = "All answers so far are negative."
    assert "answers so far are negative" in open_page(PAGE).info[0].value


def test_who_finds_everything_leased_is_told_until_when(
    engine: Engine, project: int, open_page: Callable[..., AppTest]
) -> None:
    people = {"ann", "bob", "dan", "eve"}
    for who in people:  # three share the batch; the fourth has its reserve
        open_page(annotator=who)
    assert "free in 10 minutes" in open_page(annotator="cat").text[0].value
    with reading(engine) as session:
        assert {lease.annotator for lease in session.scalars(select(Lease))} == people


def test_names_and_texts_are_not_markdown(engine: Engine, open_page: Callable[..., AppTest]) -> None:
    project_id = make_project(engine, ["**a** $x$ :smile:", "<b>b</b>"], name="**bold** :smile:")
    make_round(engine, project_id, 1)
    page = open_page()
    assert "**" not in page.header[0].value and ":smile:" not in page.header[0].value
    assert {text.value for text in page.text} >= {"**a** $x$ :smile:", "<b>b</b>"}


@pytest.fixture
def audited(engine: Engine) -> int:
    project_id = make_project(engine, [f"text {i}" for i in range(12)], evaluation=6, auto_train=False)
    make_design(engine, project_id)
    make_round(engine, project_id, 4, audits=(1, 3))
    return project_id


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the kind of each requested job, which is done at once."""
    kinds: list[str] = []

    def ask(kind: str, engine: Engine, project_id: int, draw: int, **_: object) -> None:
        assert draw == 0
        kinds.append(kind)
        with writing(engine) as session:
            session.add(Job(id=f"{kind}-{len(kinds)}", project_id=project_id, kind=kind, state="done"))

    monkeypatch.setattr(labelling, "request_audit", partial(ask, "audit"))
    monkeypatch.setattr(labelling, "request_correction", partial(ask, "correction"))
    return kinds


def choose(page: AppTest, project_id: int, queue: str) -> None:
    page.get_by_key(f"queue_{project_id}").set_value(queue).run()
    assert not page.exception


def test_without_an_audit_batch_there_is_nothing_to_choose(
    engine: Engine, audited: int, open_page: Callable[..., AppTest]
) -> None:
    assert not open_page(PAGE).button_group


@pytest.mark.parametrize(
    ("kind", "title"), [(DesignKind.AUDIT, "Audit batch"), (DesignKind.CORRECTION, "False-positive check")]
)
def test_an_audit_batch_is_chosen_and_labelled_to_its_end(
    engine: Engine, audited: int, open_page: Callable[..., AppTest], measured: list[str], kind: DesignKind, title: str
) -> None:
    make_design(engine, audited, kind, round=0, recall=0.5)
    audit_batch = make_audit_batch(engine, audited, 2, kind)
    page = open_page()
    control = page.get_by_key(f"queue_{audited}")
    assert control.options == ["Batch", f"{title} (2 left)"]
    assert page.text[1].value == "text 0"
    choose(page, audited, "audit")
    with reading(engine) as session:
        first, second = session.scalars(select(Task.id).where(Task.round_id == audit_batch).order_by(Task.position))
    click(page, first, "positive")
    assert page.get_by_key(f"queue_{audited}").options[1] == f"{title} (1 left)"
    click(page, second, "unsure")
    assert f"The {title.lower()} is complete." in page.text[0].value
    (link,) = page.main.get("page_link")
    assert "“Monitor”" in link.proto.label
    assert not [button for button in page.button if button.key == "make_next_batch"]
    assert measured == [kind]
    choose(page, audited, "batch")
    assert page.text[1].value == "text 0"
    assert not page.button_group
    assert not page.main.get("page_link")


def test_an_audit_batch_can_be_ended_early(
    engine: Engine, audited: int, open_page: Callable[..., AppTest], measured: list[str]
) -> None:
    audit_batch = make_audit_batch(engine, audited, 3)
    page = open_page()
    choose(page, audited, "audit")
    with reading(engine) as session:
        first = session.scalars(select(Task.id).where(Task.round_id == audit_batch).order_by(Task.position)).all()[0]
    click(page, first, "negative")
    button = page.button(key="drop_audit_batch")
    assert button.label == "Drop 2 pairs"
    button.click().run()
    assert not page.exception
    assert "audit batch is complete" in page.text[0].value
    assert measured == ["audit"]
    with reading(engine) as session:
        assert session.get_one(Round, audit_batch).size == 1


def test_an_audit_batch_dropped_as_a_whole_gives_the_batch_back(
    engine: Engine, audited: int, open_page: Callable[..., AppTest], measured: list[str]
) -> None:
    make_audit_batch(engine, audited, 3)
    page = open_page()
    choose(page, audited, "audit")
    page.button(key="drop_audit_batch").click().run()
    assert not page.exception
    assert page.text[1].value == "text 0"
    assert measured == []


@pytest.mark.parametrize(
    ("queue", "text"),
    [("audit", "being updated. They will appear on the page “Monitor”."),
     ("batch", "prepared after the running job.")],
)  # fmt: skip
def test_a_measurement_under_way_is_shown_for_what_it_is(
    engine: Engine, audited: int, open_page: Callable[..., AppTest], queue: str, text: str
) -> None:
    make_audit_batch(engine, audited, 1)
    page = open_page()
    choose(page, audited, queue)
    with writing(engine) as session:
        session.add(Job(id="j", project_id=audited, kind="audit"))
        session.add_all(
            Answer(project_id=audited, task_id=task.id, left_id=task.left_id, right_id=task.right_id, annotator="bob",
                   answer=AnswerKind.NEGATIVE, key=f"{task.id}")
            for task in session.scalars(select(Task))
        )  # fmt: skip
    page.run()
    assert not page.exception
    (bar,) = page.main.progress
    assert "Updating the figures" in bar.text
    assert text in page.text[0].value


def test_the_browser_is_sent_texts_and_guidelines_once(
    engine: Engine, project: int, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(card, "mount_card", lambda key, data, **_: sent.extend(data))
    page = open_page(PAGE)
    first, *others = sent[-1]["pairs"]
    assert [row[0] for pair in (first, *others) for row in pair["rows"]] == [None] * 3
    has, version = frozenset([first["id"]]), sent[-1]["guidelines"]["version"]
    assert "<strong>twice</strong>" in sent[-1]["guidelines"]["html"]
    monkeypatch.setattr(card, "outbox", lambda key: card.CardMessage(1, known_tasks=has, guidelines=version))
    page.run()
    assert [set(first) - set(pair) for pair in sent[-1]["pairs"]] == [{"rows"}, *[set()] * len(others)]
    assert sent[-1]["guidelines"] is None


def test_the_browser_is_sent_nothing_that_tells_audit_pairs(
    engine: Engine, audited: int, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(card, "mount_card", lambda key, data, **_: sent.extend(data))
    page = open_page(PAGE)
    keys = {"id", "round", "batch", "again", "rows"}
    assert [set(pair) for pair in sent[-1]["pairs"]] == [keys] * 4
    assert (sent[-1]["why"], sent[-1]["title"], sent[-1]["queue"]) == ({}, "Batch 1", "batch")
    counts = {"size": 4, "audits": 2, "answered": 0, "extra": 0, "positives": 0, "all_positives": 0}
    assert sent[-1]["progress"] == counts
    with reading(engine) as session:
        tasks = session.scalars(select(Task).order_by(Task.position)).all()
    for task in tasks[:2]:
        events = [{"key": f"k{task.id}", "task_id": task.id, "answer": "positive"}]
        monkeypatch.setattr(card, "outbox", lambda key, events=events: card.CardMessage(1, events))
        page.run()
    assert [words for data in sent for words in data["why"].values()] == [
        "score 0.95",
        "audit pair, not used for training",
    ]
    assert sent[-1]["progress"] == counts | {"answered": 2, "positives": 2, "all_positives": 2}

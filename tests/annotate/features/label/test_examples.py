"""Labelled pairs as examples beside the card: never one that measures, or that the annotator may still be asked."""

from itertools import count

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.label.queue import record
from allpairs.annotate.features.label.ui.guidelines import panel
from allpairs.db.domain import AnswerKind, CheckKind, Purpose, Split
from allpairs.db.labels.examples import example_pairs
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Check, FastAnswers, FastAnswersTask, Gold, Item, Project, Task
from tests.helpers.factories import make_project, make_round, require_votes

YES, NO, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE
KEYS = count()


@pytest.fixture
def project(engine: Engine) -> int:
    project_id = make_project(engine, [f"text {i}" for i in range(8)], auto_train=False)
    make_round(engine, project_id, 6)
    return project_id


def say(engine: Engine, project: int, who: str, place: int, answer: AnswerKind) -> None:
    with reading(engine) as session:
        task = session.scalars(select(Task.id).where(Task.position == place)).one()
    event = {"key": f"k{next(KEYS)}", "task_id": task, "answer": answer}
    assert record(engine, project, who, [event]).refused == {}


def shown(engine: Engine, project: int, who: str = "cat", n: int = 9) -> list[tuple[AnswerKind, str]]:
    """Return the answer and the right text of each example: of the pair at place i, text i + 1."""
    with reading(engine) as session:
        return [(one.answer, one.right) for one in example_pairs(session, project, who, n)]


def test_examples_are_ordered_by_agreement_then_newest(engine: Engine, project: int) -> None:
    for place, answer in enumerate([YES, YES, YES, NO, UNSURE, YES]):
        say(engine, project, "ann", place, answer)
    say(engine, project, "ben", 1, YES)
    say(engine, project, "ben", 5, NO)  # they disagree
    assert shown(engine, project) == [(YES, "text 2"), (YES, "text 3"), (YES, "text 1"), (NO, "text 4")]
    assert shown(engine, project, n=2) == [(YES, "text 2"), (YES, "text 3"), (NO, "text 4")]
    assert shown(engine, project, "ann") == shown(engine, project)  # nothing is repeated here


def first(session: object) -> Task:
    return session.scalars(select(Task).order_by(Task.position)).first()  # type: ignore[attr-defined,no-any-return]


def measure(session: object) -> None:
    first(session).purpose = Purpose.AUDIT


def evaluate(session: object) -> None:
    session.get_one(Item, first(session).right_id).split = Split.EVALUATION  # type: ignore[attr-defined]


def know(session: object) -> None:
    one = first(session)
    pair = {"left_id": one.left_id, "right_id": one.right_id, "project_id": one.project_id}
    session.add(Gold(**pair, positive=True))  # type: ignore[attr-defined]


def settle(session: object) -> None:
    session.scalars(select(Answer)).one().settles = True  # type: ignore[attr-defined]


def check(session: object) -> None:
    one = first(session)
    pair = {"left_id": one.left_id, "right_id": one.right_id, "project_id": one.project_id}
    session.add(Check(**pair, annotator="cat", kind=CheckKind.GOLD, expected=YES))  # type: ignore[attr-defined]


def hurry(session: object) -> None:
    one, answer = first(session), session.scalars(select(Answer)).one()  # type: ignore[attr-defined]
    run = FastAnswers(project_id=one.project_id, annotator="ann", answer=YES, first_id=answer.id, last_id=answer.id,
                      answers=1, seconds=0.1)  # fmt: skip
    session.add(run)  # type: ignore[attr-defined]
    session.flush()  # type: ignore[attr-defined]
    session.add(FastAnswersTask(task_id=one.id, rush_id=run.id, project_id=one.project_id))  # type: ignore[attr-defined]


@pytest.mark.parametrize("act", [measure, evaluate, know, settle, check, hurry])
def test_a_pair_that_measures_or_is_a_hidden_test_is_never_shown(engine: Engine, project: int, act: object) -> None:
    say(engine, project, "ann", 0, YES)
    assert shown(engine, project) == [(YES, "text 1")]
    with writing(engine) as session:
        act(session)  # type: ignore[operator]
    assert shown(engine, project) == []


def test_a_pair_is_shown_after_all_votes_and_ones_own(engine: Engine, project: int) -> None:
    require_votes(engine, 2)
    say(engine, project, "ann", 0, YES)
    assert shown(engine, project, "ann") == [(YES, "text 1")]
    assert shown(engine, project, "cat") == []  # they may still be asked
    say(engine, project, "ben", 0, YES)
    assert shown(engine, project, "cat") == [(YES, "text 1")]
    with writing(engine) as session:
        stored = session.get_one(Project, project)
        stored.settings = stored.settings | {"repeat_share": 0.1}
    assert shown(engine, project, "ann") == []
    assert shown(engine, project, "cat") == [(YES, "text 1")]


def test_the_panel_is_sent_once_and_the_authors_html_is_text(engine: Engine, project: int) -> None:
    say(engine, project, "ann", 0, NO)
    sent = panel(engine, project, "cat", "**Dates** count. <b onclick='x'>b</b>", 1, "")
    assert sent is not None
    assert "<strong>Dates</strong>" in sent["html"] and "<b" not in sent["html"]
    assert sent["examples"] == [{"label": "No match", "texts": ["text 0", "text 1"]}]
    assert panel(engine, project, "cat", "**Dates** count. <b onclick='x'>b</b>", 1, sent["version"]) is None
    assert panel(engine, project, "cat", "Others.", 1, sent["version"]) is not None

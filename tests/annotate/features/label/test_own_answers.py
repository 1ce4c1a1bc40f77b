"""An annotator's own answers: what is shown of them, and how they are corrected."""

from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from allpairs.annotate.features.label.own_answers import correct, history
from allpairs.annotate.features.label.queue import recent, record, serve
from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import current_labels
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, Task
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round

P, N, U, S, R = AnswerKind


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project of two lists with a batch of six pairs, all left × right."""
    project_id = make_project(engine, ["Who?", "When?"], ["Mary 50%", "In May", "at noon"], auto_train=False)
    make_round(engine, project_id, 6)
    return project_id


def say(engine: Engine, project_id: int, *answers: AnswerKind, who: str = "ann", note: str = "") -> list[int]:
    """Answer the first served tasks, and return them."""
    tasks = [pair.task_id for pair in serve(engine, project_id, who)[0]][: len(answers)]
    tell(engine, project_id, list(zip(tasks, answers, strict=True)), who, note)
    return tasks


def tell(engine: Engine, project_id: int, acts: Any, who: str = "ann", note: str = "") -> None:
    events = [
        {"key": f"{who}-{task}-{answer}", "task_id": task, "answer": answer, "seconds": 2.5, "note": note}
        for task, answer in acts
    ]
    assert record(engine, project_id, who, events).refused == {}


def labels(engine: Engine, project_id: int) -> list[AnswerKind]:
    with reading(engine) as session:
        return [label.answer for label in current_labels(session, project_id)]


def test_answers_come_newest_first_without_skips_and_retractions(engine: Engine, project: int) -> None:
    first, *_ = say(engine, project, P, N, S, U, note=" dates differ ")
    tell(engine, project, [(first, R)])
    tell(engine, project, [(first, P)], who="bob")
    found = history(engine, project, "ann", 10)
    assert [past.answer.answer for past in found.answers] == [U, N]
    assert (found.total, found.answers[0].answer.note, found.answers[0].answer.seconds) == (2, "dates differ", 2.5)


def test_answers_are_narrowed_down_and_paged(engine: Engine, project: int) -> None:
    say(engine, project, P, N, P, N, P, N)
    assert [past.answer.answer for past in history(engine, project, "ann", 10, answer=P).answers] == [P] * 3
    by_words = history(engine, project, "ann", 10, words="mary 50%")
    assert (by_words.total, {past.right for past in by_words.answers}) == (2, {"Mary 50%"})
    assert history(engine, project, "ann", 10, words="%").total == 2
    assert history(engine, project, "ann", 10, answer=N, words="who").total + history(
        engine, project, "ann", 10, answer=P, words="who"
    ).total == 3  # fmt: skip
    pages = [history(engine, project, "ann", 4, offset) for offset in (0, 4, 8)]
    assert [len(page.answers) for page in pages] == [4, 2, 0]
    assert {page.total for page in pages} == {6}


def test_a_correction_counts_and_keeps_the_note(engine: Engine, project: int) -> None:
    say(engine, project, P, note="sure?")
    (old,) = history(engine, project, "ann", 10).answers
    correct(engine, project, "ann", old.answer.id, N)
    (new,) = history(engine, project, "ann", 10).answers
    assert (new.answer.answer, new.answer.note, new.answer.task_id) == (N, "sure?", old.answer.task_id)
    assert labels(engine, project) == [N]
    correct(engine, project, "ann", new.answer.id, N, "  ")
    assert history(engine, project, "ann", 10).answers[0].answer.note == ""


def test_a_retracted_pair_is_served_again(engine: Engine, project: int) -> None:
    say(engine, project, P, P, P, P, P, P)
    assert serve(engine, project, "ann")[0] == []
    correct(engine, project, "ann", history(engine, project, "ann", 1).answers[0].answer.id, R)
    assert len(serve(engine, project, "ann")[0]) == 1
    assert labels(engine, project) == [P] * 5


def test_nobody_corrects_the_answers_of_others(engine: Engine, project: int) -> None:
    say(engine, project, P)
    (mine,) = history(engine, project, "ann", 10).answers
    with pytest.raises(InputError, match="bob has no answer"):
        correct(engine, project, "bob", mine.answer.id, N)
    with pytest.raises(InputError, match=r"note .* 3,000 .* 2,000"):
        correct(engine, project, "ann", mine.answer.id, N, "x" * 3000)
    with pytest.raises(InputError, match="ann has no answer 999"):
        correct(engine, project, "ann", 999, N)
    assert labels(engine, project) == [P]


def test_what_can_be_undone_after_a_reload(engine: Engine, project: int) -> None:
    tasks = say(engine, project, P, N, U, S)
    tell(engine, project, [(tasks[1], R)])
    assert [(each.pair.task_id, each.answer) for each in recent(engine, project, "ann")] == [
        (tasks[0], P), (tasks[2], U)
    ]  # fmt: skip
    assert recent(engine, project, "bob") == []
    make_round(engine, project, 0)
    assert recent(engine, project, "ann") == []  # of an earlier batch: the page “My answers” has them


def test_candidates_of_one_left_text_follow_each_other(engine: Engine) -> None:
    project = make_project(engine, ["a", "b", "c"], [f"r{i}" for i in range(4)], auto_train=False)
    make_round(engine, project, 12)
    say(engine, project, S)
    pairs, _ = serve(engine, project, "ann", grouped=True)
    runs = [pair.left for at, pair in enumerate(pairs) if at == 0 or pairs[at - 1].left != pair.left]
    assert len(pairs) == 12
    assert sorted(runs) == ["a", "b", "c"]


def test_the_drawn_text_of_an_entity_audit_is_shown_first(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(4)], evaluation=4)
    make_design(engine, project, DesignKind.ENTITIES)
    make_audit_batch(engine, project, 6, DesignKind.ENTITIES)
    with writing(engine) as session:  # the text drawn is the last one, the right one of its three pairs
        last = session.scalars(select(Item).order_by(Item.id.desc()).limit(1)).one()
        session.execute(update(Task).where(Task.right_id == last.id).values(turned=True))
    pairs, _ = serve(engine, project, "ann", audit_batch=True, grouped=True)
    of_last = [at for at, pair in enumerate(pairs) if pair.left == last.text]
    assert len(of_last) == 3 and of_last[-1] - of_last[0] == 2
    assert {pairs[at].right for at in of_last} == {f"text {i}" for i in range(3)}


def test_a_note_that_is_too_long_is_refused(engine: Engine, project: int) -> None:
    task = serve(engine, project, "ann")[0][0].task_id
    receipt = record(engine, project, "ann", [{"key": "k", "task_id": task, "answer": "positive", "note": "x" * 2001}])
    assert "note" in receipt.refused["k"]
    assert labels(engine, project) == []

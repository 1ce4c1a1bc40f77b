"""Hidden checks: who gets which, that they look like any pair, and that they change only their own rows."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select, update

from allpairs.annotate.features.label.queue import BUFFER, recent, record, serve
from allpairs.annotate.features.review.disagreements import queue, settle
from allpairs.db.domain import AnswerKind, CheckKind
from allpairs.db.labels import hidden_check_plan
from allpairs.db.labels.answers import current_labels, store_answers
from allpairs.db.labels.hidden_checks import check_results
from allpairs.db.labels.stable_random import chance
from allpairs.db.labels.tasks import batch_progress
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Check, CheckAnswer, FastAnswers, Gold, Lease, Task, now
from tests.helpers.factories import require_votes
from tests.helpers.projects.labels import answer_pair, checks_among, event, know, project_with_batch

YES, NO, UNSURE, SKIP, UNDO = AnswerKind
GOLD, REPEAT = CheckKind


def stored(engine: Engine, project: int) -> list[Check]:
    with reading(engine) as session:
        return list(session.scalars(select(Check).where(Check.project_id == project).order_by(Check.id)))


def count_rows(engine: Engine, table: Any) -> int:
    with reading(engine) as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def long_ago(engine: Engine) -> None:
    with writing(engine) as session:
        session.execute(update(Answer).values(created_at=now() - timedelta(days=1)))


@given(about=st.lists(st.one_of(st.integers(), st.text()), min_size=1, max_size=4))
def test_chance_is_a_number_below_one_and_always_the_same(about: list[Any]) -> None:
    assert 0 <= chance(*about) < 1
    assert chance(*about) == chance(*about)


def test_chance_is_evenly_spread() -> None:
    drawn = sorted(chance(0, "gold", "ann", task) for task in range(10_000))
    assert max(abs(value - place / 10_000) for place, value in enumerate(drawn)) < 0.02  # Kolmogorov's distance


def test_without_shares_there_are_none(engine: Engine) -> None:
    project = project_with_batch(engine)
    know(engine, project, 5, 5)
    assert checks_among(serve(engine, project, "ann")[0]) == []
    assert stored(engine, project) == []


def test_hidden_test_pairs_come_at_their_share_and_stay_in_place(engine: Engine) -> None:
    project = project_with_batch(engine, n=150, texts=40, gold_share=0.3)
    known = know(engine, project, 40, 40)
    pairs = serve(engine, project, "ann", 150)[0]
    hidden = checks_among(pairs)
    assert 30 <= len(hidden) <= 60  # 45 expected; 0.3 of 150 has a standard deviation of 5.6
    rows = stored(engine, project)
    assert {(row.kind, row.annotator) for row in rows} == {(GOLD, "ann")}
    assert len({(row.left_id, row.right_id) for row in rows}) == len(rows)
    assert all((row.expected == YES) == known[row.left_id, row.right_id] for row in rows)
    assert 8 <= sum(row.expected == YES for row in rows) <= len(rows) - 8  # matches and others alike
    assert serve(engine, project, "ann", 150)[0] == pairs  # a second tab has the same ones at the same places
    with writing(engine) as session:
        session.execute(update(Lease).values(expires_at=now()))
    others = checks_among(serve(engine, project, "ben", 150)[0])
    assert {pair.task_id for pair in others}.isdisjoint(pair.task_id for pair in hidden)


def test_the_same_seed_draws_the_same(engine: Engine) -> None:
    drawn = []
    for name in ("One", "Two"):
        project = project_with_batch(engine, name=name, gold_share=0.5, seed=3)
        know(engine, project, 40, 0)
        with writing(engine) as session:  # chance goes by the tasks' ids
            tasks = list(session.scalars(select(Task.id).where(Task.project_id == project)))
            drawn.append([chance(3, GOLD, "ann", task) < 0.5 for task in tasks])
        assert len(checks_among(serve(engine, project, "ann")[0])) == sum(drawn[-1][:BUFFER])


def test_a_check_looks_like_a_pair_that_somebody_else_answered(engine: Engine) -> None:
    project = project_with_batch(engine, n=10, gold_share=0.5)
    know(engine, project, 10, 0)
    require_votes(engine, 2)
    for pair in serve(engine, project, "ben", 5)[0]:
        answer_pair(engine, project, "ben", pair, NO)
    pairs = serve(engine, project, "ann")[0]
    second = [pair for pair in pairs if pair.task_id > 0 and pair.repeated]
    assert second and checks_among(pairs)
    assert {(pair.in_batch, pair.repeated, pair.likely) for pair in [*second, *checks_among(pairs)]} == {
        (False, True, None)
    }


def test_an_answer_to_a_check_changes_no_label_vote_or_figure(engine: Engine) -> None:
    project = project_with_batch(engine, n=20, gold_share=0.5)
    know(engine, project, 10, 10)
    pairs = serve(engine, project, "ann")[0]
    for pair in pairs[:4]:
        answer_pair(engine, project, "ann", pair, YES) if pair.task_id > 0 else None
    check = checks_among(serve(engine, project, "ann")[0])[0]
    with reading(engine) as session:
        before = current_labels(session, project), batch_progress(session, project), count_rows(engine, Answer)
    answer_pair(engine, project, "ann", check, YES)
    with reading(engine) as session:
        after = current_labels(session, project), batch_progress(session, project), count_rows(engine, Answer)
        assert [one.answer for one in check_results(session, project)] == [YES]
    assert after == before
    assert check not in serve(engine, project, "ann")[0]


def test_a_replay_stores_nothing_twice_and_undo_restores(engine: Engine) -> None:
    project = project_with_batch(engine, n=20, gold_share=0.5)
    know(engine, project, 10, 10)
    check = checks_among(serve(engine, project, "ann")[0])[0]
    said = event(check, YES)
    for _ in range(2):
        assert record(engine, project, "ann", [said]).stored == [said["key"]]
    assert count_rows(engine, CheckAnswer) == 1
    assert [one.pair for one in recent(engine, project, "ann")] == [check]  # after a reload, undo finds it
    answer_pair(engine, project, "ann", check, UNDO)
    assert recent(engine, project, "ann") == []
    assert check in serve(engine, project, "ann")[0]
    answer_pair(engine, project, "ann", check, NO)
    with reading(engine) as session:
        assert [one.answer for one in check_results(session, project)] == [NO]
    assert count_rows(engine, CheckAnswer) == 3


def test_undo_after_a_reload_follows_the_order_of_answers(engine: Engine) -> None:
    project = project_with_batch(engine, n=12, gold_share=0.5)
    know(engine, project, 10, 10)
    pairs = serve(engine, project, "ann")[0]
    assert 0 < len(checks_among(pairs)) < len(pairs)
    assert record(engine, project, "ann", [event(pair, NO) for pair in pairs]).refused == {}
    assert [one.pair.task_id for one in recent(engine, project, "ann")] == [pair.task_id for pair in pairs]


def test_a_skipped_check_is_not_repeated_and_counts_for_nothing(engine: Engine) -> None:
    project = project_with_batch(engine, n=20, gold_share=0.5)
    know(engine, project, 10, 10)
    check = checks_among(serve(engine, project, "ann")[0])[0]
    answer_pair(engine, project, "ann", check, SKIP)
    assert check not in serve(engine, project, "ann")[0]
    with reading(engine) as session:
        assert check_results(session, project) == []


@pytest.mark.parametrize("who", ["ben", "ann"])
def test_a_check_of_another_annotator_or_project_is_refused(engine: Engine, who: str) -> None:
    project = project_with_batch(engine, n=20, gold_share=0.5)
    know(engine, project, 10, 10)
    other = project_with_batch(engine, n=1, name="Other")
    check = checks_among(serve(engine, project, "ann")[0])[0]
    forged = event(check, YES)
    refused = record(engine, project if who == "ben" else other, who, [forged]).refused
    assert refused.keys() == {forged["key"]}
    assert count_rows(engine, CheckAnswer) == count_rows(engine, Answer) == 0


def test_no_check_is_a_pair_already_answered_or_waiting(engine: Engine) -> None:
    project = project_with_batch(engine, n=20, texts=7, gold_share=0.5)  # 21 pairs: all but one are tasks
    with writing(engine) as session:
        for task in session.scalars(select(Task)):
            session.add(Gold(project_id=project, left_id=task.left_id, right_id=task.right_id, positive=True))
    pairs = serve(engine, project, "ann", 10)[0]
    assert checks_among(pairs) == []
    for pair in pairs:
        answer_pair(engine, project, "ann", pair, YES)
    assert checks_among(serve(engine, project, "ann", 10)[0]) == []
    with writing(engine) as session:
        session.execute(update(Lease).values(expires_at=now()))
    hidden = checks_among(serve(engine, project, "ben")[0])
    assert hidden  # ben has not seen what ann has labelled


def test_what_a_review_settled_is_known_to_who_did_not_take_part(engine: Engine) -> None:
    project = project_with_batch(engine, n=12, gold_share=0.5)
    pair = serve(engine, project, "ann", 1)[0][0]
    answer_pair(engine, project, "ann", pair, UNSURE)
    case = queue(engine, project).next
    assert case is not None
    settle(engine, project, "eve", case, YES)
    for who in ("ann", "eve"):
        assert checks_among(serve(engine, project, who)[0]) == []
        with writing(engine) as session:
            session.execute(update(Lease).values(expires_at=now()))
    (check,) = checks_among(serve(engine, project, "ben")[0])
    assert (check.left, check.right) == (pair.left, pair.right)
    (row,) = stored(engine, project)
    assert (row.kind, row.expected, row.task_id) == (GOLD, YES, pair.task_id)


def answered(engine: Engine, project: int, who: str, n: int) -> dict[tuple[int, int], AnswerKind]:
    """Answer the first n tasks now, over an hour ago, yes to every third; return this annotator's answers."""
    with writing(engine) as session:
        tasks = list(session.scalars(select(Task).where(Task.project_id == project).order_by(Task.id).limit(n)))
        said = {(task.left_id, task.right_id): NO if place % 3 else YES for place, task in enumerate(tasks)}
        store_answers(session, [
            {"project_id": project, "task_id": task.id, "left_id": task.left_id, "right_id": task.right_id,
             "annotator": who, "answer": said[task.left_id, task.right_id], "key": f"{who}-{task.id}", "seconds": 5.0,
             "created_at": now() - timedelta(hours=2)}
            for task in tasks
        ])  # fmt: skip
    return said


def test_own_answers_of_a_good_while_ago_are_repeated(engine: Engine) -> None:
    project = project_with_batch(engine, n=170, texts=30, repeat_share=0.3)
    said = answered(engine, project, "ann", 120)
    hidden = checks_among(serve(engine, project, "ann", 50)[0])
    rows = stored(engine, project)
    assert len(hidden) == len(rows) > 5
    assert all(row.kind == REPEAT and row.expected == said[row.left_id, row.right_id] for row in rows)
    early = set(list(said)[: 120 - hidden_check_plan.BETWEEN])
    assert {(row.left_id, row.right_id) for row in rows} <= early
    receipt = record(engine, project, "ann", [event(hidden[0], YES)])
    assert receipt.choices[hidden[0].task_id].score is not None  # told as after any other answer
    with reading(engine) as session:
        assert {(label.left_id, label.right_id): label.answer for label in current_labels(session, project)} == said


def test_what_was_just_answered_is_not_repeated(engine: Engine) -> None:
    project = project_with_batch(engine, n=170, texts=30, repeat_share=0.3)
    answered(engine, project, "ann", hidden_check_plan.BETWEEN)
    assert checks_among(serve(engine, project, "ann", 50)[0]) == []  # too few lie between
    answered(engine, project, "ann", 120)
    with writing(engine) as session:
        session.execute(update(Answer).values(created_at=now() - timedelta(minutes=50)))
    assert checks_among(serve(engine, project, "ann", 50)[0]) == []  # too little time lies between


def test_who_is_alone_and_answers_too_fast_is_asked_again(engine: Engine) -> None:
    project = project_with_batch(engine, n=110, texts=20)
    pairs = serve(engine, project, "ann", 20)[0]
    record(engine, project, "ann", [event(pair, NO, seconds=0.1) for pair in pairs])
    assert count_rows(engine, FastAnswers) == 1
    assert checks_among(serve(engine, project, "ann")[0]) == []  # a moment ago
    long_ago(engine)
    hidden = checks_among(serve(engine, project, "ann", 90)[0])
    assert len(hidden) == 5
    for check in hidden:
        answer_pair(engine, project, "ann", check, YES)
    with reading(engine) as session:
        assert [(one.kind, one.expected, one.answer) for one in check_results(session, project)] == [
            (REPEAT, NO, YES)
        ] * 5
        assert {label.answer for label in current_labels(session, project)} == {NO}
    assert checks_among(serve(engine, project, "ann", 90)[0]) == []


def test_where_others_label_too_they_double_check_fast_answers(engine: Engine) -> None:
    project = project_with_batch(engine, n=110, texts=20)
    pairs = serve(engine, project, "ann", 20)[0]
    record(engine, project, "ann", [event(pair, NO, seconds=0.1) for pair in pairs])
    answer_pair(engine, project, "ben", serve(engine, project, "ben", 1)[0][0], NO)
    long_ago(engine)
    assert checks_among(serve(engine, project, "ann", 90)[0]) == []


def test_a_check_that_was_never_shown_gives_its_pair_free(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_with_batch(engine, n=30, gold_share=0.5)
    know(engine, project, 1, 0)
    served = serve(engine, project, "ben")[0]
    (check,) = checks_among(served)
    before = served[served.index(check) + 1]
    with writing(engine) as session:  # Ben went away, and Ann labels the pair that it stood before
        session.execute(update(Lease).values(expires_at=now()))
    answer_pair(engine, project, "ann", before, NO)
    with writing(engine) as session:
        session.execute(update(Check).values(created_at=now() - timedelta(hours=2)))
    (again,) = checks_among(serve(engine, project, "ben")[0])
    assert again.task_id != check.task_id and again.left == check.left
    answer_pair(engine, project, "ben", again, YES)
    with writing(engine) as session:
        session.execute(update(Check).values(created_at=now() - timedelta(hours=2)))
    assert checks_among(serve(engine, project, "ben")[0]) == []  # answered, it is never drawn again


def test_a_pair_waiting_for_the_annotators_vote_is_no_check(engine: Engine) -> None:
    project = project_with_batch(engine, n=10, gold_share=0.5)
    (first, *_) = serve(engine, project, "ann")[0]
    require_votes(engine, 2)
    with writing(engine) as session:
        task = session.get_one(Task, first.task_id)
        session.add(Gold(project_id=project, left_id=task.left_id, right_id=task.right_id, positive=True))
    answer_pair(engine, project, "ann", first, YES)
    with writing(engine) as session:
        session.execute(update(Lease).values(expires_at=now()))
    assert checks_among(serve(engine, project, "ben")[0]) == []  # the vote would not be an independent one

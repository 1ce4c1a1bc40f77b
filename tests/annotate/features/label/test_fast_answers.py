"""Fast answers: what counts as a run of them, what is stored of it, and what becomes of its pairs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from allpairs.annotate.features.label.fast_answers import BEGINNING, KEY, TimedAct, fast_runs, least_seconds
from allpairs.annotate.features.label.queue import record, serve
from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.labels.reviews import shared_votes
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import FastAnswers, FastAnswersTask, Task
from tests.helpers.factories import make_project, make_round
from tests.helpers.projects.labels import FAST, KEYS, SLOW, answer_in_messages, project_of_long_texts

YES, NO, SKIP = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.SKIP
LENGTH = 50


def acts_of(given: list[tuple[AnswerKind, float | None]]) -> list[TimedAct]:
    """Return these answers as events, each on two texts of its own."""
    return [
        TimedAct(i, answer, seconds, {2 * i: LENGTH, 2 * i + 1: LENGTH}) for i, (answer, seconds) in enumerate(given)
    ]


ACTS = st.lists(st.tuples(st.sampled_from(AnswerKind), st.sampled_from([FAST, SLOW, None])), max_size=40)


@given(given=ACTS, least=st.integers(1, 6))
def test_runs_are_the_longest_stretches_of_equal_fast_answers(
    given: list[tuple[AnswerKind, float | None]], least: int
) -> None:
    acts = acts_of(given)
    found = fast_runs(acts, least)
    for fast in found:
        assert len(fast) >= least
        assert len({act.answer for act in fast}) == 1 and fast[0].answer in LABELS
        assert all(act.seconds == FAST for act in fast)
        assert [act.id for act in fast] == list(range(fast[0].id, fast[-1].id + 1))  # in a row
        for beside in (fast[0].id - 1, fast[-1].id + 1):  # nothing could be added at either end
            if 0 <= beside < len(acts):
                assert (acts[beside].answer, acts[beside].seconds) != (fast[0].answer, FAST)
    inside = {act.id for fast in found for act in fast}
    for start in range(len(acts) - least + 1):  # and nothing is missing
        window = acts[start : start + least]
        if window[0].answer in LABELS and {(act.answer, act.seconds) for act in window} == {(window[0].answer, FAST)}:
            assert inside >= {act.id for act in window}


@given(given=ACTS, least=st.integers(1, 6), start=st.integers(0, 40))
def test_more_time_on_a_pair_never_makes_a_run_longer(
    given: list[tuple[AnswerKind, float | None]], least: int, start: int
) -> None:
    slower = [(answer, SLOW if i == start else seconds) for i, (answer, seconds) in enumerate(given)]
    before, after = ({act.id for fast in fast_runs(acts_of(each), least) for act in fast} for each in (given, slower))
    assert after <= before


@given(lengths=st.lists(st.integers(0, 10_000), min_size=2, max_size=2), more=st.integers(0, 1_000))
def test_longer_texts_need_longer_up_to_their_beginning(lengths: list[int], more: int) -> None:
    texts = dict(enumerate(lengths))
    assert KEY <= least_seconds(texts) <= least_seconds({0: lengths[0] + more, 1: lengths[1]}) <= KEY + 2.0
    assert least_seconds(texts) == least_seconds({item: min(n, BEGINNING) for item, n in texts.items()})


def test_a_text_that_was_just_read_needs_no_reading_again() -> None:
    assert least_seconds({1: 80, 2: 40}) == pytest.approx(KEY + 1.2)
    assert least_seconds({1: 80, 3: 40}, just_read=[1, 2]) == pytest.approx(KEY + 0.4)
    candidates = [TimedAct(i, NO, 0.7, {0: 90, i + 1: 40}) for i in range(6)]  # of one question, 0.6 s each at least
    assert fast_runs(candidates, 5) == []
    strangers = [TimedAct(i, NO, 0.7, {-i: 90, i + 1: 40}) for i in range(1, 7)]
    assert fast_runs(strangers, 5) == [strangers]


def test_no_least_means_none() -> None:
    assert fast_runs(acts_of([(NO, FAST)] * 40), 0) == []


# ---- as rows ---------------------------------------------------------------------------------------------------------


def stored(engine: Engine, project: int) -> tuple[list[FastAnswers], set[int]]:
    with reading(engine) as session:
        rows = list(
            session.scalars(select(FastAnswers).where(FastAnswers.project_id == project).order_by(FastAnswers.id))
        )
        return rows, set(session.scalars(select(FastAnswersTask.task_id).where(FastAnswersTask.project_id == project)))


@pytest.mark.parametrize("at_once", [1, 7, 60])
def test_fast_answers_are_stored_once_however_they_arrive(engine: Engine, at_once: int) -> None:
    project = project_of_long_texts(engine, n=60, fast_answers=10)
    answer_in_messages(
        engine, project, "ann", [(YES, SLOW), *[(NO, FAST)] * 25, (NO, SLOW), *[(NO, FAST)] * 9, (YES, FAST)], at_once
    )
    (fast,), again = stored(engine, project)
    assert (fast.annotator, fast.answer, fast.answers) == ("ann", NO, 25)
    assert fast.seconds == pytest.approx(25 * FAST)
    assert len(again) == 5
    answer_in_messages(engine, project, "ann", [(YES, FAST)] * 12, at_once)
    first, second = stored(engine, project)[0]
    assert first.answers == 25
    assert (second.answer, second.answers) == (YES, 13)


def test_candidates_of_a_question_read_before_are_not_too_fast(engine: Engine) -> None:
    question, candidates = "q" * 100, [f"{i:020d}" for i in range(20)]
    project = make_project(engine, [question], candidates, auto_train=False, fast_answers=15)
    make_round(engine, project, 17)
    answer_in_messages(
        engine, project, "ann", [(NO, SLOW), (NO, 0.6), *[(NO, 0.3)] * 14]
    )  # 0.4 s each at least, once it is read
    assert stored(engine, project)[0] == []
    answer_in_messages(engine, project, "ann", [(NO, 0.3)])
    assert [fast.answers for fast in stored(engine, project)[0]] == [15]


def test_one_of_ten_pairs_answered_too_fast_goes_to_others_too(engine: Engine) -> None:
    project = project_of_long_texts(engine, n=60)
    tasks = answer_in_messages(engine, project, "ann", [(NO, FAST)] * 60, at_once=4)
    (fast,), again = stored(engine, project)
    assert fast.answers == 60 and len(again) == 6 and again <= set(tasks)
    assert {pair.task_id for pair in serve(engine, project, "ben")[0]} == again
    assert serve(engine, project, "ann")[0] == []
    answer_in_messages(engine, project, "ben", [(YES, SLOW)] * 6)
    with reading(engine) as session:
        assert len(shared_votes(session, project, drawn=False)) == 12
        assert shared_votes(session, project, drawn=True) == []  # they were not drawn from all pairs


def test_pairs_that_several_label_anyway_are_left_to_them(engine: Engine) -> None:
    project = project_of_long_texts(engine, n=30)
    with writing(engine) as session:
        for task in session.scalars(select(Task).where(Task.position < 12)):
            task.votes = 3
    answer_in_messages(engine, project, "ann", [(NO, FAST)] * 15)
    with reading(engine) as session:
        votes = dict(session.execute(select(Task.id, Task.votes).where(Task.id.in_(stored(engine, project)[1]))).all())
        assert session.scalars(select(Task.votes).where(Task.position < 12)).all() == [3] * 12
    assert list(votes.values()) == [2, 2, 2]  # the only ones of the run that nobody else was to label


@pytest.mark.parametrize("settings", [{"fast_answers": 0}, {"fast_answers": 16}])
def test_fewer_fast_answers_than_the_setting_says_do_not_count(engine: Engine, settings: dict[str, int]) -> None:
    project = project_of_long_texts(engine, n=20, **settings)
    answer_in_messages(engine, project, "ann", [(NO, FAST)] * 15)
    assert stored(engine, project) == ([], set())


def test_answers_without_a_time_and_undone_ones_are_not_too_fast(engine: Engine) -> None:
    project = project_of_long_texts(engine, n=30, fast_answers=4)
    events = [
        {"key": f"fast-{next(KEYS)}", "task_id": pair.task_id, "answer": NO}
        for pair in serve(engine, project, "ann")[0]
    ]
    record(engine, project, "ann", events[:10])
    for event in events[10:20]:
        undo = event | {"key": f"fast-{next(KEYS)}", "answer": AnswerKind.RETRACT}
        record(engine, project, "ann", [event | {"seconds": FAST}, undo])
    assert stored(engine, project) == ([], set())

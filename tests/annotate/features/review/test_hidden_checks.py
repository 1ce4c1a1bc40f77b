"""Figures of hidden checks and fast answers: the service, and the pages that show them only to administrators."""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.review.hidden_checks import quality, read_fast_answers, read_quality
from allpairs.db.domain import LABELS, AnswerKind, CheckKind
from allpairs.db.estimate import wilson
from allpairs.db.labels.hidden_checks import CheckResult
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.projects.labels import FAST, SLOW, answer_pair, checks_among, know, project_with_batch
from tests.helpers.projects.labels import answer_in_messages as answer
from tests.helpers.projects.labels import project_of_long_texts as hurried

YES, NO, UNSURE = LABELS
GOLD, REPEAT = CheckKind
open_review = partial(opened, ROOT / "annotate" / "pages" / "review.py")
open_monitor = partial(opened, ROOT / "annotate" / "pages" / "monitor.py")

CHECKS = st.builds(
    CheckResult,
    annotator=st.sampled_from(["ann", "ben"]),
    kind=st.sampled_from(CheckKind),
    expected=st.sampled_from([YES, NO]),
    answer=st.sampled_from(LABELS),
)


def test_who_is_right_how_often() -> None:
    said = [(GOLD, YES, YES), (GOLD, YES, NO), (GOLD, YES, YES), (GOLD, NO, NO), (GOLD, NO, UNSURE), (REPEAT, NO, NO)]
    (ann,) = quality([CheckResult("ann", *one) for one in said])
    assert ann.sensitivity is not None and ann.specificity is not None and ann.repeats is not None
    assert (ann.sensitivity.value, ann.sensitivity.labels) == (2 / 3, 3)
    assert (ann.sensitivity.low, ann.sensitivity.high) == wilson(2, 3)
    assert (ann.specificity.value, ann.specificity.labels) == (1, 1)
    assert (ann.repeats.value, ann.repeats.labels) == (1, 1)
    assert ann.unsure == 1


@given(answers=st.lists(CHECKS, max_size=30))
def test_every_answer_is_counted_once(answers: Sequence[CheckResult]) -> None:
    found = quality(answers)
    assert [one.annotator for one in found] == sorted({one.annotator for one in answers})
    for one in found:
        estimates = [estimate for estimate in (one.sensitivity, one.specificity, one.repeats) if estimate is not None]
        mine = [each for each in answers if each.annotator == one.annotator]
        assert one.unsure + sum(estimate.labels for estimate in estimates) == len(mine)
        right = sum(each.answer == each.expected for each in mine)
        assert sum(estimate.value * estimate.labels for estimate in estimates) == pytest.approx(right)
        assert all(0 <= each.low <= each.value <= each.high <= 1 for each in estimates)


def test_figures_come_from_the_answers(engine: Engine) -> None:
    project = project_with_batch(engine, n=40, gold_share=0.5)
    know(engine, project, 30, 0)
    hidden = checks_among(serve(engine, project, "ann")[0])
    for pair in hidden:
        answer_pair(engine, project, "ann", pair, YES if pair is not hidden[0] else NO)
    (ann,) = read_quality(engine, project)
    assert ann.sensitivity is not None and ann.specificity is None
    assert ann.sensitivity.value == pytest.approx(1 - 1 / len(hidden))


def test_administrators_are_told_who_hurried_and_what_others_say(engine: Engine) -> None:
    project = hurried(engine, n=40)
    answer(engine, project, "ann", [(NO, FAST)] * 20)
    (told,) = read_fast_answers(engine, project)
    assert (told.annotator, told.answer, told.answers, told.queued_again, told.looked_at) == ("ann", NO, 20, 5, 0)
    assert told.seconds == pytest.approx(FAST) and told.began <= told.ended
    answer(engine, project, "ben", [(YES, SLOW)] * 25)  # new pairs, and the five among them
    (told,) = read_fast_answers(engine, project)
    assert (told.looked_at, told.otherwise) == (5, 5)


def test_the_pages_show_both(engine: Engine) -> None:
    project = hurried(engine, n=60, gold_share=0.5)
    know(engine, project, 6, 0)
    check = checks_among(serve(engine, project, "*ann*", 60)[0])[0]
    answer_pair(engine, project, "*ann*", check, YES)
    page = open_review()
    assert "Hidden test pairs" in [one.value for one in page.subheader]
    assert page.dataframe[-1].value.iloc[0]["known matches"] == "1.00 (0.21–1.00) of 1"
    tasks = [pair for pair in serve(engine, project, "*ann*", 60)[0] if pair.task_id > 0]
    for pair in tasks[:16]:
        hurry(engine, project, pair.task_id)
    page = open_review()
    assert page.dataframe[-1].value.iloc[0]["in a row"] == 16
    (warning,) = open_monitor().warning
    assert "16 answers" in warning.value and r"\*ann\*" in warning.value


def hurry(engine: Engine, project: int, task_id: int) -> None:
    event = {"key": f"hurry-{task_id}", "task_id": task_id, "answer": AnswerKind.NEGATIVE, "seconds": FAST}
    assert record(engine, project, "*ann*", [event]).refused == {}

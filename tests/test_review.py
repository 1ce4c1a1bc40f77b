"""Review: which pairs are put up, what is shown when, and what settling one does."""

from functools import partial
from itertools import count

import pytest
from sqlalchemy import Engine

from annotate.labelling import record, serve
from annotate.reviewing import Case, opinions, queue, settle
from db.answers import current_labels
from db.domain import AnswerKind, InputError
from db.engine import reading
from db.reviews import shared_votes
from tests.conftest import ROOT
from tests.factories import make_project, make_round
from tests.pages import open_page as opened
from tests.test_votes import want

YES, NO, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE
open_page = partial(opened, ROOT / "annotate" / "pages" / "review.py")
KEYS = count()


@pytest.fixture
def project(engine: Engine) -> int:
    """Pairs on which Ann and Ben agree (1, 4), differ (2, 5), and of which Ann is unsure (3)."""
    project_id = make_project(engine, [f"*text* {i}" for i in range(6)], auto_train=False)
    make_round(engine, project_id, 5)
    want(engine, 2)
    tasks = [pair.task_id for pair in serve(engine, project_id, "ann")[0]]
    for who, answers in (("ann", [YES, YES, UNSURE, NO, NO]), ("ben", [YES, NO, None, NO, YES])):
        events = [
            {"key": f"r{next(KEYS)}", "task_id": task, "answer": answer, "note": f"by {who}"}
            for task, answer in zip(tasks, answers, strict=True)
            if answer is not None
        ]
        assert record(engine, project_id, who, events).refused == {}
    return project_id


def next_case(engine: Engine, project: int) -> Case:
    case = queue(engine, project).next
    assert case is not None
    return case


def disputed(engine: Engine, project: int) -> Case:
    """The next case, which is the unsure one, put off."""
    unsure = next_case(engine, project)
    case = queue(engine, project, {(unsure.left_id, unsure.right_id)}).next
    assert case is not None
    return case


def test_disagreements_and_unsure_answers_are_settled(engine: Engine, project: int) -> None:
    found = queue(engine, project)
    assert (found.disagreements, found.unsure) == (2, 1)
    settled = []
    while (case := queue(engine, project).next) is not None:
        settle(engine, project, "eve", case, UNSURE if len(settled) == 1 else NO, " because ")
        settled.append((case.left_id, case.right_id))
    assert len(set(settled)) == 3
    with reading(engine) as session:
        labels = {(label.left_id, label.right_id): label for label in current_labels(session, project)}
    assert [labels[pair].annotator for pair in settled] == ["eve"] * 3
    assert sorted(labels[pair].answer for pair in settled) == [NO, NO, UNSURE]
    assert queue(engine, project).disagreements == queue(engine, project).unsure == 0


def test_a_changed_mind_ends_a_disagreement(engine: Engine, project: int) -> None:
    case = disputed(engine, project)
    votes = {vote.annotator: vote.answer for vote in opinions(engine, project, case)}
    said = votes["ann"]
    assert case.task_id is not None
    event = {"key": "again", "task_id": case.task_id, "answer": said}
    assert record(engine, project, "ben", [event]).refused == {}
    assert queue(engine, project).disagreements == 1


def test_what_is_put_off_comes_last(engine: Engine, project: int) -> None:
    first = next_case(engine, project)
    put_off = {(first.left_id, first.right_id)}
    second = queue(engine, project, put_off).next
    assert second is not None and second != first
    everything = {(case.left_id, case.right_id) for case in (first, second)}
    third = queue(engine, project, everything).next
    assert third is not None
    everything.add((third.left_id, third.right_id))
    assert queue(engine, project, everything).next == first


def test_votes_of_reviews_say_nothing_about_agreement(engine: Engine, project: int) -> None:
    with reading(engine) as session:
        before = shared_votes(session, project, drawn=True)
    assert len(before) == 8  # of four pairs
    settle(engine, project, "eve", next_case(engine, project), NO)
    with reading(engine) as session:
        assert shared_votes(session, project, drawn=True) == before
    want(engine, 1)
    with reading(engine) as session:
        assert shared_votes(session, project, drawn=True) == []
        assert shared_votes(session, project, drawn=False) == before


def test_what_cannot_be_settled_is_refused(engine: Engine, project: int) -> None:
    case = next_case(engine, project)
    with pytest.raises(InputError, match="yes, no or unsure"):
        settle(engine, project, "eve", case, AnswerKind.SKIP)
    other = make_project(engine, ["a", "b"], name="Other", auto_train=False)
    with pytest.raises(InputError, match="reload the page"):
        settle(engine, other, "eve", case, NO)


def test_the_page_shows_others_answers_only_after_ones_own(engine: Engine, project: int) -> None:
    page = open_page()
    first, case = next_case(engine, project), disputed(engine, project)
    assert page.text[0].value == first.left
    page.button(key=f"review_{project}_me_{first.left_id}_{first.right_id}_later").click().run()
    assert page.text[1].value == case.right
    assert page.caption[0].value.startswith("2 pairs with different answers, 1 pair left unsure")
    key = f"review_{project}_me_{case.left_id}_{case.right_id}"
    others = lambda: [table for table in page.dataframe if "note" in table.value.columns]  # noqa: E731
    assert others() == []
    page.segmented_control(key=key).set_value(NO).run()
    assert set(others()[0].value["note"]) == {"by ann", "by ben"}
    page.text_input(key=f"{key}_note").set_value("clear").run()
    page.button(key=f"{key}_settle").click().run()
    assert not page.exception
    assert page.caption[0].value.startswith("1 pair with different answers")
    with reading(engine) as session:
        labels = {(label.left_id, label.right_id): label for label in current_labels(session, project)}
    label = labels[case.left_id, case.right_id]
    assert (label.answer, label.annotator) == (NO, "me")


@pytest.mark.parametrize("votes", [1, 2])
def test_the_page_shows_agreement(engine: Engine, project: int, votes: int) -> None:
    want(engine, votes)
    page = open_page()
    if votes == 1:
        assert any("drawn at random" in box.value for box in page.info)
        page.segmented_control(key="agreement_pairs").set_value("All that several labelled").run()
    assert any("4 pairs with a yes or no of several" in caption.value for caption in page.caption)
    assert not page.exception


def test_a_project_of_one_annotator_has_nothing_to_review(engine: Engine) -> None:
    make_project(engine, ["a", "b"], auto_train=False)
    page = open_page()
    assert "Nothing to review" in page.success[0].value
    assert not page.exception

"""Review: which pairs are queued, what is shown when, and what settling one does."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.label.own_answers import correct, history
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.projects.lifecycle import duplicate_project
from allpairs.annotate.features.review.disagreements import Case, opinions, queue, settle
from allpairs.annotate.features.review.transitivity import algebra, count_waiting
from allpairs.annotate.frame.access.people import set_role_of
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.db.domain import AnswerKind, Role
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import current_labels
from allpairs.db.labels.reviews import shared_votes
from allpairs.db.schema.engine import reading
from allpairs.learner.jobs.data.project_data import read_labels, read_project, with_implied
from tests.helpers.factories import make_project, make_round, require_votes
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.pages import open_review
from tests.helpers.people import at, make_member
from tests.helpers.projects.labels import KEYS, NEGATIVE, POSITIVE, UNSURE, label_pairs


@pytest.fixture
def project(engine: Engine) -> int:
    """Return pairs on which Ann and Ben agree (1, 4), differ (2, 5), and of which Ann is unsure (3)."""
    project_id = make_project(engine, [f"*text* {i}" for i in range(6)], auto_train=False)
    make_round(engine, project_id, 5)
    require_votes(engine, 2)
    tasks = [pair.task_id for pair in serve(engine, project_id, "ann")[0]]
    for who, answers in (
        ("ann", [POSITIVE, POSITIVE, UNSURE, NEGATIVE, NEGATIVE]),
        ("ben", [POSITIVE, NEGATIVE, None, NEGATIVE, POSITIVE]),
    ):
        events = [
            {"key": f"r{next(KEYS)}", "task_id": task, "answer": answer, "note": f"by {who}"}
            for task, answer in zip(tasks, answers, strict=True)
            if answer is not None
        ]
        assert record(engine, project_id, who, events).refused == {}
    return project_id


def label_of(engine: Engine, project: int, pair: tuple[int, int]) -> tuple[AnswerKind, str]:
    with reading(engine) as session:
        labels = {(label.left_id, label.right_id): label for label in current_labels(session, project)}
    return labels[pair].answer, labels[pair].annotator


def next_case(engine: Engine, project: int) -> Case:
    case = queue(engine, project).next
    assert case is not None
    return case


def disputed(engine: Engine, project: int) -> Case:
    """Return the next case, which is the unsure one, postponed."""
    unsure = next_case(engine, project)
    case = queue(engine, project, {(unsure.left_id, unsure.right_id)}).next
    assert case is not None
    return case


def test_disagreements_and_unsure_answers_are_settled(engine: Engine, project: int) -> None:
    found = queue(engine, project)
    assert (found.disagreements, found.unsure) == (2, 1)
    settled = []
    while (case := queue(engine, project).next) is not None:
        settle(engine, project, "eve", case, UNSURE if len(settled) == 1 else NEGATIVE, " because ")
        settled.append((case.left_id, case.right_id))
    assert len(set(settled)) == 3
    with reading(engine) as session:
        labels = {(label.left_id, label.right_id): label for label in current_labels(session, project)}
    assert [labels[pair].annotator for pair in settled] == ["eve"] * 3
    assert sorted(labels[pair].answer for pair in settled) == [NEGATIVE, NEGATIVE, UNSURE]
    assert queue(engine, project).disagreements == queue(engine, project).unsure == 0


def test_what_another_reviewer_settled_meanwhile_stands(engine: Engine, project: int) -> None:
    ritas, sams = (disputed(engine, project) for _ in range(2))
    settle(engine, project, "Rita", ritas, POSITIVE)
    with pytest.raises(InputError, match="Rita has answered"):
        settle(engine, project, "Sam", sams, NEGATIVE)
    with reading(engine) as session:
        labels = {(label.left_id, label.right_id): label for label in current_labels(session, project)}
    settled = labels[ritas.left_id, ritas.right_id]
    assert (settled.annotator, settled.answer) == ("Rita", POSITIVE)


def test_a_later_answer_does_not_replace_what_was_settled(engine: Engine, project: int) -> None:
    case = disputed(engine, project)
    said = {vote.annotator: vote.answer for vote in opinions(engine, project, case)}
    settle(engine, project, "eve", case, said["ben"])
    pair = (case.left_id, case.right_id)
    (anns,) = (
        past.answer for past in history(engine, project, "ann", 9).answers
        if (past.answer.left_id, past.answer.right_id) == pair
    )  # fmt: skip
    events = [{"key": "late", "task_id": case.task_id, "answer": said["ben"]}]
    assert record(engine, project, "ann", events).refused == {}  # agrees now: nothing to review
    assert label_of(engine, project, pair) == (said["ben"], "eve") and queue(engine, project).disagreements == 1
    correct(engine, project, "ann", anns.id, said["ann"], "I am sure")
    assert label_of(engine, project, pair) == (said["ben"], "eve") and queue(engine, project).disagreements == 2


def test_a_reviewer_changes_what_they_settled_while_they_may(engine: Engine, project: int) -> None:
    person, eve = make_member(engine, project, Role.ADJUDICATOR)
    case = disputed(engine, project)
    pair = (case.left_id, case.right_id)
    settle(eve, project, "adjudicator", case, POSITIVE)
    (own,) = history(eve, project, "adjudicator", 9).answers
    correct(eve, project, "adjudicator", own.answer.id, POSITIVE, "looked at again")
    (own,) = history(eve, project, "adjudicator", 9).answers
    assert record(engine, project, "ann", [{"key": "late", "task_id": case.task_id, "answer": NEGATIVE}]).refused == {}
    assert label_of(engine, project, pair) == (POSITIVE, "adjudicator")
    set_role_of(engine, person, project, Role.ANNOTATOR, at())
    with pytest.raises(Refused, match="settle its disagreements"):
        correct(eve, project, "adjudicator", own.answer.id, NEGATIVE)
    set_role_of(engine, person, project, Role.ADJUDICATOR, at())
    correct(eve, project, "adjudicator", own.answer.id, AnswerKind.RETRACT)
    assert label_of(engine, project, pair) == (NEGATIVE, "ann")


def test_a_copy_keeps_what_is_settled(engine: Engine, project: int) -> None:
    case = disputed(engine, project)
    settle(engine, project, "eve", case, NEGATIVE)
    assert record(engine, project, "ann", [{"key": "late", "task_id": case.task_id, "answer": POSITIVE}]).refused == {}
    copy, _ = duplicate_project(engine, project, True)
    with reading(engine) as session:
        assert [label.answer for label in current_labels(session, copy) if label.annotator == "eve"] == [NEGATIVE]


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
    settle(engine, project, "eve", next_case(engine, project), NEGATIVE)
    with reading(engine) as session:
        assert shared_votes(session, project, drawn=True) == before
    require_votes(engine, 1)
    with reading(engine) as session:
        assert shared_votes(session, project, drawn=True) == []
        assert shared_votes(session, project, drawn=False) == before


def test_what_cannot_be_settled_is_refused(engine: Engine, project: int) -> None:
    case = next_case(engine, project)
    with pytest.raises(InputError, match="yes, no or unsure"):
        settle(engine, project, "eve", case, AnswerKind.SKIP)
    other = make_project(engine, ["a", "b"], name="Other", auto_train=False)
    with pytest.raises(InputError, match="reload the page"):
        settle(engine, other, "eve", case, NEGATIVE)


def test_the_page_shows_others_answers_only_after_ones_own(engine: Engine, project: int) -> None:
    page = open_review()
    first, case = next_case(engine, project), disputed(engine, project)
    assert page.text[0].value == first.left
    page.button(key=f"review_{project}_me_{first.left_id}_{first.right_id}_later").click().run()
    assert page.text[1].value == case.right
    assert page.caption[0].value.startswith("2 pairs with different answers, 1 pair left unsure")
    key = f"review_{project}_me_{case.left_id}_{case.right_id}"
    others = lambda: [table for table in page.dataframe if "note" in table.value.columns]  # noqa: E731
    assert others() == []
    page.segmented_control(key=key).set_value(NEGATIVE).run()
    assert set(others()[0].value["note"]) == {"by ann", "by ben"}
    page.text_input(key=f"{key}_note").set_value("clear").run()
    page.button(key=f"{key}_settle").click().run()
    assert not page.exception
    assert page.caption[0].value.startswith("1 pair with different")
    with reading(engine) as session:
        labels = {(label.left_id, label.right_id): label for label in current_labels(session, project)}
    label = labels[case.left_id, case.right_id]
    assert (label.answer, label.annotator) == (NEGATIVE, "me")


def test_an_annotator_who_settles_a_pair_still_disagreed_on_it(engine: Engine, project: int) -> None:
    with reading(engine) as session:
        before = shared_votes(session, project, drawn=True)
    case = disputed(engine, project)
    said = {vote.annotator: vote.answer for vote in opinions(engine, project, case)}
    settle(engine, project, "ann", case, said["ben"])
    with reading(engine) as session:
        assert shared_votes(session, project, drawn=True) == before


@pytest.mark.parametrize("votes", [1, 2])
def test_the_page_shows_agreement(engine: Engine, project: int, votes: int) -> None:
    require_votes(engine, votes)
    page = open_review("show_agreement")
    if votes == 1:
        assert any("Share with multiple annotators" in box.value for box in page.info)
        page.segmented_control(key="agreement_pairs").set_value("All shared pairs").run()
    assert any("4 pairs with a yes or no" in caption.value for caption in page.caption)
    (two,) = (table.value for table in page.dataframe if "Cohen's kappa" in table.value.columns)
    assert two["annotators"].tolist() == ["ann, ben"]
    assert not page.exception


def test_a_project_of_one_annotator_has_nothing_to_review(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"], auto_train=False)
    page = open_review()
    assert "Nothing to review yet" in page.info[0].value and not page.success

    label_pairs(engine, project, {(0, 1): POSITIVE})
    page = open_review()
    assert "Nothing to review:" in page.success[0].value and "contradict" in page.success[0].value
    two_lists = make_project(engine, ["a"], ["b"], name="Two lists", auto_train=False)
    label_pairs(engine, two_lists, {(0, 1): POSITIVE})
    assert "contradict" not in open_review().success[0].value


def test_what_waits_is_counted_for_the_menu(
    engine: Engine, project: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entries() -> list[str]:
        return [link.label for link in opened(ROOT / "annotate" / "shell" / "app.py").get("page_link")]

    monkeypatch.setattr("allpairs.annotate.features.review.ui.waiting.counted_every", lambda last: 10)
    assert count_waiting(engine, project) == 3
    label_pairs(engine, project, {(0, 5): POSITIVE, (1, 5): POSITIVE, (0, 1): NEGATIVE})
    waits = count_waiting(engine, project)
    assert waits > 3 and f"Review ({waits})" in entries()
    settle(engine, project, "eve", next_case(engine, project), NEGATIVE)
    assert f"Review ({waits})" in entries()  # not counted again for one answer
    assert f"{waits - 1}" == str(count_waiting(engine, project)) and open_review()  # the page counts exactly
    assert f"Review ({waits - 1})" in entries()


def test_a_contradiction_is_shown_and_put_right(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(6)], auto_train=False)
    label_pairs(
        engine, project, {(0, 1): POSITIVE, (1, 2): POSITIVE, (0, 2): NEGATIVE, (3, 4): POSITIVE, (4, 5): NEGATIVE}
    )
    found = algebra(engine, project)
    assert found is not None
    assert (found.groups, found.matches, found.non_matches, found.contradictions) == (2, 0, 1, 1)
    (steps,) = found.examples
    assert [(step.case.left, step.case.right, step.answer) for step in steps] == [
        ("text 0", "text 1", POSITIVE), ("text 1", "text 2", POSITIVE), ("text 0", "text 2", NEGATIVE)
    ]  # fmt: skip
    page = open_review()
    assert not page.success and "1 label cannot" in " ".join(one.value for one in page.caption)
    case = steps[2].case
    key = f"contradiction_{project}_{case.left_id}_{case.right_id}_{case.answer_id}"
    page.segmented_control(key=key).set_value(POSITIVE).run()
    assert not page.exception
    again = algebra(engine, project)
    assert again is not None and (again.contradictions, again.matches, again.non_matches) == (0, 0, 1)
    assert any("no labels contradict each other" in box.value for box in page.success)


def test_an_unsure_answer_contradicts_and_implies_nothing(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(4)], auto_train=False)
    label_pairs(engine, project, {(0, 1): POSITIVE, (1, 2): POSITIVE, (0, 2): UNSURE, (2, 3): UNSURE})
    found = algebra(engine, project)
    assert found is not None
    assert (found.contradictions, found.examples) == (0, [])
    assert (found.groups, found.matches, found.non_matches) == (1, 1, 0)  # that the two ends match follows


def test_a_contradiction_is_put_off(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(6)], auto_train=False)
    label_pairs(
        engine,
        project,
        {(0, 1): POSITIVE, (1, 2): POSITIVE, (0, 2): NEGATIVE, (3, 4): POSITIVE, (4, 5): POSITIVE, (3, 5): NEGATIVE},
    )
    page = open_review()
    first = lambda: next(text.value for text in page.text if text.value.startswith("text"))  # noqa: E731
    shown = []
    for _ in range(3):
        shown.append(first())
        page.button(key="contradiction_later").click().run()
    assert shown == ["text 0", "text 3", "text 0"]


def test_two_lists_imply_nothing(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"], ["c", "d"], auto_train=False)
    label_pairs(engine, project, {(0, 2): POSITIVE})
    assert algebra(engine, project) is None


def test_what_follows_trains_where_the_settings_say_so(engine: Engine) -> None:
    for name, chosen in (("without", False), ("with", True)):
        project = make_project(engine, [f"text {i}" for i in range(6)], name=name, auto_train=False, implied=chosen)
        label_pairs(engine, project, {(0, 1): POSITIVE, (1, 2): POSITIVE, (2, 3): NEGATIVE})
        with reading(engine) as session:
            data = read_project(session, project)
            human = read_labels(session, project, data, 10**6)
            trained = with_implied(human, data)
        more = {(0, 2, 1), (0, 3, 0), (1, 3, 0)} if chosen else set()
        rows = set(zip(*(column.tolist() for column in (trained.left, trained.right, trained.label)), strict=True))
        assert rows == {(0, 1, 1), (1, 2, 1), (2, 3, 0)} | more
        assert len(human) == 3

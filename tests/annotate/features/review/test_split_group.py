"""Groups of labels: which exist, what a split changes, how to undo it, and what the page offers."""

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.review.disagreements import queue, settling
from allpairs.annotate.features.review.split_group import across, groups_of_labels, last_split, split, undo_split
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.db.domain import AnswerKind, Role
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import answer_at_once, current_labels, lasting_label, store_answers
from allpairs.db.schema.engine import reading, writing
from tests.helpers.factories import make_project
from tests.helpers.pages import open_review
from tests.helpers.people import make_member
from tests.helpers.projects.labels import NEGATIVE, POSITIVE, label_pairs
from tests.helpers.projects.results import item_ids

CHAIN = {
    (0, 1): POSITIVE,
    (1, 2): POSITIVE,
    (2, 3): POSITIVE,
    (0, 2): POSITIVE,
    (4, 5): POSITIVE,
    (5, 6): NEGATIVE,
    (0, 4): NEGATIVE,
}


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project in which texts 0 to 3 are one group by four labels, 4 and 5 another."""
    project_id = make_project(engine, [f"*text* {i}" for i in range(8)], auto_train=False)
    label_pairs(engine, project_id, CHAIN)
    return project_id


def answers(engine: Engine, project: int) -> dict[tuple[int, int], tuple[AnswerKind, str]]:
    """Return label and annotator of each pair, by positions of its texts."""
    place = {item: at for at, item in enumerate(item_ids(engine, project))}
    with reading(engine) as session:
        labels = current_labels(session, project)
    return {(place[label.left_id], place[label.right_id]): (label.answer, label.annotator) for label in labels}


def cut_off(engine: Engine, project: int, who: str, *places: int) -> int:
    """Split these texts off the first group and return how many labels this reviewer has changed."""
    items = item_ids(engine, project)
    cut = across(groups_of_labels(engine, project)[0].matches, {items[place] for place in places})
    return split(engine, project, who, {(label.left_id, label.right_id) for label in cut})


def test_groups_come_with_the_labels_that_make_them(engine: Engine, project: int) -> None:
    items = item_ids(engine, project)
    found = groups_of_labels(engine, project)
    assert [group.items for group in found] == [items[:4], items[4:6]]
    assert [len(group.matches) for group in found] == [4, 1]
    two_lists = make_project(engine, ["a"], ["b"], name="Two lists")
    label_pairs(engine, two_lists, {(0, 1): POSITIVE})
    assert groups_of_labels(engine, two_lists) == []
    assert groups_of_labels(engine, make_project(engine, ["a", "b"], name="No labels")) == []


def test_a_split_settles_the_labels_across_the_cut_and_no_others(engine: Engine, project: int) -> None:
    assert cut_off(engine, project, "eve", 2, 3) == 2
    labels = answers(engine, project)
    assert {pair: labels[pair] for pair in CHAIN} == {pair: (said, "ann") for pair, said in CHAIN.items()} | {
        (1, 2): (NEGATIVE, "eve"), (0, 2): (NEGATIVE, "eve")
    }  # fmt: skip
    assert [len(group.items) for group in groups_of_labels(engine, project)] == [2, 2, 2]
    assert queue(engine, project).disagreements == 0  # Ann and Eve differ, but Eve has settled it


def test_a_split_is_taken_back(engine: Engine, project: int) -> None:
    before = answers(engine, project)
    cut_off(engine, project, "eve", 3)
    last = last_split(engine, project, "eve")
    assert last is not None and last[1] == 1
    undo_split(engine, project, "eve", last[0])
    assert (answers(engine, project), last_split(engine, project, "eve")) == (before, None)
    cut_off(engine, project, "ann", 0, 1)  # who had answered these pairs herself
    last = last_split(engine, project, "ann")
    assert last is not None and answers(engine, project) != before
    undo_split(engine, project, "ann", last[0])
    assert answers(engine, project) == before


def test_what_was_changed_meanwhile_is_left_alone(engine: Engine, project: int) -> None:
    group = groups_of_labels(engine, project)[0]
    pairs = {(label.left_id, label.right_id) for label in group.matches}
    with writing(engine) as session:
        answer_at_once(session, project, "ben", sorted(pairs)[:3], NEGATIVE, "ben")
    assert split(engine, project, "eve", pairs) == 1
    with pytest.raises(InputError, match="changed in the meantime"):
        split(engine, project, "eve", pairs)


def test_only_who_reviews_may_split(engine: Engine, project: int) -> None:
    for role in (Role.ANNOTATOR, Role.VIEWER):
        with pytest.raises(Refused):
            cut_off(make_member(engine, project, role)[1], project, role.value, 3)
    assert cut_off(make_member(engine, project, Role.ADJUDICATOR)[1], project, "adjudicator", 3) == 1


def test_the_page_shows_what_stands_against_a_split_first(engine: Engine, project: int) -> None:
    items = item_ids(engine, project)
    page = open_review("show_groups")
    key = f"split_{project}_{items[0]}_4"
    assert [box.label for box in page.checkbox][:4] == [f"\\*text\\* {i}" for i in range(4)]
    for item in items[:4]:
        page.checkbox(key=f"{key}_{item}").check()
    page.run()
    assert any("All texts are ticked" in caption.value for caption in page.caption)
    for item in items[:3]:
        page.checkbox(key=f"{key}_{item}").uncheck()
    page.run()
    assert any("\\*text\\* 2 **=** \\*text\\* 3 *(ann)*" in text.value for text in page.markdown)
    page.button(key=f"{key}_do").click().run()
    assert not page.exception
    assert answers(engine, project)[2, 3] == (NEGATIVE, "me")
    page.button(key="undo_split").click().run()
    assert not page.exception and answers(engine, project)[2, 3] == (POSITIVE, "ann")


def test_undoing_a_split_does_not_silence_later_answers(engine: Engine, project: int) -> None:
    pair = item_ids(engine, project)[2], item_ids(engine, project)[3]
    with writing(engine) as session:
        answer_at_once(session, project, "eve", [pair], NEGATIVE, "early")
        answer_at_once(session, project, "ben", [pair], POSITIVE, "later")
    assert answers(engine, project)[2, 3] == (POSITIVE, "ben")
    cut_off(engine, project, "eve", 3)
    assert answers(engine, project)[2, 3] == (NEGATIVE, "eve")
    undo_split(engine, project, "eve", last_split(engine, project, "eve")[0])  # type: ignore[index]
    assert answers(engine, project)[2, 3] == (POSITIVE, "ben")


def test_a_settled_label_is_back_after_a_split_and_later_answers(engine: Engine, project: int) -> None:
    items = item_ids(engine, project)
    pair = items[2], items[3]
    with writing(engine) as session:
        label = lasting_label(session, project, *pair)
        assert label is not None
        store_answers(session, [settling(project, "eve", label, POSITIVE, "settled")])
        answer_at_once(session, project, "ben", [pair], NEGATIVE, "later")
    assert cut_off(engine, project, "eve", 3) == 1
    undo_split(engine, project, "eve", last_split(engine, project, "eve")[0])  # type: ignore[index]
    assert answers(engine, project)[2, 3] == (POSITIVE, "eve")


def test_texts_of_a_large_group_are_ticked_page_by_page(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(60)], auto_train=False)
    label_pairs(engine, project, {(i, i + 1): POSITIVE for i in range(59)})
    items = item_ids(engine, project)
    page = open_review("show_groups")
    key = f"split_{project}_{items[0]}_60"
    page.checkbox(key=f"{key}_{items[0]}").check().run()
    page.number_input(key=f"{key}_page").set_value(2).run()
    assert [box.label for box in page.checkbox] == [f"text {i}" for i in range(50, 60)]
    page.checkbox(key=f"{key}_{items[59]}").check().run()
    page.number_input(key=f"{key}_page").set_value(1).run()
    assert [box.label for box in page.checkbox if box.value] == ["text 0"]
    page.button(key=f"{key}_do").click().run()
    labels = answers(engine, project)
    assert {pair for pair, (said, _) in labels.items() if said == NEGATIVE} == {(0, 1), (58, 59)}

"""Acts on groups: what they store, what becomes of the groups, races, rights, and undo."""

from collections.abc import Sequence
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from allpairs.annotate.features.groups.decide import (
    confirm_group,
    last_act_of,
    merge_groups,
    split_group,
    undo_last_act,
)
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.db.domain import AnswerKind, Role
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import decided_pairs, known_by_decisions, standing_decisions, training_decisions
from allpairs.db.labels.answers import store_answers
from allpairs.db.projects.stable_groups import grouped_items, newest_update, wrong_groups
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item
from tests.helpers.factories import make_groups, make_project
from tests.helpers.machine import examples
from tests.helpers.people import make_member
from tests.helpers.services.webhooks import add_webhook, notices

WHO = "Ann"
NO_SHRINK = (Phase.explicit, Phase.reuse, Phase.generate)  # each example is a project in the database


def items_of(engine: Engine, project_id: int) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)))


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project of ten texts, the last four of them for measuring, in groups of four, three and two."""
    project_id = make_project(engine, [f"text {i}" for i in range(10)], evaluation=4)
    texts = items_of(engine, project_id)
    make_groups(engine, project_id, [texts[:4], texts[4:7], texts[7:9]])
    return project_id


@pytest.fixture
def texts(engine: Engine, project: int) -> list[int]:
    return items_of(engine, project)


def groups_of(engine: Engine, project_id: int) -> dict[int, int]:
    """Return the number of each text's group, by the place of the text."""
    first = items_of(engine, project_id)[0]
    with reading(engine) as session:
        assert not wrong_groups(session, project_id)
        items, numbers = grouped_items(session, project_id)
    return {item - first: number for item, number in zip(items, numbers, strict=True)}


def decisions_of(engine: Engine, project_id: int) -> dict[tuple[int, int], bool]:
    first = items_of(engine, project_id)[0]
    with reading(engine) as session:
        return {(a - first, b - first): same for (a, b), same in decided_pairs(session, project_id).items()}


BEFORE = {0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3}


def test_a_right_group_is_joined_by_as_few_pairs_as_can(engine: Engine, project: int, texts: list[int]) -> None:
    confirm_group(engine, project, WHO, texts[:4])
    assert decisions_of(engine, project) == {(0, 1): True, (0, 2): True, (0, 3): True}
    assert groups_of(engine, project) == BEFORE
    with reading(engine) as session:
        assert len(known_by_decisions(session, project)) == 6


def test_ticked_rows_become_a_group_of_their_own(engine: Engine, project: int, texts: list[int]) -> None:
    add_webhook(engine, project)
    split_group(engine, project, WHO, texts[:4], texts[2:4])
    apart = {(a, b): False for a in (0, 1) for b in (2, 3)}
    assert decisions_of(engine, project) == apart | {(0, 1): True}
    assert groups_of(engine, project) == BEFORE | {2: 4, 3: 4}
    ((kind, notice),) = notices(engine)
    assert kind == "group.changed" and notice["changes"] == {"divided": 1, "made": 1}
    with reading(engine) as session:
        update = newest_update(session, project)
    assert update is not None and (update.groups, update.texts) == (4, 9)


def test_rows_may_each_be_alone(engine: Engine, project: int, texts: list[int]) -> None:
    split_group(engine, project, WHO, texts[:4], texts[2:4], each_alone=True)
    assert decisions_of(engine, project)[2, 3] is False
    assert groups_of(engine, project) == {place: number for place, number in BEFORE.items() if place not in (2, 3)}


@pytest.mark.parametrize("ticked", [[], [0, 1, 2, 3]])
def test_a_split_needs_some_rows_but_not_all(engine: Engine, project: int, texts: list[int], ticked: list[int]) -> None:
    with pytest.raises(InputError, match="tick the rows"):
        split_group(engine, project, WHO, texts[:4], [texts[place] for place in ticked])
    assert decisions_of(engine, project) == {}


def test_a_merge_replaces_what_kept_groups_apart(engine: Engine, project: int, texts: list[int]) -> None:
    split_group(engine, project, WHO, texts[:4], texts[3:4])
    merge_groups(engine, project, WHO, texts[:3], texts[3:4])
    assert all(decisions_of(engine, project).values())
    assert groups_of(engine, project) == BEFORE
    merge_groups(engine, project, WHO, texts[:4], texts[9:])  # a text that was alone, for measuring
    assert groups_of(engine, project) == BEFORE | {9: 1}
    merge_groups(engine, project, WHO, [*texts[:4], texts[9]], texts[4:7])
    assert groups_of(engine, project) == {place: 3 if place in (7, 8) else 1 for place in range(10)}


def test_undo_takes_acts_back_one_by_one_with_their_ids(engine: Engine, project: int, texts: list[int]) -> None:
    confirm_group(engine, project, WHO, texts[:4])
    split_group(engine, project, WHO, texts[7:9], texts[8:9])  # the group ends
    merge_groups(engine, project, WHO, texts[:4], texts[4:7])  # the second one ends
    confirm_group(engine, project, "Bob", [*texts[:4], *texts[4:7]])
    assert undo_last_act(engine, project, WHO) is not None
    assert groups_of(engine, project) == dict.fromkeys(range(7), 1)  # Bob says so, too
    assert undo_last_act(engine, project, "Bob") is not None
    assert undo_last_act(engine, project, WHO) is not None
    assert groups_of(engine, project)[8] == 3
    assert undo_last_act(engine, project, WHO) is not None
    assert undo_last_act(engine, project, WHO) is None and last_act_of(engine, project, WHO) is None
    assert decisions_of(engine, project) == {}


def test_a_merge_is_undone_to_the_same_ids(engine: Engine, project: int, texts: list[int]) -> None:
    merge_groups(engine, project, WHO, texts[4:7], texts[:4])
    assert groups_of(engine, project) == BEFORE | dict.fromkeys((4, 5, 6), 1)
    undo_last_act(engine, project, WHO)
    assert groups_of(engine, project) == BEFORE


def test_who_comes_second_is_told_to_look_again(engine: Engine, project: int, texts: list[int]) -> None:
    split_group(engine, project, WHO, texts[:4], texts[3:4])
    before = decisions_of(engine, project)
    with pytest.raises(InputError, match="look at it again"):
        split_group(engine, project, "Bob", texts[:4], texts[:1])
    with pytest.raises(InputError, match="look at it again"):
        confirm_group(engine, project, "Bob", texts[:4])
    with pytest.raises(InputError, match="look at it again"):
        merge_groups(engine, project, "Bob", texts[4:7], texts[2:3])
    assert decisions_of(engine, project) == before


def test_a_viewer_decides_nothing(engine: Engine, project: int, texts: list[int]) -> None:
    _, viewer = make_member(engine, project, Role.VIEWER)
    with pytest.raises(Refused):
        confirm_group(viewer, project, "Vera", texts[:4])
    assert decisions_of(engine, project) == {}


def test_a_newer_label_of_the_pair_counts_instead(engine: Engine, project: int, texts: list[int]) -> None:
    answer = {"project_id": project, "annotator": WHO, "answer": AnswerKind.NEGATIVE}
    with writing(engine) as session:
        store_answers(session, [answer | {"left_id": texts[1], "right_id": texts[2], "key": "before"}])
    confirm_group(engine, project, WHO, texts[:4])
    assert decisions_of(engine, project)[1, 2] is True  # also of a pair that was answered with no
    with writing(engine) as session:
        store_answers(session, [answer | {"left_id": texts[0], "right_id": texts[3], "key": "after"}])
    assert (0, 3) not in decisions_of(engine, project)


def test_an_act_on_a_large_group_trains_few_pairs(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(60)], evaluation=10)
    texts = items_of(engine, project)
    make_groups(engine, project, [texts[:55]])
    split_group(engine, project, WHO, texts[:55], texts[40:55])
    with reading(engine) as session:
        assert len(standing_decisions(session, project)) == 39 + 40 * 15
        training = training_decisions(session, project)
    assert len(training) == 49 and sum(decision.same for decision in training) == 39
    assert {item for decision in training for item in decision.pair} == set(texts[:50])


def test_two_lists_are_joined_and_divided_across(engine: Engine) -> None:
    project = make_project(engine, ["a", "b", "c"], ["x", "y"])
    a, b, c, x, y = items_of(engine, project)
    make_groups(engine, project, [[a, b, x, y]])
    with pytest.raises(InputError, match="look at it again"):
        confirm_group(engine, project, WHO, [a, x])
    split_group(engine, project, WHO, [a, b, x, y], [b, y])
    assert decisions_of(engine, project) == {(0, 3): True, (0, 4): False, (1, 3): False}
    assert groups_of(engine, project) == {0: 1, 3: 1, 1: 2, 4: 2}
    split_group(engine, project, WHO, [b, y], [y])
    assert groups_of(engine, project) == {0: 1, 3: 1}
    with pytest.raises(InputError, match="same list"):
        merge_groups(engine, project, WHO, [b], [c])
    merge_groups(engine, project, WHO, [a, x], [c])
    assert groups_of(engine, project) == {0: 1, 3: 1, 2: 1}


@settings(
    max_examples=examples(40),
    deadline=None,
    phases=NO_SHRINK,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_groups_agree_with_all_decisions_after_any_acts(engine: Engine, data: st.DataObject) -> None:
    project = make_project(engine, [f"text {i}" for i in range(9)], name=uuid4().hex)
    texts = items_of(engine, project)
    make_groups(engine, project, [texts[:4], texts[4:7], texts[7:9]])
    for _ in range(data.draw(st.integers(1, 8))):
        who = data.draw(st.sampled_from(["Ann", "Bob"]))
        before = groups_of(engine, project)
        act_once(engine, project, who, data, before, texts)
        require_agreement(engine, project, texts[0])
    before = groups_of(engine, project)
    if act_once(engine, project, "Ann", data, before, texts):
        undo_last_act(engine, project, "Ann")
        assert groups_of(engine, project) == before


def act_once(
    engine: Engine, project: int, who: str, data: st.DataObject, now: dict[int, int], texts: Sequence[int]
) -> bool:
    """Do one act, of those that are possible; return whether it can be undone."""
    parts: dict[int, list[int]] = {}
    for place in range(len(texts)):
        parts.setdefault(now.get(place, -place), []).append(texts[place])
    first = data.draw(st.sampled_from(sorted(parts.values())))
    match data.draw(st.sampled_from(["right", "split", "alone", "merge", "undo"])):
        case "right" if len(first) > 1:
            confirm_group(engine, project, who, first)
        case "split" | "alone" as how if len(first) > 1:
            ticked = data.draw(st.sets(st.sampled_from(first), min_size=1, max_size=len(first) - 1))
            split_group(engine, project, who, first, ticked, each_alone=how == "alone")
        case "merge" if len(parts) > 1:
            other = data.draw(st.sampled_from(sorted(part for part in parts.values() if part != first)))
            merge_groups(engine, project, who, first, other)
        case _:
            undo_last_act(engine, project, who)
            return False
    return True


def require_agreement(engine: Engine, project: int, first: int) -> None:
    number = groups_of(engine, project)
    with reading(engine) as session:
        known = known_by_decisions(session, project)
        assert decided_pairs(session, project).items() <= known.items()
    for (a, b), same in known.items():
        joined = number.get(a - first) is not None and number.get(a - first) == number.get(b - first)
        assert joined == same

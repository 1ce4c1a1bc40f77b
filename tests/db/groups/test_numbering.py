"""Stable numbers of groups: who keeps which, by brute force on small cases, and what the changes say."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from allpairs.db.domain import GroupEvent
from allpairs.db.groups.numbering import Change, Numbered, changes_by_number, renumbered
from tests.helpers.machine import examples

Parts = dict[int, int]  # text to group
ITEMS = st.integers(1, 12)
GROUPS = st.dictionaries(ITEMS, st.integers(0, 4))  # a text that is missing is alone, or was withdrawn
HISTORY = st.lists(GROUPS, min_size=1, max_size=5)


def given_groups(parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    return np.array(list(parts), dtype=np.int64), np.array(list(parts.values()), dtype=np.int64)


def after(history: list[Parts]) -> list[Numbered]:
    """Return the groups after each update, whose numbers follow on the highest that there ever was."""
    found, highest = [Numbered.none()], 0
    for parts in history:
        found.append(renumbered(found[-1], *given_groups(parts), highest + 1))
        highest = max(highest, found[-1].number.max(initial=0))
    return found


def members(found: Numbered) -> dict[int, set[int]]:
    texts: dict[int, set[int]] = {}
    for item, number in zip(found.items.tolist(), found.number.tolist(), strict=True):
        texts.setdefault(number, set()).add(item)
    return texts


def parts_of(parts: Parts) -> list[set[int]]:
    """Return the groups, by their smallest texts."""
    texts: dict[int, set[int]] = {}
    for item, group in parts.items():
        texts.setdefault(group, set()).add(item)
    return sorted(texts.values(), key=min)


def by_the_rule(before: Numbered, parts: Parts, unused: int) -> dict[int, set[int]]:
    """Return the new groups, pairing again and again the two that share the most, as the rule says."""
    old, new, found = dict(sorted(members(before).items())), parts_of(parts), dict[int, set[int]]()
    while old and new:
        shared, number, place = max((len(old[a] & b), -a, -i) for a in old for i, b in enumerate(new))
        if not shared:
            break
        found[-number] = new.pop(-place)
        del old[-number]
    return found | {unused + i: one for i, one in enumerate(new)}


@settings(max_examples=examples(300))
@given(HISTORY)
def test_numbers_are_those_of_the_rule(history: list[Parts]) -> None:
    highest = 0
    for before, parts, now in zip(after(history), history, after(history)[1:], strict=False):
        assert members(now) == by_the_rule(before, parts, highest + 1)
        assert now.items.tolist() == sorted(now.items.tolist())
        highest = max(highest, now.number.max(initial=0))


@settings(max_examples=examples(200))
@given(HISTORY, GROUPS, st.permutations(range(5)), st.permutations(range(1, 13)))
def test_the_names_and_the_order_of_what_is_given_change_nothing(
    history: list[Parts], last: Parts, names: list[int], order: list[int]
) -> None:
    turned = {item: names[last[item]] for item in order if item in last}
    plain, other = (renumbered(after(history)[-1], *given_groups(parts), 100) for parts in (last, turned))
    assert members(plain) == members(other)


@settings(max_examples=examples(200))
@given(HISTORY)
def test_untouched_groups_keep_numbers_and_none_is_used_again(history: list[Parts]) -> None:
    found = after(history)
    ended: set[int] = set()
    for before, now in pairwise(found):
        was, there = members(before), members(now)
        for number, texts in was.items():
            if texts in there.values():
                assert there[number] == texts
        ended |= was.keys() - there.keys()
        assert not ended & there.keys()


@settings(max_examples=examples(200))
@given(HISTORY, st.integers(0, 5))
def test_the_changes_from_any_moment_on_lead_to_the_groups(history: list[Parts], moment: int) -> None:
    found = after(history)
    texts = {number: set(one) for number, one in members(found[min(moment, len(history))]).items()}
    for before, now in pairwise(found[min(moment, len(history)) :]):
        seen: set[int] = set()
        for change in changes_by_number(before, now):
            assert change.number not in seen
            seen.add(change.number)
            held = texts.setdefault(change.number, set())
            assert len(held) == change.before and held >= set(change.items_removed)
            texts[change.number] = (held - set(change.items_removed)) | set(change.items_added)
            assert len(texts[change.number]) == change.size
            if not change.size:
                del texts[change.number]
        assert texts == members(now)
        assert seen == {n for n in texts | members(before) if members(before).get(n) != texts.get(n)}


@settings(max_examples=examples(100))
@given(GROUPS, GROUPS)
def test_at_least_half_as_many_texts_keep_their_number_as_could(before: Parts, parts: Parts) -> None:
    first, now = after([before, parts])[1:]
    was, there = members(first), members(now)
    shares = np.array([[len(one & other) for other in there.values()] for one in was.values()]).reshape(
        len(was), len(there)
    )
    kept = sum(len(texts & there.get(number, set())) for number, texts in was.items())
    assert 2 * kept >= shares[linear_sum_assignment(shares, maximize=True)].sum()


def told(before: Parts, now: Parts) -> dict[int, Change]:
    first = renumbered(Numbered.none(), *given_groups(before), 1)
    return {one.number: one for one in changes_by_number(first, renumbered(first, *given_groups(now), 10))}


def test_two_groups_join_under_the_id_of_the_larger_one() -> None:
    found = told({1: 1, 2: 1, 3: 2, 4: 2, 5: 2}, {1: 1, 2: 1, 3: 1, 4: 1, 5: 1})
    assert found == {
        1: Change(1, GroupEvent.ENDED, 2, 0, [], [2], [], [1, 2]),
        2: Change(2, GroupEvent.JOINED, 3, 5, [1], [], [1, 2], []),
    }


def test_of_equal_ones_the_smaller_number_stays() -> None:
    found = told({1: 1, 2: 1, 3: 2, 4: 2}, {1: 1, 2: 1, 3: 1, 4: 1})
    assert (found[1].event, found[2].event) == (GroupEvent.JOINED, GroupEvent.ENDED)


def test_a_group_divides_and_its_largest_part_keeps_the_id() -> None:
    found = told(dict.fromkeys(range(1, 6), 1), {1: 1, 2: 1, 3: 2, 4: 2, 5: 2})
    assert found == {
        1: Change(1, GroupEvent.DIVIDED, 5, 3, [], [10], [], [1, 2]),
        10: Change(10, GroupEvent.CREATED, 0, 2, [1], [], [1, 2], []),
    }


def test_texts_come_and_go() -> None:
    before = {1: 1, 2: 1, 3: 2, 4: 2, 5: 2, 6: 3, 7: 3, 8: 4, 9: 4, 20: 5, 21: 5}
    found = told(before, {1: 1, 2: 1, 10: 1, 3: 2, 4: 2, 9: 4, 11: 4, 20: 5, 21: 5})
    assert {number: (one.event, one.before, one.size) for number, one in found.items()} == {
        1: (GroupEvent.GROWN, 2, 3),
        2: (GroupEvent.SHRUNK, 3, 2),
        3: (GroupEvent.ENDED, 2, 0),  # one text of it is left
        4: (GroupEvent.CHANGED, 2, 2),
    }

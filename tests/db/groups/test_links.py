"""What follows from decisions on pairs, and groups that agree with them."""

from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.groups.links import TextLinks, agreeing_parts, connecting_pairs, with_implied_decisions

PAIRS = st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1])


def test_chains_join_and_what_is_kept_apart_from_one_is_from_all() -> None:
    implied = with_implied_decisions({(1, 2): True, (3, 2): True, (3, 7): False})
    assert implied == {(1, 2): True, (2, 3): True, (1, 3): True, (3, 7): False, (1, 7): False, (2, 7): False}
    assert with_implied_decisions({}) == {}


def test_a_contradiction_is_named() -> None:
    decisions = {(1, 2): True, (2, 3): True, (1, 3): False}
    assert TextLinks(decisions).contradicted(decisions) == [(1, 3)]


def test_pairs_of_one_act_connect_its_texts() -> None:
    assert connecting_pairs([(1, 2), (1, 3), (2, 3), (1, 4), (2, 4)]) == {(1, 2), (1, 3), (1, 4)}


@given(st.dictionaries(PAIRS, st.booleans()), st.lists(st.none() | st.integers(1, 3), min_size=9, max_size=9))
def test_parts_agree_with_decisions(decisions: dict[tuple[int, int], bool], numbers: list[int | None]) -> None:
    links = TextLinks(decisions)
    sound = {pair: same for pair, same in decisions.items() if pair not in links.contradicted(decisions)}
    parts = agreeing_parts(dict(enumerate(numbers)), TextLinks(sound))
    part_of = {item: place for place, part in enumerate(parts) for item in part}
    assert sorted(part_of) == list(range(9))
    for (a, b), same in sound.items():
        assert (part_of[a] == part_of[b]) == same
    if not decisions:
        assert len(parts) == len({number for number in numbers if number}) + numbers.count(None)

"""Labels implied by transitivity, against the definition, and conflicting labels."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus import implied as module
from allpairs.db.corpus.implied import Implied, LabelLinks, implied, links_of
from allpairs.db.errors import InputError

Labels = dict[tuple[int, int], bool]


def links_between(labels: Labels) -> LabelLinks:
    return links_of(np.array(list(labels), dtype=np.int64).reshape(-1, 2), np.array(list(labels.values()), dtype=bool))


def of(labels: Labels) -> Implied:
    return implied(np.array(list(labels), dtype=np.int64).reshape(-1, 2), np.array(list(labels.values()), dtype=bool))


def as_dict(found: Implied) -> Labels:
    return {
        (left, right): bool(match) for (left, right), match in zip(found.pairs.tolist(), found.positive, strict=True)
    }


def test_matches_and_others_follow() -> None:
    found = of({(10, 20): True, (20, 30): True, (30, 40): False, (50, 60): False})
    assert as_dict(found) == {(10, 30): True, (10, 40): False, (20, 40): False}
    links = links_between({(10, 20): True, (20, 30): True, (30, 40): False, (50, 60): False})
    assert (links.groups, links.matches, links.others, links.contradictions(9)) == (1, 1, 2, [])


def test_a_contradiction_has_its_shortest_path_and_no_results() -> None:
    labels = {(1, 2): True, (2, 3): True, (3, 4): True, (2, 4): True, (1, 4): False, (4, 9): False, (7, 8): True}
    (one,) = links_between(labels).contradictions(9)
    assert (one.left, one.right, one.path) == (1, 4, (1, 2, 4))
    assert as_dict(of(labels | {(5, 7): True})) == {(5, 8): True}


def test_no_labels_imply_nothing() -> None:
    links = links_between({})
    assert of({}).pairs.shape == (0, 2)
    assert (links.groups, links.matches, links.others, links.contradictions(9)) == (0, 0, 0, [])


def test_too_many_are_refused_but_contradictions_are_still_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    labels = {(1, 2): True, (2, 3): True, (3, 4): True, (5, 6): True, (6, 7): True, (5, 7): False}
    with pytest.raises(InputError, match=r"3 pairs, .* limit is 2; .* 4 texts"):
        of(labels)
    assert [one.path for one in links_between(labels).contradictions(9)] == [(5, 6, 7)]


@given(st.dictionaries(st.sampled_from(list(combinations(range(7), 2))), st.booleans(), max_size=12))
def test_everything_that_follows_follows(labels: Labels) -> None:
    same = {item: {item} for item in range(7)}
    for (one, other), match in labels.items():
        if match:
            joined = same[one] | same[other]
            for item in joined:
                same[item] = joined
    clashing = {
        item for (one, other), match in labels.items() if not match and other in same[one] for item in same[one]
    }
    expected: Labels = {}
    for one, other in combinations(range(7), 2):
        if (one, other) in labels or {one, other} & clashing:
            continue
        if other in same[one]:
            expected[one, other] = True
        elif any(not match and {a, b} & same[one] and {a, b} & same[other] for (a, b), match in labels.items()):
            expected[one, other] = False
    links = links_between(labels)
    assert as_dict(of(labels)) == expected
    assert [links.matches, links.others] == [list(expected.values()).count(match) for match in (True, False)]
    assert len(links.contradictions(99)) == sum(not match and b in same[a] for (a, b), match in labels.items())
    for one in links.contradictions(99):
        assert all(labels[min(step), max(step)] for step in pairwise(one.path))
        assert (one.path[0], one.path[-1]) == (one.left, one.right)

"""The links that groups are made from: matches, and weaker pairs that count between groups."""

import numpy as np

from allpairs.db.domain import Clustering
from allpairs.learner.jobs.match_links import with_weak
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.links import Links
from allpairs.learner.search.exact import Pairs


def pairs(*rows: tuple[int, int, float]) -> Pairs:
    left, right, score = zip(*rows, strict=True)
    return Pairs(np.array(left), np.array(right), np.array(score, dtype=np.float32))


def test_weak_pairs_hold_a_group_together_and_make_none() -> None:
    matches = Links(5, np.array([0, 0]), np.array([1, 2]), np.array([0.9, 0.8]))
    assert clustered(matches, Clustering.AVERAGE, 0.5).tolist() == [0, 0, 2, 3, 4]
    links = with_weak(matches, pairs((1, 2, 0.3), (3, 4, 0.4)), None)
    assert clustered(links, Clustering.AVERAGE, 0.5).tolist() == [0, 0, 0, 3, 4]


def test_a_weak_pair_that_people_made_a_match_is_one_link() -> None:
    matches = Links(3, np.array([0]), np.array([1]), np.array([0.2]))
    links = with_weak(matches, pairs((0, 1, 0.2), (1, 2, 0.3)), None)
    assert (links.left.tolist(), links.right.tolist()) == ([0, 1], [1, 2])

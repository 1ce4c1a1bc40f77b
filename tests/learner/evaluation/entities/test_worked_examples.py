"""The estimates of an entity audit against the formulas, written out anew over sets of texts and of pairs.

Precision and recall of pairs from drawn entities are the ratio estimators of Binette et al. (2023): of each entity its
right pairs, over these and half of the wrong pairs that touch it, or over all its pairs; both sums weighted by the
inverse of its chance. B³ and the measure of whole groups are weighted likewise, from their definitions.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

from allpairs.learner.evaluation.entities.drawing import Bands, Plan, draw_pairs
from allpairs.learner.evaluation.entities.figures import TextDraws, entity_figures, sums
from allpairs.learner.evaluation.entities.sample import EntitySample, draw_unseen, grouped
from tests.helpers.entity_samples import World, make_world


class Even(np.random.Generator):
    """A generator under which a bootstrap leaves every text its weight."""

    def standard_gamma(self, shape: Any, size: Any = None, **_: Any) -> Any:
        return np.ones(size)


def pairs_of(of: np.ndarray) -> set[tuple[int, int]]:
    return {(i, j) for i, j in combinations(range(len(of)), 2) if of[i] == of[j]}


def estimated(world: World, texts: np.ndarray, weight: np.ndarray) -> dict[str, float]:
    """Return the estimates from these texts, all of whose pairs are labelled."""
    corpus, bands = world.corpus(0), Bands(np.array([-np.inf]), np.ones(1))
    pairs = [draw_pairs(corpus, bands, world.group, text) for text in texts.tolist()]
    sample = EntitySample.answered(corpus, Plan(bands, texts, weight, pairs), world.entity)
    draws = draw_unseen(sample, np.random.default_rng(0), 2)
    found = entity_figures(draws, grouped(sample, world.group), True, Even(np.random.PCG64(0)))
    return {name: one.value for name, one in found.items()}


@pytest.mark.parametrize("seed", range(3))
def test_drawn_entities_give_the_ratio_estimators_of_binette(seed: int) -> None:
    world, rng = make_world(80, noise=0.14, least=0.45), np.random.default_rng(seed)
    drawn = rng.choice(np.unique(world.entity), 12, replace=False)
    weight = dict(zip(drawn.tolist(), rng.uniform(1, 6, 12).tolist(), strict=True))  # the inverse of its chance
    texts = np.flatnonzero(np.isin(world.entity, drawn))
    found, true = pairs_of(world.group), pairs_of(world.entity)
    right, of_found, of_true, wholes, entities = 0.0, 0.0, 0.0, 0.0, 0.0
    groups = {frozenset(np.flatnonzero(world.group == one).tolist()) for one in world.group.tolist()}
    for entity, w in weight.items():
        mine = frozenset(np.flatnonzero(world.entity == entity).tolist())
        inside = {pair for pair in found & true if mine.issuperset(pair)}
        touching = {pair for pair in found - true if mine & set(pair)}
        right += w * len(inside)
        of_found += w * (len(inside) + len(touching) / 2)
        of_true += w * len(mine) * (len(mine) - 1) / 2
        wholes += w * (mine in groups)
        entities += w
    figure = estimated(world, texts, np.array([weight[one] for one in world.entity[texts].tolist()]))
    precision, recall = right / of_found, right / of_true
    assert 0 < precision < 1 and 0 < recall < 1  # the example has errors of both kinds
    assert figure["pairwise_precision"] == pytest.approx(precision)
    assert figure["pairwise_recall"] == pytest.approx(recall)
    assert figure["pairwise_f1"] == pytest.approx(2 / (1 / precision + 1 / recall))
    assert figure["cluster_recall"] == pytest.approx(wholes / entities)


@pytest.mark.parametrize("seed", range(3))
def test_drawn_texts_give_weighted_means(seed: int) -> None:
    world, rng = make_world(80, noise=0.14, least=0.45), np.random.default_rng(seed)
    texts, weight = rng.choice(80, 25, replace=False), rng.uniform(1, 6, 25)
    groups, entities = ([set(np.flatnonzero(of == one)) for one in of] for of in (world.group, world.entity))
    parts = [(groups[text], entities[text]) for text in texts.tolist()]
    figure = estimated(world, texts, weight)
    precisions, recalls = zip(*((len(a & b) / len(a), len(a & b) / len(b)) for a, b in parts), strict=True)
    assert figure["b_cubed_precision"] == pytest.approx(np.average(precisions, weights=weight))
    assert figure["b_cubed_recall"] == pytest.approx(np.average(recalls, weights=weight))
    stands = weight / [len(a) for a, _ in parts]  # for so many groups
    assert figure["cluster_precision"] == pytest.approx(np.average([a == b for a, b in parts], weights=stands))


GROUP, ENTITY = np.array([0, 0, 0, 1, 1, 2, 3]), np.array([0, 0, 1, 2, 2, 3, 3])
RATE = np.sqrt(np.bincount(GROUP)[GROUP])  # as texts are drawn: by the square root of their group's size
DRAWN = 3


def all_draws() -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield every order in which texts can be drawn, one after the other by their rates, and its probability."""
    for order in permutations(range(len(RATE)), DRAWN):
        left, p = float(RATE.sum()), 1.0
        for text in order:
            p *= RATE[text] / left
            left -= RATE[text]
        yield order, p


def test_sums_are_on_average_over_all_draws_those_of_the_truth() -> None:
    chance: Counter[int] = Counter()
    for order, p in all_draws():
        for text in order:
            chance[text] += p  # type: ignore[assignment]
    assert sum(chance.values()) == pytest.approx(DRAWN) and chance[0] > 1.5 * chance[5]
    mean: dict[str, np.ndarray] = {}
    groups, entities = ([set(np.flatnonzero(of == one)) for one in of] for of in (GROUP, ENTITY))
    for order, p in all_draws():
        weight = np.array([[1 / chance[text] for text in order]])
        sizes = ([[len(of[text]) for text in order]] for of in (groups, entities))
        both = [[len(groups[text] & entities[text]) for text in order]]
        for name, two in sums(TextDraws(weight, *map(np.array, sizes), np.array(both)), whole=True).items():
            mean[name] = mean.get(name, 0) + p * np.array([one.item() for one in two])
    found, true = pairs_of(GROUP), pairs_of(ENTITY)
    right = 2 * len(found & true)  # from either of its texts
    shares = [
        [len(a & b) / len(of) for a, b, of in zip(groups, entities, each, strict=True)] for each in (groups, entities)
    ]
    exact = len({frozenset(a) for a in groups} & {frozenset(b) for b in entities})
    assert exact == 1
    assert {name: pytest.approx(two) for name, two in mean.items()} == {
        "b_cubed_precision": [sum(shares[0]), 7],
        "b_cubed_recall": [sum(shares[1]), 7],
        "pairwise_precision": [right, 2 * len(found)],
        "pairwise_recall": [right, 2 * len(true)],
        "cluster_precision": [exact, 4],
        "cluster_recall": [exact, 4],
    }

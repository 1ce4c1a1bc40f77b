"""Texts with true entities and vectors near those of their entity, and samples of them, for tests of entity audits."""

from dataclasses import dataclass

import numpy as np

from allpairs.db.domain import Clustering
from allpairs.learner.evaluation.audit.ranking import Ranking, rank_all
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.entities.drawing import Bands, Plan, TextPopulation, draw_pairs, draw_plan
from allpairs.learner.evaluation.entities.sample import EntitySample
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.links import Links
from allpairs.learner.search.top_pairs import best_pairs


@dataclass(frozen=True)
class World:
    """Texts whose truth is known: their sides, entity and found group, (n,) each, and ranking."""

    sides: Sides
    entity: np.ndarray
    group: np.ndarray
    ranking: Ranking

    def corpus(self, seed: int) -> TextPopulation:
        return TextPopulation(self.sides, seed)


def make_world(n: int = 400, two_lists: bool = False, noise: float = 0.11, least: float = 0.55) -> World:
    """Return n texts in entities of one to five; their groups connect the pairs of this cosine or more."""
    rng = np.random.default_rng(0)
    entity = np.repeat(np.arange(n), rng.integers(1, 6, n))[:n]
    entity = rng.permutation(entity)
    vectors = rng.standard_normal((n, 48))[entity] / 7 + noise * rng.standard_normal((n, 48))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    ids, first = np.arange(n), n // 2 if two_lists else n
    left, right = vectors[:first], vectors[first:] if two_lists else vectors
    sides = Sides(left, right, ids[:first], ids[first:] if two_lists else ids, not two_lists)
    found = best_pairs(left, right, not two_lists, threshold=least)
    links = Links(n, found.left, found.right + (first if two_lists else 0), found.score.astype(np.float64))
    return World(sides, entity, clustered(links, Clustering.CONNECTED, least), rank_all(left, right, not two_lists))


def drawn(world: World, n: int, seed: int) -> EntitySample:
    """Return a sample of n texts, all of whose drawn pairs are answered with the truth."""
    corpus = world.corpus(seed)
    return EntitySample.answered(corpus, draw_plan(corpus, world.ranking, world.group, n), world.entity)


def complete(world: World) -> EntitySample:
    """Return all texts with all their pairs, answered with the truth."""
    corpus, n = world.corpus(0), len(world.entity)
    bands = Bands(np.array([-np.inf]), np.ones(1))
    pairs = [draw_pairs(corpus, bands, world.group, text) for text in range(n)]
    return EntitySample.answered(corpus, Plan(bands, np.arange(n), np.ones(n), pairs), world.entity)

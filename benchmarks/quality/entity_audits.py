"""How near the figures of entity audits come to the truth, and how often their intervals hold it.

    python -m benchmarks.quality.entity_audits [--data out/data] [--draws 500] [--texts 20 50] [--sets demo …]

On sets whose true groups are known: matches are the pairs with the cosine of the bundled encoder that has the best F1,
and make groups by connected components and average linkage. Each draw is an entity audit of other texts, answered with
the truth. Prints a table in Markdown: truth, bias, root mean squared error, width of the 95 % intervals, and the share
of them that hold the truth.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from allpairs.db.corpus import graph
from allpairs.db.corpus.corpus import Corpus as Texts
from allpairs.db.domain import Clustering, Kind, Side
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.entities.drawing import TextPopulation, draw_plan
from allpairs.learner.evaluation.entities.figures import entity_figures
from allpairs.learner.evaluation.entities.sample import EntitySample, draw_unseen, grouped
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.links import Links
from allpairs.learner.light.groups.measures import PrecisionRecall, clusters, pairwise
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.search.top_pairs import best_pairs
from benchmarks.quality.clusterings import corpora

CLUSTERINGS = (Clustering.CONNECTED, Clustering.AVERAGE)
MOST = 200_000  # pairs, the most similar ones, among which the threshold lies
HEAD = ("set", "groups", "texts", "labels", "figure", "truth", "bias", "RMSE", "width", "covered")


@dataclass(frozen=True)
class World:
    """A set with its true entity and found groups, (n,) each."""

    name: str
    sides: Sides
    entity: np.ndarray
    groups: dict[Clustering, np.ndarray]


def main() -> None:
    """Print the table, one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("out/data"))
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--texts", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--sets", nargs="+", default=[])
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    for name, corpus in corpora(arguments.data, 3_000):
        if not arguments.sets or name in arguments.sets:
            world = world_of(name, corpus, load_encoder().encode([item.text for item in corpus.items]))
            for n in arguments.texts:
                for line in lines(world, n, arguments.draws):
                    print(line, flush=True)


def world_of(name: str, texts: Texts, vectors: np.ndarray) -> World:
    """Return the set with the groups that its best matches make."""
    second = np.array([item.side == Side.RIGHT for item in texts.items])
    symmetric = texts.kind == Kind.SYMMETRIC
    first = len(texts.items) if symmetric else int((~second).sum())
    assert symmetric or not second[:first].any()  # the left texts come first
    left = vectors[:first]
    right = vectors if symmetric else vectors[first:]
    ids = np.arange(len(texts.items))
    sides = Sides(left, right, ids[:first], ids if symmetric else ids[first:], symmetric)
    gold = np.array([(pair.left, pair.right) for pair in texts.gold if pair.positive], dtype=np.int64)
    entity = graph.components(len(ids), gold)
    found = best_pairs(left, right, symmetric, top=MOST)
    shift = 0 if symmetric else first
    same = entity[found.left] == entity[found.right + shift]
    kept = int((np.cumsum(same) / (np.arange(len(same)) + 1 + len(gold))).argmax()) + 1
    links = Links(
        len(ids),
        found.left[:kept],
        found.right[:kept] + shift,
        found.score[:kept].astype(np.float64),
        second=None if symmetric else second,
    )
    least = float(found.score[kept - 1])
    return World(name, sides, entity, {how: clustered(links, how, least) for how in CLUSTERINGS})


def lines(world: World, n: int, draws: int) -> Iterator[str]:
    """Yield the table's lines for audits of n texts."""
    ranking = rank_all(world.sides.left, world.sides.right, world.sides.symmetric)
    truth = {(how, name): value for how, group in world.groups.items() for name, value in _truth(world, group).items()}
    labels = []
    found = []
    for seed in range(draws):
        corpus = TextPopulation(world.sides, seed)
        plan = draw_plan(corpus, ranking, world.groups[Clustering.CONNECTED], n)
        sample = EntitySample.answered(corpus, plan, world.entity)
        labels.append(len(sample.pairs))
        found.append(_measured(sample, world, seed))
    for key, exact in truth.items():
        value, low, high = np.array([one[key] for one in found]).T
        cells = [
            world.name,
            key[0].value,
            str(n),
            f"{np.mean(labels):.0f}",
            key[1],
            f"{exact:.3f}",
            f"{(value - exact).mean():+.3f}",
            f"{np.sqrt(((value - exact) ** 2).mean()):.3f}",
            f"{(high - low).mean():.3f}",
            f"{((low <= exact) & (exact <= high)).mean():.3f}",
        ]
        yield f"| {' | '.join(cells)} |"


def _measured(sample: EntitySample, world: World, seed: int) -> dict[tuple[Clustering, str], Sequence[float]]:
    """Return value, low and high of each figure of each clustering's groups."""
    unseen = draw_unseen(sample, np.random.default_rng(seed))
    found: dict[tuple[Clustering, str], Sequence[float]] = {}
    for how, group in world.groups.items():
        rng = np.random.default_rng([seed, 1])
        for name, one in entity_figures(unseen, grouped(sample, group), world.sides.symmetric, rng).items():
            found[how, name] = (one.value, one.low, one.high)
    return found


def _truth(world: World, group: np.ndarray) -> dict[str, float]:
    """Return the exact figures; B³ of two lists is over the texts of the other list."""
    corpus = TextPopulation(world.sides, 0)
    second = TextPopulation(world.sides, 0).second
    of_each = []
    for text in range(len(corpus)):
        others = corpus.partners(text)
        same = group[others] == group[text]
        true = world.entity[others] == world.entity[text]
        of_each.append((1 + same.sum(), 1 + true.sum(), 1 + (same & true).sum()))
    grouped_, entity, both = np.array(of_each, dtype=np.float64).T
    found = {"b_cubed": PrecisionRecall(float((both / grouped_).mean()), float((both / entity).mean()))}
    found["pairwise"] = pairwise(group, world.entity, second)
    if world.sides.symmetric:
        found["cluster"] = clusters(group, world.entity)
    return {
        f"{name}_{part}": float(getattr(one, part))
        for name, one in found.items()
        for part in ("precision", "recall", "f1")
    }


if __name__ == "__main__":
    main()

from dataclasses import replace

import numpy as np
import pytest

from allpairs.learner.evaluation.entities.figures import entity_figures
from allpairs.learner.evaluation.entities.sample import EntitySample, LabelledPairs, draw_unseen, grouped
from allpairs.learner.light.groups import measures
from tests.helpers.entity_samples import World, complete, drawn, make_world


def measured(world: World, sample: EntitySample, seed: int = 0) -> dict[str, tuple[float, float, float]]:
    rng = np.random.default_rng(seed)
    groups = grouped(sample, world.group)
    found = entity_figures(draw_unseen(sample, rng, 300), groups, world.sides.symmetric, rng)
    return {name: (one.value, one.low, one.high) for name, one in found.items()}


def test_all_texts_with_all_pairs_give_the_exact_figures() -> None:
    world = make_world(60)
    found = measured(world, complete(world))
    exact = {
        "b_cubed": measures.b_cubed(world.group, world.entity),
        "pairwise": measures.pairwise(world.group, world.entity),
        "cluster": measures.clusters(world.group, world.entity),
    }
    for name, quality in exact.items():
        wanted = [quality.precision, quality.recall, quality.f1]
        assert [found[f"{name}_{part}"][0] for part in ("precision", "recall", "f1")] == pytest.approx(wanted)


def test_of_two_lists_pairs_of_one_list_count_nowhere() -> None:
    world = make_world(60, two_lists=True)
    found = measured(world, complete(world))
    exact = measures.pairwise(world.group, world.entity, np.arange(60) >= 30)
    cubed = measures.b_cubed(world.group, world.entity, np.arange(60) >= 30)
    for name, quality in (("pairwise", exact), ("b_cubed", cubed)):
        assert found[f"{name}_precision"][0] == pytest.approx(quality.precision)
        assert found[f"{name}_recall"][0] == pytest.approx(quality.recall)
    assert not any(name.startswith("cluster") for name in found)


def test_an_interval_of_few_texts_without_errors_is_not_empty() -> None:
    world = make_world(400, noise=0.01)
    for name, (value, low, high) in measured(world, drawn(world, 20, 0)).items():
        assert low < 0.97 and low < value <= high, name


def test_an_unanswered_candidate_may_be_a_match() -> None:
    world = make_world()
    sample = drawn(world, 40, 0)
    kept = np.ones(len(sample.pairs), dtype=bool)
    kept[np.flatnonzero(sample.pairs.positive)[::2]] = False
    pairs = sample.pairs
    left = LabelledPairs(pairs.drawn_text[kept], pairs.partner[kept], pairs.band[kept], pairs.positive[kept])
    fewer = replace(sample, pairs=left)
    assert (fewer.open.sum(1) >= sample.open.sum(1)).all()
    assert draw_unseen(fewer, np.random.default_rng(0), 50).unseen[..., 0].sum() > 0


@pytest.mark.slow
@pytest.mark.parametrize("two_lists", [False, True])
def test_intervals_cover(two_lists: bool) -> None:
    world = make_world(600, two_lists, noise=0.13)
    exact = measured(world, complete(world))
    found = [measured(world, drawn(world, 40, seed), seed) for seed in range(200)]
    for name, (truth, *_) in exact.items():
        covered = np.mean([one[name][1] <= truth <= one[name][2] for one in found])
        assert covered >= 0.92, (name, covered)

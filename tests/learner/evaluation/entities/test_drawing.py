import numpy as np
import pytest

from allpairs.learner.evaluation.entities.drawing import LARGEST, draw_order, draw_pairs, make_bands
from tests.helpers.entity_samples import make_world


def test_a_drawn_text_meets_its_candidates_and_its_group() -> None:
    world = make_world()
    corpus, bands = world.corpus(0), make_bands(world.ranking, 400)
    for text in draw_order(corpus, world.group).texts[:40].tolist():
        found = draw_pairs(corpus, bands, world.group, text)
        partners = corpus.partners(text)
        scores = corpus.scores(np.full(399, text), partners)
        upper = partners[bands.share[bands.of(scores)] == 1]
        group = partners[world.group[partners] == world.group[text]]
        assert set(upper) | set(group) | {partners[scores.argmax()]} <= set(found.partner)
        beside = found.band == len(bands.share)
        assert found.sizes.sum() + beside.sum() == 399  # every pair is in one band or beside them


def test_candidates_are_five_a_text_and_three_more_lie_below() -> None:
    world = make_world()
    corpus, bands = world.corpus(3), make_bands(world.ranking, 400)
    pairs = [draw_pairs(corpus, bands, np.arange(400), text) for text in range(400)]
    upper = [(bands.share[one.band[one.band < len(bands.share)]] == 1).sum() for one in pairs]
    assert abs(np.mean(upper) - 5) < 0.2
    assert abs(np.mean([len(one.partner) for one in pairs]) - np.mean(upper) - 3) < 0.5


@pytest.mark.parametrize("n", [30, 37, 61, 103, 150])
def test_of_few_texts_the_candidates_are_no_fewer(n: int) -> None:
    world = make_world(n)
    bands = make_bands(world.ranking, n)
    edges = bands.edges[bands.share == 1]
    assert world.ranking.rank(edges[np.isfinite(edges)]).max() >= 5 * n / 2 - 1e-9


def test_texts_are_drawn_by_the_size_of_their_group() -> None:
    world = make_world()
    group = np.where(np.arange(400) < 100, np.arange(400) // 4, np.arange(400))  # 25 groups of four, 300 texts alone
    firsts = [draw_order(world.corpus(seed), group).texts[:20] for seed in range(300)]
    share = np.mean([(one < 100).mean() for one in firsts])
    assert abs(share - 200 / 500) < 0.03


def test_weights_tell_how_many_texts_each_stands_for() -> None:
    world = make_world()
    group = np.where(np.arange(400) < 60, 0, np.arange(400))  # a group so large that its size is capped
    totals = []
    for seed in range(300):
        order = draw_order(world.corpus(seed), group)
        assert order.rate.max() == LARGEST**0.5
        totals.append(order.weights(40)[order.texts[:40] < 60].sum())
    assert abs(np.mean(totals) - 60) < 5
    assert order.weights(400).tolist() == [1.0] * 400


def test_another_model_draws_much_the_same_texts() -> None:
    world = make_world()
    corpus = world.corpus(0)
    before = set(draw_order(corpus, np.arange(400)).texts[:50].tolist())
    pairs = np.where(np.arange(400) < 40, np.arange(400) // 2, np.arange(400))  # 20 groups of two
    assert len(before & set(draw_order(corpus, pairs).texts[:50].tolist())) >= 40


def test_of_two_lists_partners_are_of_the_other_list() -> None:
    world = make_world(two_lists=True)
    corpus, bands = world.corpus(0), make_bands(world.ranking, 400)
    for text, others in ((3, range(200, 400)), (250, range(200))):
        found = draw_pairs(corpus, bands, world.group, text)
        assert set(found.partner) <= set(others)
        scores = corpus.scores(np.full(len(found.partner), text), found.partner)
        inside = found.band < len(bands.share)
        assert (bands.of(scores)[inside] == found.band[inside]).all()

"""The weights of the best measurement are kept."""

import torch
from torch import nn

from allpairs.learner.models.best_weights import BestWeights, Look


def test_the_first_of_the_best_weights_are_restored() -> None:
    network = nn.Linear(1, 1, bias=False)
    values = iter([0.2, 0.9, 0.9, 0.1])

    def measure() -> float:
        network.eval()
        return next(values)

    best = BestWeights([network], measure, 3, 1e-3)
    network.train()
    for step in range(11):
        nn.init.constant_(network.weight, step)
        best(step, 10)
        assert network.training and (step == 10 or network.weight.item() == step)
    assert best.looks == [Look(1e-3, step, value) for step, value in ((0, 0.2), (4, 0.9), (7, 0.9), (10, 0.1))]
    assert best.best == Look(1e-3, 4, 0.9) and network.weight.item() == 4


def test_without_a_measurement_nothing_changes() -> None:
    network = nn.Linear(1, 1)
    best = BestWeights([network], lambda: torch.nan, 1, 1e-3)
    before = network.weight.clone()
    best(1, 1)
    assert best.best is None and torch.equal(network.weight, before)

"""The cross-encoder that reads both texts of a proposed pair.

Source: Joshi et al. (2022), section 3.2. Binary: right and wrong pairs, classified one by one. Pairwise: the right pair
of a text above a wrong one of the same text, log(1 + exp(−(s⁺ − s⁻))); its scores can be compared but are not
probabilities.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from sentence_transformers import CrossEncoder
from torch import Tensor, nn

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.catalog.mining import Crossencoder
from allpairs.learner.models.cross_encoder_input import PairTokens, pair_logits, read_pairs
from allpairs.learner.models.training_loop import adamw, batches, take_steps
from allpairs.learner.runtime.device import default_device, fast_training, seeded
from allpairs.learner.scorers.cross_encoder import load_backbone

WARM_UP, WEIGHT_DECAY = 0.06, 0.01


def train_crossencoder(
    texts: Sequence[str],
    right: np.ndarray,
    wrong: np.ndarray,
    settings: Crossencoder,
    seed: int,
    progress: Progress = no_progress,
) -> CrossEncoder:
    """Return the trained cross-encoder. right: (n, 2) text rows; wrong: (n, k) wrong partners of right[:, 0].

    Each step has as many right pairs as wrong ones. Raises InputError if the backbone cannot be loaded.
    """
    rng = np.random.default_rng(seed)
    device = torch.device(default_device())
    with seeded(seed, device):
        model = load_backbone(settings.backbone, settings.max_length, str(device))
        optimizer, schedule = adamw(model.parameters(), settings.learning_rate, settings.steps, WARM_UP, WEIGHT_DECAY)
        left, n, k = right[:, 0], *wrong.shape
        tokens = read_pairs(model, texts, np.r_[left, np.repeat(left, k)], np.r_[right[:, 1], wrong.ravel()])

        def losses(batch: np.ndarray) -> Iterator[Tensor]:
            others = n + batch * k + rng.integers(k, size=len(batch))
            yield pair_loss(*_logits(model, tokens, batch, others), settings.objective)

        model.train()
        order = batches(n, max(1, settings.batch_size // 2), settings.steps, rng)
        take_steps(order, settings.steps, losses, optimizer, schedule, [model.parameters()], progress)
    return model.eval()


def pair_loss(right: Tensor, wrong: Tensor, objective: Literal["binary", "pairwise"]) -> Tensor:
    """Return the mean loss of the logits (n,) of right pairs and of one wrong pair each."""
    if objective == "pairwise":
        return nn.functional.softplus(wrong - right).mean()
    return (nn.functional.softplus(-right).mean() + nn.functional.softplus(wrong).mean()) / 2


def _logits(model: CrossEncoder, tokens: PairTokens, right: np.ndarray, wrong: np.ndarray) -> tuple[Tensor, Tensor]:
    with fast_training(torch.device(model.device)):
        both = pair_logits(model, tokens, np.r_[right, wrong]).float()
    return both[: len(right)], both[len(right) :]

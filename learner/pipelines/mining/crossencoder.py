"""The cross-encoder that reads both texts of a proposed pair.

Source: Joshi et al. (2022), section 3.2. Binary: right and wrong pairs, classified one by one. Pairwise: the right pair
of a text above a wrong one of the same text, log(1 + exp(−(s⁺ − s⁻))); its scores can be compared but are not
probabilities.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch
from sentence_transformers import CrossEncoder
from torch import Tensor, nn

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.light.catalog.mining import Crossencoder, Development
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.models.cross_encoder_input import pair_logits, read_pairs, score_text_pairs
from allpairs.learner.models.training_loop import adamw, batches, take_steps
from allpairs.learner.pipelines.mining.development import rank_measure, watch_of
from allpairs.learner.runtime.device import default_device, fast_training, seeded
from allpairs.learner.scorers.cross_encoder import load_backbone

WARM_UP = 0.06
WEIGHT_DECAY = 0.01
HEAD_RATE = 100.0  # times the learning rate, for an output layer that begins at zero


@dataclass(frozen=True)
class Contrasts:
    """Right pairs (n, 2) and wrong second texts of each pair's first text (n, k), as rows of the texts, int64.

    first: (n, 1 + k) float32, the bi-encoder's log-odds of the right pair and of each wrong one, which the
    cross-encoder's are added to; zeros if it begins anew.
    """

    texts: Sequence[str]
    right: np.ndarray
    wrong: np.ndarray
    first: np.ndarray

    @property
    def pairs(self) -> np.ndarray:
        """All pairs, (n · (1 + k), 2): each right one, followed by its wrong ones."""
        seconds = np.column_stack([self.right[:, 1], self.wrong])
        return np.column_stack([np.repeat(self.right[:, 0], seconds.shape[1]), seconds.ravel()])


def train_crossencoder(
    contrasts: Contrasts,
    settings: Crossencoder,
    seed: int,
    progress: Progress = no_progress,
    development: Contrasts | None = None,
    config: Development | None = None,
) -> tuple[CrossEncoder, BestWeights | None]:
    """Return the trained cross-encoder, and the measurements on the development pairs, if there are any.

    Each step has as many right pairs as wrong ones. If the bi-encoder's score is kept, the output layer begins at zero,
    where both models have the same order. Raises InputError if the backbone cannot be loaded.
    """
    rng = np.random.default_rng(seed)
    device = torch.device(default_device())
    with seeded(seed, device):
        model = load_backbone(settings.backbone, settings.max_length, str(device))
        optimizer, schedule = adamw(
            _groups(model, settings), settings.learning_rate, settings.steps, WARM_UP, WEIGHT_DECAY
        )
        tokens = read_pairs(model, contrasts.texts, *contrasts.pairs.T)
        first = torch.from_numpy(contrasts.first.ravel()).to(device)
        n, k = contrasts.wrong.shape

        def losses(batch: np.ndarray) -> Iterator[Tensor]:
            right = batch * (1 + k)
            rows = np.r_[right, right + 1 + rng.integers(k, size=len(batch))]
            with fast_training(device):
                logits = pair_logits(model, tokens, rows).float() + first[rows]
            yield pair_loss(logits[: len(batch)], logits[len(batch) :], settings.objective)

        measure = (
            partial(rank_measure, partial(contrast_scores, model, development)) if development is not None else None
        )
        best = watch_of([model], measure, config or Development(), settings.learning_rate)
        if best is not None and settings.keep_score:
            best(0, settings.steps)
        model.train()
        order = batches(n, max(1, settings.batch_size // 2), settings.steps, rng)
        take_steps(order, settings.steps, losses, optimizer, schedule, [model.parameters()], progress, watch=best)
    return model.eval(), best


def _groups(model: CrossEncoder, settings: Crossencoder) -> list[dict[str, object]]:
    """Return the parameters; to keep the bi-encoder's score the output layer becomes zero, and learns faster."""
    parameters = dict(model.named_parameters())
    if not settings.keep_score:
        return [{"params": list(parameters.values())}]
    name = [name for name, module in model.named_modules() if isinstance(module, nn.Linear)][-1]
    head = [parameters.pop(key) for key in (f"{name}.weight", f"{name}.bias") if key in parameters]
    for parameter in head:
        nn.init.zeros_(parameter)
    return [{"params": list(parameters.values())}, {"params": head, "lr": settings.learning_rate * HEAD_RATE}]


def contrast_scores(model: CrossEncoder, contrasts: Contrasts) -> np.ndarray:
    """Return the score of each right pair and of its wrong ones, (n, 1 + k) float32."""
    logits = score_text_pairs(model, contrasts.texts, *contrasts.pairs.T)
    return logits.reshape(contrasts.first.shape) + contrasts.first


def pair_loss(right: Tensor, wrong: Tensor, objective: Literal["binary", "pairwise"]) -> Tensor:
    """Return the mean loss of the logits (n,) of right pairs and of one wrong pair each."""
    if objective == "pairwise":
        return nn.functional.softplus(wrong - right).mean()
    return (nn.functional.softplus(-right).mean() + nn.functional.softplus(wrong).mean()) / 2

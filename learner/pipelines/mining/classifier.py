"""A classifier trained along with the bi-encoder: does a text look like those of the seed pairs?

Source: Joshi et al. (2022), section 3.1 (multitask). They give neither its head nor the weight of its loss; here it is
a linear head on the vector, binary cross-entropy, and a weight from the settings.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from allpairs.learner.light.catalog.mining import Classifier
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.runtime.device import fast_training
from allpairs.learner.runtime.training_group import Group

FILE = "classifier.npz"


class TextClassifier:
    """A head on a retriever's encoder: texts of the seed pairs are positives, random texts negatives."""

    def __init__(
        self,
        encoder: Encoder,
        seeds: Sequence[str],
        random_texts: Sequence[str],
        settings: Classifier,
        batch: int,
        max_length: int,
    ) -> None:
        self.encoder = encoder
        self.seeds = seeds
        self.others = random_texts
        self.weight = settings.weight
        self.batch = batch
        self.max_length = max_length
        self.head = nn.Linear(encoder.dimension, 1, device=encoder.device)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def loss(self, rng: np.random.Generator, group: Group) -> Tensor:
        """Return the binary cross-entropy of equally many seed texts and others."""
        n = min(self.batch, len(self.seeds), len(self.others))
        texts = [self.seeds[row] for row in rng.choice(len(self.seeds), n, replace=False)]
        texts += [self.others[row] for row in rng.choice(len(self.others), n, replace=False)]
        labels = torch.repeat_interleave(torch.tensor([1.0, 0.0], device=self.encoder.device), n)
        with fast_training(self.encoder.device):
            vectors = group.whole(self.encoder.embed, self.encoder.tokenize(texts, self.max_length))
        logits = self.head(vectors.float())[:, 0]
        return self.weight * nn.functional.binary_cross_entropy_with_logits(logits, labels)

    def save(self, path: Path) -> None:
        """Save the head to the file."""
        weight = self.head.weight.detach().cpu().numpy()[0]
        bias = self.head.bias.detach().cpu().numpy()
        np.savez(path, weight=weight, bias=bias)


def probabilities(path: Path, vectors: np.ndarray) -> np.ndarray:
    """Return the probability (n,) float32 that each text is like the seeds', from vectors (n, d) and a saved head."""
    with np.load(path) as head:
        logits = vectors @ head["weight"] + head["bias"]
    return (1 / (1 + np.exp(-logits))).astype(np.float32)


def passing_rows(p: np.ndarray, settings: Classifier) -> np.ndarray:
    """Return which texts to keep (n,) bool: those at or above the threshold, or the top share (at least one)."""
    if settings.keep == "threshold":
        return p >= settings.threshold
    n = max(1, round(settings.fraction * len(p)))
    chosen = np.zeros(len(p), dtype=bool)
    chosen[np.argsort(-p, kind="stable")[:n]] = True
    return chosen

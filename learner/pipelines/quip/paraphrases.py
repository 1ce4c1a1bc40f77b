"""Paraphrases, ranked by BERTScore and classified from few examples.

Source: Jia, Lewis and Zettlemoyer (2022), sections 3.1 and 3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.backbones.token_encoder import TokenEncoder, load_token_encoder
from allpairs.learner.light.catalog.quip import Paraphrases
from allpairs.learner.metrics.bertscore import bertscore
from allpairs.learner.runtime.device import fast_training, seeded

SCALE = 1e3  # of the logits; acts as a higher learning rate of the last layer (appendix A.3)
BETAS = (0.9, 0.98)
EPSILON = 1e-6
Read = tuple[tuple[Tensor, ...], Tensor]  # vectors after each layer, and the mask of tokens that are not padding


@dataclass(frozen=True)
class ParaphrasePairs:
    """Pairs of texts with labels: (n,) int64, 1 for a paraphrase."""

    x: list[str]
    y: list[str]
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: np.ndarray) -> "ParaphrasePairs":
        """Return the pairs at these rows."""
        return ParaphrasePairs([self.x[i] for i in rows], [self.y[i] for i in rows], self.labels[rows])


def layer_scores(
    encoder: TokenEncoder, pairs: ParaphrasePairs, progress: Progress = no_progress
) -> tuple[np.ndarray, np.ndarray]:
    """Return each pair's BERTScore by layer, (n, layers), and the cosine of mean vectors, (n,); float32.

    A pair's scores do not depend on the others.
    """
    x = encoder.tokens(pairs.x)
    y = encoder.tokens(pairs.y)
    scores = np.empty((len(pairs), encoder.layers), dtype=np.float32)
    pooled = np.empty(len(pairs), dtype=np.float32)
    compared = 0
    with torch.inference_mode():
        for rows in encoder.blocks([a + b for a, b in zip(x, y, strict=True)]):
            sides = _read(encoder, [x[i] for i in rows]), _read(encoder, [y[i] for i in rows])
            scores[rows] = _compared(*sides, encoder.layers).cpu().numpy()
            left, right = (mean_vectors(vectors[-1], mask) for vectors, mask in sides)
            pooled[rows] = nn.functional.cosine_similarity(left, right).cpu().numpy()
            compared += len(rows)
            progress("compare", compared / len(pairs))
    return scores, pooled


def best_layer(scores: np.ndarray, judgements: np.ndarray) -> int:
    """Return the layer, from 1, whose scores (n, layers) correlate best (Pearson) with the judgements (n,)."""
    centred = scores - scores.mean(axis=0)
    deviation = judgements - judgements.mean()
    spread = np.linalg.norm(centred, axis=0) * np.linalg.norm(deviation)
    return int(np.argmax((centred.T @ deviation) / np.maximum(spread, 1e-12))) + 1


def auroc(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the probability that a pair with label 1 scores above one with 0, ties counting half; inputs (n,)."""
    ranks = rankdata(scores)
    right = labels == 1
    positives = int(right.sum())
    negatives = int((~right).sum())
    return float((ranks[right].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def few_of_each(labels: np.ndarray, shots: int, seed: int) -> np.ndarray:
    """Return positions of `shots` random examples of each class, ascending; fewer if a class has fewer."""
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(np.flatnonzero(labels == label))[:shots] for label in np.unique(labels)]
    return np.sort(np.concatenate(drawn))


def frozen_f1(
    scores: np.ndarray, train: np.ndarray, labels: np.ndarray, tested: np.ndarray, right: np.ndarray
) -> float:
    """Return the F1 on tested scores (m, k) of a logistic regression fitted to the rows `train` of scores (n, k)."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, solver="liblinear"))
    model.fit(scores[train], labels[train])
    return float(f1_score(right, model.predict(tested), zero_division=0))


def tuned_f1(
    name: str,
    few: ParaphrasePairs,
    test: ParaphrasePairs,
    settings: Paraphrases,
    seed: int,
    progress: Progress = no_progress,
) -> float:
    """Return the F1 on the test pairs of an encoder and a classifier fine-tuned on the few pairs.

    Every call loads the encoder again, so that no split learns from another. There is no dropout.
    """
    encoder = load_token_encoder(name)
    head = ScoreHead(min(settings.layers, encoder.layers)).to(encoder.device)
    optimizer = torch.optim.Adam(
        [*encoder.model.parameters(), *head.parameters()], settings.learning_rate, betas=BETAS, eps=EPSILON
    )
    rng = np.random.default_rng(seed)
    for epoch in range(settings.epochs):
        order = rng.permutation(len(few))
        for start in range(0, len(order), settings.batch_size):
            batch = few.take(order[start : start + settings.batch_size])
            if len(batch) > 1:  # batch normalisation needs two rows
                _step(encoder, head, batch, optimizer, seed)
        progress("fine-tune", 0.5 * (epoch + 1) / settings.epochs)
    head.eval()
    scores, _ = layer_scores(encoder, test, part_of(progress, 0.5, 1.0))
    with torch.inference_mode():
        logits = head(torch.from_numpy(scores[:, -head.layers :]).to(encoder.device)).cpu().numpy()
    return float(f1_score(test.labels, logits > 0, zero_division=0))


class ScoreHead(nn.Module):
    """Scores (n, layers) to logits (n,), initially 0; `scale` has the effect of a higher learning rate."""

    def __init__(self, layers: int, scale: float = SCALE) -> None:
        super().__init__()
        self.layers = layers
        self.scale = scale
        self.norm = nn.BatchNorm1d(layers, momentum=None, eps=1e-8, affine=False)
        self.linear = nn.Linear(layers, 1)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, scores: Tensor) -> Tensor:
        logits: Tensor = self.scale * self.linear(self.norm(scores))[:, 0]
        return logits


def _step(
    encoder: TokenEncoder, head: ScoreHead, batch: ParaphrasePairs, optimizer: torch.optim.Optimizer, seed: int
) -> None:
    with seeded(seed, encoder.device), fast_training(encoder.device):
        sides = _read(encoder, encoder.tokens(batch.x)), _read(encoder, encoder.tokens(batch.y))
    scores = _compared(*sides, head.layers)  # in single precision, as in the evaluation
    labels = torch.from_numpy(batch.labels).to(encoder.device).float()
    loss = nn.functional.binary_cross_entropy_with_logits(head(scores), labels)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def _read(encoder: TokenEncoder, ids: Sequence[list[int]]) -> Read:
    """Return the vectors (n, t, d) float32 after each layer, and the mask (n, t); keeps gradients."""
    padded, mask = encoder.padded(ids)
    return encoder.layer_vectors(padded, mask)[1:], mask


def _compared(x: Read, y: Read, layers: int) -> Tensor:
    """Return the BERTScore by each of the last layers, (n, layers); keeps gradients."""
    (x_layers, x_mask), (y_layers, y_mask) = x, y
    scores = [bertscore(a, b, x_mask, y_mask) for a, b in zip(x_layers[-layers:], y_layers[-layers:], strict=True)]
    return torch.stack(scores, dim=1)


def mean_vectors(vectors: Tensor, mask: Tensor) -> Tensor:
    """Return the mean (n, d) of each text's vectors (n, t, d), ignoring padding."""
    return (vectors * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)

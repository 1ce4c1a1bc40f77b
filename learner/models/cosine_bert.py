"""CosineBERT: an encoder trained so that sigmoid(w·cos(e(x1), e(x2)) + b) is the probability of a match.

Source: Mussmann, Jia and Liang (2020), section 4.1 and appendix A.1. Each distinct text of a step is embedded once. An
offset, such as the hubness correction, can be subtracted from the cosine; the paper has none.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn

from allpairs.db.domain import Settings
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.models.cosine_bert_step import Step
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.models.output_layer import OutputLayer, fit_output_layer
from allpairs.learner.models.recording import Recording, can_record
from allpairs.learner.models.training_loop import adamw, take_steps
from allpairs.learner.runtime.training_group import Group
from allpairs.learner.runtime.training_launcher import train_together
from allpairs.learner.search.inner_product import Space, scores

HEAD_RATE = 1e4  # times the encoder's learning rate, for w and b
ATTEMPTS = 3
WORST_LOSS = 0.6  # a refit loss above this means that training failed


@dataclass(frozen=True)
class Labelled:
    """Labelled pairs of texts, by row: left and right (n,) int64, label (n,) 0 or 1."""

    left: np.ndarray
    right: np.ndarray
    label: np.ndarray

    def __len__(self) -> int:
        return len(self.label)

    @property
    def positives(self) -> int:
        return int(self.label.sum())

    @property
    def has_both_classes(self) -> bool:
        return 0 < self.positives < len(self)

    def take(self, chosen: np.ndarray) -> "Labelled":
        """Return the pairs at these positions, or where this is true."""
        return Labelled(self.left[chosen], self.right[chosen], self.label[chosen])

    def with_pairs(self, more: "Labelled") -> "Labelled":
        """Return these pairs, and then the others."""
        columns = (np.r_[getattr(self, name), getattr(more, name)] for name in ("left", "right", "label"))
        return Labelled(*columns)


@dataclass(frozen=True)
class Weighted:
    """Pairs whose label counts less than a person's: weight is between 0 and 1."""

    pairs: Labelled
    weight: float


class Head(nn.Module):
    """The trainable output layer |w|·batch norm(score) + b; after training the refitted one replaces it.

    Without batch norm: |w|·score + b.
    """

    def __init__(self, initialization: str, batch_norm: bool = True) -> None:
        super().__init__()
        w, b = (10.0, -50.0) if initialization == "reference" else (1.0, 0.0)
        self.norm = nn.BatchNorm1d(1, eps=1e-8, momentum=None, affine=False) if batch_norm else nn.Identity()
        self.w = nn.Parameter(torch.tensor(w))
        self.b = nn.Parameter(torch.tensor(b))

    def forward(self, scores: Tensor) -> Tensor:
        """Return the logits (n,) of scores (n,)."""
        return self.w.abs() * self.norm(scores[:, None])[:, 0] + self.b


def train(
    encoder: Encoder,
    texts: Sequence[str],
    labelled: Labelled,
    settings: Settings,
    progress: Progress = no_progress,
    also: Weighted | None = None,
    offset: np.ndarray | None = None,
) -> OutputLayer:
    """Train the encoder in place; return the output layer, refitted to the labelled pairs.

    also: further pairs to train on, none of them labelled. offset: (texts,) float32, subtracted from each text's
    scores: the encoder does not learn what it says already. If the refitted loss stays above 0.6, training restarts
    from scratch with another order, up to three times in all.
    """
    start = {name: value.clone() for name, value in encoder.model.state_dict().items()}
    trained_pairs = labelled
    weights = np.ones(len(labelled), dtype=np.float32)
    if also is not None and also.weight > 0:
        trained_pairs = labelled.with_pairs(also.pairs)
        weights = np.r_[weights, np.full(len(also.pairs), also.weight, dtype=np.float32)]
    offset = np.zeros(len(texts), dtype=np.float32) if offset is None else offset
    for attempt in range(ATTEMPTS):
        encoder.model.load_state_dict(start)
        rng = np.random.default_rng([settings.seed, attempt])
        arguments = encoder, *_distinct(texts, trained_pairs), weights, _of_pairs(offset, trained_pairs), settings, rng
        train_together(descend_cosine, arguments, [encoder.model], progress)
        # Encoding again takes a while: progress stands still, but a cancellation is noticed.
        labelled_scores = cosines(encoder, texts, labelled, lambda stage, _share: progress("train", 1.0))
        layer = fit_output_layer(labelled_scores - _of_pairs(offset, labelled), labelled.label)
        if layer.loss <= WORST_LOSS:
            break
    return layer


def cosines(encoder: Encoder, texts: Sequence[str], labelled: Labelled, progress: Progress = no_progress) -> np.ndarray:
    """Return the score of each labelled pair, (n,) float32; each distinct text is encoded once."""
    texts, labelled = _distinct(texts, labelled)
    return scores(encoder.encode(texts, progress), labelled.left, labelled.right, Space(encoder.distance))


def _distinct(texts: Sequence[str], labelled: Labelled) -> tuple[list[str], Labelled]:
    """Return the distinct texts of the pairs, and the pairs by their rows."""
    rows, inverse = np.unique(np.r_[labelled.left, labelled.right], return_inverse=True)
    left = inverse[: len(labelled)]
    right = inverse[len(labelled) :]
    return [texts[row] for row in rows], Labelled(left, right, labelled.label)


def _of_pairs(offset: np.ndarray, pairs: Labelled) -> np.ndarray:
    """Return what is subtracted from each pair's score, (n,)."""
    return offset[pairs.left] + offset[pairs.right]


def descend_cosine(
    encoder: Encoder,
    texts: Sequence[str],
    labelled: Labelled,
    weights: np.ndarray,
    offset: np.ndarray,
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress,
    group: Group,
) -> list[nn.Module]:
    """Train the network in place, and return it.

    weights, offset: (n,) float32, what each pair counts in its step's mean, and what is subtracted from its score.
    """
    tokens = encoder.tokenize(texts, settings.max_length)
    label = labelled.label.astype(np.float32)
    head = Head(settings.initialization, settings.batch_norm).to(encoder.device)
    step = Step(encoder, tokens, labelled.left, labelled.right, label, weights, offset, head, group)
    order = list(cosine_batches(labelled.left, labelled.right, settings, rng))
    optimizer, schedule = cosine_optimizer(encoder, head, settings.learning_rate, len(order))
    clipped = [part["params"] for part in optimizer.param_groups]
    losses = (
        _recorded(step, chain(*clipped)) if can_record(encoder.device, group) and not encoder.is_static else step.losses
    )
    take_steps(order, len(order), losses, optimizer, schedule, clipped, progress, group)
    return [encoder.model]


def _recorded(step: Step, parameters: Iterable[nn.Parameter]) -> Callable[[np.ndarray], Iterable[Tensor]]:
    """Return a function that leaves a step's gradients at the parameters, and no loss to take them of."""
    assert isinstance(step.head, Head)
    step.head.norm.track_running_stats = False  # waits for the GPU, and the layer is refitted afterwards
    recording = Recording(step.loss, parameters)

    def gradients(batch: np.ndarray) -> Iterable[Tensor]:
        recording(step.inputs(batch))
        return ()

    return gradients


def cosine_batches(
    left: np.ndarray, right: np.ndarray, settings: Settings, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield positions of each step's pairs; an epoch's incomplete last batch is dropped unless it is the only one."""
    n = len(left)
    size = min(settings.batch_size, n)
    for _ in range(settings.epochs):
        order = rng.permutation(n)
        if settings.group_pairs:
            hubs = _hubs(left, right)[order]
            order = order[np.argsort(rng.permutation(int(hubs.max()) + 1)[hubs], kind="stable")]
        steps = [order[start : start + size] for start in range(0, n - size + 1, size)]
        if settings.group_pairs:  # if two steps share the pairs of one text, the steps need not be consecutive
            steps = [steps[step] for step in rng.permutation(len(steps))]
        yield from steps


def _hubs(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the one of each pair's two texts that is in more pairs, (n,): pairs with the same one share a text."""
    degree = np.bincount(np.r_[left, right])
    return np.where(degree[left] >= degree[right], left, right)


def cosine_optimizer(
    encoder: Encoder, head: Head, rate: float, steps: int
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    groups = [
        {"params": [p for p in encoder.model.parameters() if p.requires_grad], "lr": rate},
        {"params": list(head.parameters()), "lr": rate * HEAD_RATE},
    ]
    return adamw(groups, rate, steps)

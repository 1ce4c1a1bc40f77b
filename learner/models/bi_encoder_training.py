"""Retrieval by a bi-encoder: each query should be nearer to its passage than to every other passage of the step.

Source: Joshi et al. (2022), section 3.1; DPR (in Kulshreshtha et al. 2021) is trained with the same loss. Distinct
texts of a step are embedded once.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.models.encoder_states import pool_encoder_states
from allpairs.learner.models.training_loop import adamw, batches, take_steps
from allpairs.learner.runtime.device import fast_training, seeded
from allpairs.learner.runtime.training_group import SINGLE_PROCESS, Group
from allpairs.learner.runtime.training_launcher import train_together

FILE = "retriever.json"
QUERY = "query"  # folder of a tower; a single tower is here
PASSAGE = "passage"  # folder of the second tower
WARM_UP = 0.06
WEIGHT_DECAY = 0.01
BESIDE_RATE = 100.0  # what is trained besides starts from scratch, at this many times the encoders' learning rate


@dataclass(frozen=True)
class Retriever:
    """Encoders of queries and of passages, the same object if there is one tower; scale: of the cosine."""

    query: Encoder
    passage: Encoder
    scale: float

    @property
    def towers(self) -> list[Encoder]:
        """Each encoder once."""
        return [self.query] if self.query is self.passage else [self.query, self.passage]

    @property
    def networks(self) -> list[nn.Module]:
        """The network of each tower."""
        return [encoder.model for encoder in self.towers]

    def save(self, folder: Path) -> None:
        """Save the towers to the folder, each as sentence-transformers loads it."""
        for name, encoder in zip((QUERY, PASSAGE), self.towers, strict=False):
            encoder.save(folder / name)
        stored = {"towers": len(self.towers), "similarity": self.query.distance, "scale": self.scale}
        (folder / FILE).write_text(json.dumps(stored), encoding="utf-8")


class SideTask(Protocol):
    """A task that is trained besides retrieval, on the same encoders."""

    @property
    def head(self) -> nn.Module:
        """The module that is trained besides the encoders."""

    def loss(self, rng: np.random.Generator, group: Group) -> Tensor:
        """Return the loss of one step, to be added."""


@dataclass(frozen=True)
class Lesson:
    """The training data of a retriever: pairs (n, 2) int64, rows of the queries and of the passages.

    wrong: (n, k) rows of passages that do not belong to each pair's query; without them (k = 0) passages are drawn at
    random.
    """

    queries: Sequence[str]
    passages: Sequence[str]
    pairs: np.ndarray
    wrong: np.ndarray


def lesson_of(
    pairs: Sequence[tuple[str, str]], more_passages: Sequence[str], wrong: Sequence[Sequence[str]] | None = None
) -> Lesson:
    """Return the pairs of texts as a lesson.

    more_passages: more passages, for random negatives; wrong: passages for each pair.
    """
    queries = {text: row for row, text in enumerate(dict.fromkeys(x for x, _ in pairs))}
    passages: dict[str, int] = {}
    for text in (*(y for _, y in pairs), *more_passages):
        passages.setdefault(text, len(passages))
    rows = [(queries[x], passages[y]) for x, y in pairs]
    not_right = [[passages.setdefault(text, len(passages)) for text in texts] for texts in wrong or [[]] * len(pairs)]
    return Lesson(
        list(queries), list(passages), np.array(rows, np.int64), np.array(not_right, np.int64).reshape(len(rows), -1)
    )


def new_retriever(settings: RetrieverSettings, device: str | None = None) -> Retriever:
    """Return an untrained retriever, whose towers are their backbones. Raises InputError if one cannot be loaded."""

    def tower(name: str) -> Encoder:
        encoder = load_encoder(name, device)
        if settings.states == "encoder":
            pool_encoder_states(encoder)
        return encoder.variant(settings.pooling, settings.similarity)

    query = tower(settings.backbone)
    passage = query if settings.towers == 1 else tower(settings.passage_backbone or settings.backbone)
    return Retriever(query, passage, settings.scale if settings.similarity == "cosine" else 1.0)


def load_retriever(folder: Path, device: str | None = None) -> Retriever:
    """Load the retriever that was saved in the folder. Raises InputError if it cannot be loaded."""
    stored = json.loads((folder / FILE).read_text(encoding="utf-8"))

    def tower(name: str) -> Encoder:
        return load_encoder(str(folder / name), device).variant(distance=stored["similarity"])

    query = tower(QUERY)
    return Retriever(query, query if stored["towers"] == 1 else tower(PASSAGE), stored["scale"])


def retrieval_loss(scores: Tensor, right: Tensor) -> Tensor:
    """Return mean −log softmax of the right column (n,) of each row of scores (n, m).

    Source: Joshi et al. (2022), section 3.1.
    """
    return nn.functional.cross_entropy(scores, right)


def train_retriever(
    retriever: Retriever,
    lesson: Lesson,
    settings: RetrieverSettings,
    seed: int,
    progress: Progress = no_progress,
    side_task: SideTask | None = None,
    best: BestWeights | None = None,
) -> None:
    """Train the encoders in place; best: measures them, and gives them their best weights at the end.

    Negatives of a pair: the other passages of the step, those of other pairs and wrong or random ones. Passages known
    to be right are never negatives, nor is the query itself.
    """
    arguments = (retriever, lesson, settings, np.random.default_rng(seed), side_task, best)
    train_together(_descend, arguments, _networks(retriever, side_task, best), progress)


def _networks(retriever: Retriever, side_task: SideTask | None, best: BestWeights | None) -> list[nn.Module]:
    """Return the modules to train, and the record of their measurements."""
    return [*retriever.networks, *([side_task.head] if side_task else []), *([best.record] if best else [])]


def _descend(
    retriever: Retriever,
    lesson: Lesson,
    settings: RetrieverSettings,
    rng: np.random.Generator,
    side_task: SideTask | None,
    best: BestWeights | None,
    progress: Progress,
    group: Group,
) -> list[nn.Module]:
    """Train the networks in place, and return them."""
    step = RetrieverStep(retriever, lesson, settings, rng, group)
    parameters = [p for encoder in retriever.towers for p in encoder.model.parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [{"params": parameters, "lr": settings.learning_rate}]
    if side_task is not None:
        groups.append({"params": list(side_task.head.parameters()), "lr": settings.learning_rate * BESIDE_RATE})
    optimizer, schedule = adamw(groups, settings.learning_rate, settings.steps, WARM_UP, WEIGHT_DECAY)

    def losses(batch: np.ndarray) -> Iterator[Tensor]:
        with _dropping(retriever, settings.dropout, rng):
            loss = step.loss(batch) + (side_task.loss(rng, group) if side_task else 0.0)
        yield loss

    if best is not None:
        best.networks = _networks(retriever, side_task, None)  # all that learn, and those of this process
    if best is not None and side_task is None:  # a new classifier knows nothing yet
        best(0, settings.steps)
    order = batches(len(lesson.pairs), settings.batch_size, settings.steps, rng)
    take_steps(order, settings.steps, losses, optimizer, schedule, [parameters], progress, group, best)
    return _networks(retriever, side_task, best)


@contextmanager
def _dropping(retriever: Retriever, dropout: bool, rng: np.random.Generator) -> Iterator[None]:
    """Return a context in which the encoders use their dropout, if set; its draws come from the generator."""
    if not dropout:
        yield
        return
    with seeded(int(rng.integers(2**31)), retriever.query.device):
        for network in retriever.networks:
            network.train()
        try:
            yield
        finally:
            for network in retriever.networks:
                network.eval()


class RetrieverStep:
    """The loss of a step."""

    def __init__(
        self,
        retriever: Retriever,
        lesson: Lesson,
        settings: RetrieverSettings,
        rng: np.random.Generator,
        group: Group = SINGLE_PROCESS,
    ) -> None:
        self.retriever = retriever
        self.lesson = lesson
        self.settings = settings
        self.rng = rng
        self.group = group
        row = {text: i for i, text in enumerate(lesson.passages)}
        same_text = {(i, row[text]) for i, text in enumerate(lesson.queries) if text in row}
        self.known = same_text | set(map(tuple, lesson.pairs.tolist()))

    def loss(self, batch: np.ndarray) -> Tensor:
        """Return the loss of these pairs (positions)."""
        query, passage = self.lesson.pairs[batch].T
        queries = np.unique(query)
        passages = np.unique(np.r_[passage, self._negatives(batch)])
        with fast_training(self.retriever.query.device):
            a = self._embed(self.retriever.query, self.lesson.queries, queries)
            b = self._embed(self.retriever.passage, self.lesson.passages, passages)
            scores = self.retriever.scale * (a @ b.T)
        rows = np.searchsorted(queries, query)
        columns = np.searchsorted(passages, passage)
        right = torch.from_numpy(columns).to(scores.device)
        wrong = scores.float()[torch.from_numpy(rows).to(scores.device)]
        return retrieval_loss(
            wrong.masked_fill(self._known(query, passages, columns).to(scores.device), -torch.inf), right
        )

    def _negatives(self, batch: np.ndarray) -> np.ndarray:
        """Return passages beyond those of the step's pairs, as many for each pair as the settings say."""
        wrong = self.lesson.wrong[batch]
        size = (len(batch), self.settings.negatives)
        if not wrong.shape[1]:
            return self.rng.integers(len(self.lesson.passages), size=size).ravel()
        return np.take_along_axis(wrong, self.rng.integers(wrong.shape[1], size=size), 1).ravel()

    def _embed(self, encoder: Encoder, texts: Sequence[str], rows: np.ndarray) -> Tensor:
        tokens = encoder.tokenize([texts[row] for row in rows], self.settings.max_length)
        return self.group.whole(encoder.embed, tokens)

    def _known(self, query: np.ndarray, passages: np.ndarray, right: np.ndarray) -> Tensor:
        """Return where a query of the step and one of its passages are another right pair, (n, m) bool."""
        known = [[(q, p) in self.known for p in passages.tolist()] for q in query.tolist()]
        mask = torch.tensor(known, dtype=torch.bool)
        mask[torch.arange(len(right)), torch.from_numpy(right)] = False
        return mask

"""What a bi-encoder learns from: for each question the likeliest first and last tokens, and their probabilities.

Source: paper 003, section 2.4 and appendix A.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from db.domain import InputError, Progress, no_progress
from learner.backbones.descent import descend
from learner.backbones.span_biencoder import SPECIAL, SpanBiencoder
from learner.catalog.quip import Student
from learner.device import fast_training, seeded


@dataclass(frozen=True)
class Sparse:
    """Of each question the tokens (m, k) int64 with the highest probabilities, and these (m, k) float32.

    Token 0 is the one before the passage, which stands for "no answer here". What is not named has probability 0.
    """

    at: np.ndarray
    mass: np.ndarray

    def take(self, rows: np.ndarray) -> "Sparse":
        """Those of these questions."""
        return Sparse(self.at[rows], self.mass[rows])

    def hardest(self) -> "Sparse":
        """The likeliest token alone, with probability 1."""
        best = self.mass.argmax(axis=1)[:, None]
        return Sparse(np.take_along_axis(self.at, best, 1), np.ones((len(self.at), 1), dtype=np.float32))


@dataclass(frozen=True)
class AskedPassages:
    """Passages with their questions: of[i] is the passage of question i; where its answer starts and ends."""

    passages: Sequence[str]
    questions: Sequence[str]
    of: np.ndarray
    start: Sparse
    end: Sparse


def sparsify(probabilities: Tensor, best: int, renormalise: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The most probable tokens of each row (m, t), int64, and their probabilities, float32: both (m, best).

    They do not sum to 1 unless asked for. Where there are fewer tokens the rest is token 0 with probability 0.
    """
    mass, at = probabilities.topk(min(best, probabilities.shape[1]), dim=1)
    if renormalise:
        mass = mass / mass.sum(dim=1, keepdim=True)
    short = (0, best - mass.shape[1])
    mass, at = torch.nn.functional.pad(mass, short), torch.nn.functional.pad(at, short)
    return at.cpu().numpy().astype(np.int64), mass.cpu().numpy().astype(np.float32)


def distillation_loss(logits: Tensor, at: Tensor, mass: Tensor) -> Tensor:
    """The cross-entropy of each row, (m,): −Σ mass · log softmax(logits) at these tokens; paper 003, equation 3.

    logits (m, t); at, mass (m, k). A mass below 1 scales a row's loss.
    """
    return -(mass * logits.log_softmax(dim=1).gather(1, at)).sum(dim=1)


def train_biencoder(
    biencoder: SpanBiencoder,
    asked: AskedPassages,
    settings: Student,
    progress: Progress = no_progress,
    concatenated: bool = False,
) -> None:
    """Nothing; the bi-encoder is trained in place; all questions of a passage are in one step.

    concatenated: an answer is looked for in all passages that are read together, not in its own alone. Raises
    InputError without questions.
    """
    if not len(asked.questions):
        raise InputError("there are no questions: a bi-encoder needs passages with questions to learn from")
    lesson = _Lesson(biencoder, asked, settings, concatenated)
    faster = {"start.": settings.head_rate, "end.": settings.head_rate}
    with seeded(settings.seed, biencoder.device):
        descend(biencoder.network, lesson.lengths, lesson.weights, lesson.loss, settings, progress, faster)


class _Lesson:
    """The loss of passages that have questions."""

    def __init__(self, biencoder: SpanBiencoder, asked: AskedPassages, settings: Student, concatenated: bool) -> None:
        self.biencoder, self.asked, self.concatenated = biencoder, asked, concatenated
        encoder = biencoder.encoder
        self.questions = encoder.tokens(asked.questions, settings.question_length)
        used, of = np.unique(asked.of, return_inverse=True)
        self.passages = encoder.tokens([asked.passages[i] for i in used], settings.passage_length + SPECIAL)
        order = np.argsort(of, kind="stable")
        self.mine = np.split(order, np.flatnonzero(np.diff(of[order])) + 1)  # of each passage the questions
        self.weights = np.array([len(questions) for questions in self.mine])
        asking = [sum(len(self.questions[i]) for i in questions) for questions in self.mine]
        self.lengths = np.array([len(p) + n for p, n in zip(self.passages, asking, strict=True)], dtype=np.int64)

    def loss(self, rows: np.ndarray) -> Tensor:
        """The sum of the losses of all questions of these passages."""
        questions = np.concatenate([self.mine[row] for row in rows])
        owner = np.repeat(np.arange(len(rows)), self.weights[rows])
        encoder = self.biencoder.encoder
        with fast_training(self.biencoder.device):
            ids, mask = encoder.padded([self.passages[row] for row in rows])
            vectors = encoder.vectors(ids, mask)
            asked = self.biencoder.asked([self.questions[i] for i in questions])
        allowed = own_tokens(mask)
        losses = [
            self._side(vectors, allowed, vector.float(), owner, target.take(questions))
            for vector, target in zip(asked, (self.asked.start, self.asked.end), strict=True)
        ]
        return (losses[0] + losses[1]).sum()

    def _side(self, vectors: Tensor, allowed: Tensor, asked: Tensor, owner: np.ndarray, target: Sparse) -> Tensor:
        """The losses (m,) of first or of last tokens."""
        where = torch.from_numpy(owner).to(vectors.device)
        at = torch.from_numpy(target.at).to(vectors.device)
        if self.concatenated:
            logits = asked @ vectors.flatten(0, 1).T
            allowed, at = allowed.flatten().expand_as(logits), at + where[:, None] * vectors.shape[1]
        else:
            logits = torch.einsum("mtd,md->mt", vectors[where], asked)
            allowed = allowed[where]
        logits = logits.masked_fill(~allowed, torch.finfo(logits.dtype).min)
        return distillation_loss(logits, at, torch.from_numpy(target.mass).to(vectors.device))


def own_tokens(mask: Tensor) -> Tensor:
    """The tokens (n, t) that may answer: all but padding and the last one, which ends the passage."""
    last = mask.sum(dim=1, keepdim=True) - 1
    return mask & (torch.arange(mask.shape[1], device=mask.device) < last)

"""Training of a span bi-encoder from the likely first and last tokens of each answer, and their probabilities.

Source: Jia, Lewis and Zettlemoyer (2022), section 2.4 and appendix A.1.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor, nn

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.length_batches import descend, descend_together, steps_of
from allpairs.learner.backbones.rows_on_disk import RowsOnDisk
from allpairs.learner.backbones.span_biencoder import SPECIAL, SpanBiencoder
from allpairs.learner.light.catalog.quip import Student
from allpairs.learner.runtime.device import fast_training


@dataclass(frozen=True)
class Sparse:
    """The tokens (m, k) int64 with the highest probabilities for each question, and these probabilities (m, k) float32.

    Token 0 precedes the passage and stands for "no answer here". Tokens that are not listed have probability 0; an
    entry with probability 0 is token 0, which every passage has.
    """

    tokens: np.ndarray
    mass: np.ndarray

    def take(self, rows: np.ndarray) -> "Sparse":
        """Return these questions' tokens."""
        return Sparse(self.tokens[rows], self.mass[rows])

    def hardest(self) -> "Sparse":
        """Return the most likely token alone, with probability 1."""
        best = self.mass.argmax(axis=1)[:, None]
        return Sparse(np.take_along_axis(self.tokens, best, 1), np.ones((len(self.tokens), 1), dtype=np.float32))


@dataclass(frozen=True)
class AskedPassages:
    """Passages with their questions: question i asks about passage owners[i]; start and end locate its answer."""

    passages: Sequence[str]
    questions: Sequence[str]
    owners: np.ndarray
    start: Sparse
    end: Sparse


def sparsify(probabilities: Tensor, best: int, renormalise: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the most probable tokens of each row (m, t), int64, and their probabilities, float32: both (m, best).

    The probabilities sum to 1 only if renormalised. Where fewer tokens have any, as in a padded row, the rest is token
    0 with probability 0.
    """
    mass, tokens = probabilities.topk(min(best, probabilities.shape[1]), dim=1)
    if renormalise:
        mass = mass / mass.sum(dim=1, keepdim=True)
    short = (0, best - mass.shape[1])
    mass = torch.nn.functional.pad(mass, short)
    tokens = torch.nn.functional.pad(tokens, short)
    tokens = tokens.masked_fill(mass == 0, 0)
    return tokens.cpu().numpy().astype(np.int64), mass.cpu().numpy().astype(np.float32)


def distillation_loss(logits: Tensor, tokens: Tensor, mass: Tensor) -> Tensor:
    """Return the cross-entropy of each row, (m,): −Σ mass · log softmax(logits) at these tokens.

    logits (m, t); tokens, mass (m, k). A mass below 1 scales a row's loss. Source: Jia, Lewis and Zettlemoyer (2022),
    equation 3.
    """
    return -(mass * logits.log_softmax(dim=1).gather(1, tokens)).sum(dim=1)


def train_biencoder(
    biencoder: SpanBiencoder,
    parts: Iterable[AskedPassages],
    settings: Student,
    progress: Progress = no_progress,
    concatenated: bool = False,
    scratch: Path | None = None,
) -> int:
    """Train the bi-encoder in place; return the number of questions it was trained on, counted in every epoch.

    All questions of a passage are in one step. parts: passages with all their questions; one part is in memory at a
    time, while the tokens and labels of all parts lie on disk in the folder `scratch` during training; a few numbers of
    each passage stay in memory. concatenated: search the answer in all passages of a step, not in its own alone, which
    needs the step in one piece, and so trains in this process; else as many train as the environment says. Raises
    InputError without questions.
    """
    with TemporaryDirectory(dir=scratch) as folder:
        lesson = _Lesson(biencoder, settings, concatenated, Path(folder))
        for part in parts:
            lesson.add(part)
        if not len(lesson.questions):
            raise InputError("there are no questions: a bi-encoder needs passages with questions to learn from")
        faster = {"start.": settings.head_rate, "end.": settings.head_rate}
        if concatenated:
            descend(lesson, settings, progress, faster, at_once=True)
        else:
            descend_together(lesson, settings, progress, faster)
        return sum(int(lesson.weights[rows].sum()) for rows in steps_of(lesson.lengths, settings)[0])


class _Lesson:
    """As `RowLosses`: a row is a passage that has questions; its tokens and labels lie in the folder."""

    def __init__(self, biencoder: SpanBiencoder, settings: Student, concatenated: bool, folder: Path) -> None:
        self.biencoder = biencoder
        self.settings = settings
        self.concatenated = concatenated
        self.passages, self.questions = (RowsOnDisk(folder / name, np.int64) for name in ("passages", "questions"))
        self.targets = [RowsOnDisk(folder / f"{side}-at", np.int64) for side in ("start", "end")]
        self.mass = [RowsOnDisk(folder / f"{side}-mass", np.float32) for side in ("start", "end")]
        # Three numbers of each passage are all that is in memory; all questions stand one after another.
        self.tokens = array("q")  # its tokens and those of its questions
        self.asking = array("q")  # the number of its questions
        self.first = array("q")  # the first of its questions

    @property
    def network(self) -> nn.Module:
        return self.biencoder.network

    @property
    def lengths(self) -> np.ndarray:
        return np.asarray(self.tokens)

    @property
    def weights(self) -> np.ndarray:
        return np.asarray(self.asking)

    def add(self, part: AskedPassages) -> None:
        """Add the passages that have questions."""
        encoder = self.biencoder.encoder
        used, owners = np.unique(part.owners, return_inverse=True)
        order = np.argsort(owners, kind="stable")
        passages = encoder.tokens([part.passages[i] for i in used], self.settings.passage_length + SPECIAL)
        questions = encoder.tokens([part.questions[i] for i in order], self.settings.question_length)
        tokens = np.bincount(owners[order], [len(text_tokens) for text_tokens in questions], len(used)).astype(np.int64)
        counts = np.bincount(owners, minlength=len(used))
        self.first.extend((len(self.questions) + np.cumsum(counts) - counts).tolist())
        self.asking.extend(counts.tolist())
        self.tokens.extend(len(text_tokens) + int(more) for text_tokens, more in zip(passages, tokens, strict=True))
        self.passages.add(passages)
        self.questions.add(questions)
        for token_rows, mass, side in zip(self.targets, self.mass, (part.start, part.end), strict=True):
            token_rows.add(side.tokens[order])
            mass.add(side.mass[order])

    def loss(self, rows: np.ndarray) -> Tensor:
        """Return the summed loss of all questions of these passages."""
        questions = [first + i for first, n in ((self.first[r], self.asking[r]) for r in rows) for i in range(n)]
        owner = np.repeat(np.arange(len(rows)), [self.asking[row] for row in rows])
        encoder = self.biencoder.encoder
        with fast_training(self.biencoder.device):
            ids, mask = encoder.padded([row.tolist() for row in self.passages.take(rows)])
            vectors = encoder.vectors(ids, mask)
            question_vectors = self.biencoder.asked([row.tolist() for row in self.questions.take(questions)])
        allowed = answer_tokens(mask)
        targets = [
            Sparse(np.stack(token_rows.take(questions)), np.stack(mass.take(questions)))
            for token_rows, mass in zip(self.targets, self.mass, strict=True)
        ]
        losses = [
            self._side(vectors, allowed, vector.float(), owner, target)
            for vector, target in zip(question_vectors, targets, strict=True)
        ]
        return (losses[0] + losses[1]).sum()

    def _side(self, vectors: Tensor, allowed: Tensor, questions: Tensor, owner: np.ndarray, target: Sparse) -> Tensor:
        """Return the losses (m,) of first or of last tokens."""
        owners = torch.from_numpy(owner).to(vectors.device)
        tokens = torch.from_numpy(target.tokens).to(vectors.device)
        if self.concatenated:
            logits = questions @ vectors.flatten(0, 1).T
            allowed = allowed.flatten().expand_as(logits)
            tokens = tokens + owners[:, None] * vectors.shape[1]
        else:
            logits = torch.einsum("mtd,md->mt", vectors[owners], questions)
            allowed = allowed[owners]
        logits = logits.masked_fill(~allowed, torch.finfo(logits.dtype).min)
        return distillation_loss(logits, tokens, torch.from_numpy(target.mass).to(vectors.device))


def answer_tokens(mask: Tensor) -> Tensor:
    """Return which tokens (n, t) may be an answer: all but padding and the last one, which ends the passage."""
    last = mask.sum(dim=1, keepdim=True) - 1
    return mask & (torch.arange(mask.shape[1], device=mask.device) < last)

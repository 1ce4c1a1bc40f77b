"""The stages of the teacher: it is trained to read, and labels every question.

Source: Jia, Lewis and Zettlemoyer (2022), section 2.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.learner.backbones.biencoder_training import Sparse, sparsify
from allpairs.learner.backbones.span_biencoder import SPECIAL
from allpairs.learner.backbones.span_reader import CHUNK, Example, SpanReader, load_reader, span_logits, train_reader
from allpairs.learner.backbones.token_encoder import load_token_encoder
from allpairs.learner.backbones.windows import Windows, cut
from allpairs.learner.light.catalog.quip import QuipConfig, Teacher
from allpairs.learner.models.cross_encoder_input import BUDGETS, SMALL_BUDGET
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.inputs import QuipTexts
from allpairs.learner.pipelines.quip.questions import Question, passages_per_shard, shard_questions
from allpairs.learner.pipelines.quip.shards import each_shard, read_shard

SIDES = ("start", "end")


def train_teacher(run: Run, folder: Path, progress: Progress) -> None:
    """Train the teacher and save it in the folder; do nothing without questions to train on."""
    examples = QuipTexts(run).examples
    config = run.config
    if not examples:
        return
    settings = config.teacher.model_copy(update={"seed": config.seed})
    reader = load_reader(settings.backbone, config.seed)
    train_reader(reader, examples, settings, progress)
    reader.save(folder)


def label_questions(run: Run, folder: Path, progress: Progress) -> None:
    """Write the likeliest first and last tokens of every question's answer to the folder, by shard.

    Without a teacher, write those of the answer that was generated with the question.
    """
    texts = QuipTexts(run)
    size = passages_per_shard(run)
    config: QuipConfig = run.config
    reader = load_reader(str(run.of("teacher"))) if texts.examples else None
    places = TokenPlaces(config)

    def work(shard_passages: list[str], number: int, part: Progress) -> dict[str, Any]:
        questions = shard_questions(read_shard(run.of("questions"), number))
        passages = [shard_passages[question.passage - number * size] for question in questions]
        if reader is None:
            spans = [(question.start, question.start + len(question.answer)) for question in questions]
            sparse = places.hard(passages, spans, "start"), places.hard(passages, spans, "end")
        else:
            texts_asked = [question.question for question in questions]
            sparse = relabelled(reader, texts_asked, passages, config.teacher, places, part)
        labels = {side: {"at": tokens.tokens, "mass": tokens.mass} for side, tokens in zip(SIDES, sparse, strict=True)}
        return {"questions": list(range(len(questions))), **labels}

    each_shard(folder, texts.parts(size), -(-len(texts) // size), work, progress)


def shard_labels(shard: Mapping[str, Any]) -> tuple[Sparse, Sparse]:
    """Return the labels of one shard's file, for first and for last tokens."""
    first, last = (Sparse(shard[side]["at"], shard[side]["mass"]) for side in SIDES)
    return first, last


class TokenPlaces:
    """The positions of the student's tokens in a passage: token 0 is before it, token 1 its first."""

    def __init__(self, config: QuipConfig) -> None:
        self.encoder = load_token_encoder(config.student.backbone, "cpu")
        self.length = config.student.passage_length + SPECIAL
        self.best = config.teacher.best

    def __call__(self, passage: str) -> list[tuple[int, int]]:
        """Return the character span of each of the passage's tokens."""
        read = self.encoder.tokenizer(
            passage, truncation=True, max_length=self.length, add_special_tokens=True, return_offsets_mapping=True
        )
        return [(int(a), int(b)) for a, b in read["offset_mapping"][1:-1]]

    def hard(self, passages: Sequence[str], spans: Sequence[tuple[int, int]], side: str) -> Sparse:
        """Return the token at which each answer starts or ends; token 0 if the answer lies outside the tokens read."""
        tokens = np.zeros((len(passages), 1), dtype=np.int64)
        for row, (passage, (start, end)) in enumerate(zip(passages, spans, strict=True)):
            places = self(passage)
            touched = [i for i, (a, b) in enumerate(places) if a < end and b > start]
            if start >= 0 and touched and places[-1][1] >= end:
                tokens[row] = 1 + (touched[0] if side == "start" else touched[-1])
        return Sparse(tokens, np.ones(tokens.shape, dtype=np.float32))


def relabelled(
    reader: SpanReader,
    questions: Sequence[str],
    passages: Sequence[str],
    settings: Teacher,
    places: TokenPlaces,
    progress: Progress,
) -> tuple[Sparse, Sparse]:
    """Return the teacher's best tokens for start and end of each answer, in the student's numbering.

    Probabilities cover the passage and the no-answer token only. Raises InputError if teacher and student tokenise a
    passage differently, or the teacher cannot read it whole.
    """
    arrays = [np.zeros((len(questions), settings.best), dtype=kind) for kind in (np.int64, np.float32) for _ in SIDES]
    for start in range(0, len(questions), CHUNK):
        part = slice(start, start + CHUNK)
        windows = cut(reader, questions[part], passages[part], settings)
        _check(windows, passages[part], places)
        with torch.inference_mode():
            for rows in windows.tokens.blocks(BUDGETS.get(reader.device.type, SMALL_BUDGET)):
                for side, logits in enumerate(span_logits(reader, windows, rows)):
                    passage_mass = _own(logits.softmax(dim=1), windows, rows)
                    tokens, mass = sparsify(passage_mass, settings.best, settings.renormalise)
                    arrays[side][start + rows] = tokens
                    arrays[2 + side][start + rows] = mass
        progress("read", min(1.0, part.stop / len(questions)))
    return Sparse(arrays[0], arrays[2]), Sparse(arrays[1], arrays[3])


def _own(mass: Tensor, windows: Windows, rows: np.ndarray) -> Tensor:
    """Return the probabilities (n, 1 + t) of no answer and of the passage's tokens."""
    spans = [windows.passages[row] for row in rows]
    parts = [
        torch.cat([row_mass[[int(windows.nowhere[row])]], row_mass[first:after]])
        for row_mass, row, (first, after) in zip(mass, rows, spans, strict=True)
    ]
    return torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)


def _check(windows: Windows, passages: Sequence[str], places: TokenPlaces) -> None:
    if len(windows) != len(passages):
        raise InputError(
            "the teacher cannot read a passage and a question at once: lower student.passage_length, or choose a "
            "teacher that reads longer texts"
        )
    known: dict[str, list[tuple[int, int]]] = {}
    for row, passage in enumerate(passages):
        if passage not in known:
            known[passage] = places(passage)
        first, after = windows.passages[row]
        if [tuple(place) for place in windows.offsets[row][first:after]] != known[passage]:
            raise InputError(
                f"teacher and student tokenise a passage differently ({passage[:60]!r}): choose two backbones with the "
                "same tokenizer"
            )


def likeliest(start: Sparse, end: Sparse, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probability of each question's likeliest answer in the passage, its first and its last token: (m,).

    The probability is 0 where the passage holds none of at most `most` tokens.
    """
    first = start.tokens[:, :, None]
    last = end.tokens[:, None, :]
    allowed = (first > 0) & (first <= last) & (last < first + most)
    mass = np.where(allowed, start.mass[:, :, None] * end.mass[:, None, :], 0)
    mass = mass.reshape(len(mass), mass.shape[1] * mass.shape[2])  # −1 would fail without questions
    i, j = np.divmod(mass.argmax(axis=1), end.tokens.shape[1])
    rows = np.arange(len(mass))
    return mass.max(axis=1), start.tokens[rows, i], end.tokens[rows, j]


def answered_again(
    passages: Sequence[str],
    first: int,
    questions: Sequence[Question],
    labels: tuple[Sparse, Sparse],
    places: TokenPlaces,
    most: int,
) -> Iterator[Example]:
    """Yield the questions with the teacher's answers, without unanswered ones; the first passage has this number."""
    for question, mass, begin, end in zip(questions, *likeliest(*labels, most), strict=True):
        if mass > 0:
            passage = passages[question.passage - first]
            spans = places(passage)
            start = spans[begin - 1][0]
            after = spans[end - 1][1]
            yield Example(question.question, passage, passage[start:after], start)

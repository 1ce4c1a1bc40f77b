"""Extractive question answering: the span of a passage that answers a question.

Any network with a start and an end logit for each token will do (in Joshi et al. 2022 it is BART: encoder and decoder
read the text, and the logits come from the decoder's last states). A passage that is too long to read at once is read
in overlapping windows. Sources: Joshi et al. (2022), section 4; Jia, Lewis and Zettlemoyer (2022), section 3.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForQuestionAnswering

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.length_batches import descend_together
from allpairs.learner.backbones.loading import load_tokenizer
from allpairs.learner.backbones.windows import Windows, WindowsOnDisk, cut
from allpairs.learner.light.catalog.backbones import ReaderSettings
from allpairs.learner.models.cross_encoder_input import BUDGETS, SMALL_BUDGET
from allpairs.learner.models.loading import NO_CODE, SAFETENSORS, loading, require_numbers
from allpairs.learner.models.model_folder import forget_code
from allpairs.learner.models.watch import Watch
from allpairs.learner.runtime.device import default_device, fast_reading, fast_training, seeded

CHUNK = 512  # questions whose windows are in memory at once


@dataclass(frozen=True)
class Example:
    """A question with its answer, which begins at this character of the passage."""

    question: str
    passage: str
    answer: str
    answer_start: int


@dataclass(frozen=True)
class SpanAnswer:
    """A span of a passage, where it begins, and the log-probability of its first and last token in their window."""

    text: str
    start: int
    score: float


@dataclass(frozen=True)
class SpanReader:
    """A network with a start and an end logit for each token, and its tokenizer."""

    model: Any
    tokenizer: Any

    @property
    def device(self) -> torch.device:
        return torch.device(self.model.device)

    def save(self, folder: Path) -> None:
        """Save the reader for `load_reader(folder)` and `AutoModelForQuestionAnswering`."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        forget_code(folder)


def load_reader(name: str, seed: int = 0, device: str | None = None) -> SpanReader:
    """Load the reader of that hub name or folder; missing start and end layers are initialised from the seed.

    Raises InputError where it cannot be loaded.
    """
    target = torch.device(device or default_device())
    with loading(name) as source, seeded(seed, target):
        model = AutoModelForQuestionAnswering.from_pretrained(source, dtype=torch.float32, **NO_CODE, **SAFETENSORS)
        require_numbers(model)
        return SpanReader(model.to(target).eval(), load_tokenizer(source))


def train_reader(
    reader: SpanReader,
    examples: Iterable[Example],
    settings: ReaderSettings,
    progress: Progress = no_progress,
    watch: Watch | None = None,
    scratch: Path | None = None,
) -> None:
    """Train the reader in place on every window of every passage.

    As many processes train as the environment says; each calls watch, which may use the reader. The target of a window
    without the whole answer is the no-answer position. The windows of all examples lie on disk in the folder `scratch`
    during training; the number of tokens of each is in memory. Raises InputError without examples, and where an answer
    does not stand where it should.
    """
    with TemporaryDirectory(dir=scratch) as folder:
        stored = WindowsOnDisk(Path(folder))
        for chunk in _chunks(examples):
            windows = cut(reader, [e.question for e in chunk], [e.passage for e in chunk], settings)
            spans = [(e.answer_start, e.answer_start + len(e.answer)) for e in chunk]
            stored.add(windows, [windows.target(i, *spans[row]) for i, row in enumerate(windows.rows)])
        if not len(stored):
            raise InputError("there are no examples: training a reader needs questions with answers")
        descend_together(_SpanLosses(reader, stored), settings, progress, watch=watch)


@dataclass(frozen=True)
class _SpanLosses:
    """As `RowLosses`: a row is a window, which lies on disk with its target."""

    reader: SpanReader
    stored: WindowsOnDisk

    @property
    def network(self) -> nn.Module:
        return self.reader.model

    @property
    def lengths(self) -> np.ndarray:
        return self.stored.lengths()

    @property
    def weights(self) -> np.ndarray:
        return np.ones(len(self.stored))

    def loss(self, rows: np.ndarray) -> Tensor:
        windows, targets = self.stored.take(rows)
        with fast_training(self.reader.device):
            start, end = span_logits(self.reader, windows, np.arange(len(rows)))
        first, last = torch.from_numpy(targets).to(self.reader.device).T
        wrong = nn.functional.cross_entropy(start, first, reduction="sum")
        return (wrong + nn.functional.cross_entropy(end, last, reduction="sum")) / 2


def answer(
    reader: SpanReader,
    questions: Sequence[str],
    passages: Sequence[str],
    settings: ReaderSettings,
    progress: Progress = no_progress,
) -> list[SpanAnswer]:
    """Return the most likely span of each passage for its question, over all windows; "" if it has no tokens."""
    answers: list[SpanAnswer] = []
    for start in range(0, len(questions), CHUNK):
        chunk_questions = questions[start : start + CHUNK]
        chunk_passages = passages[start : start + CHUNK]
        answers += _answer_chunk(reader, chunk_questions, chunk_passages, settings)
        progress("read", len(answers) / len(questions))
    return answers


def best_spans(start: Tensor, end: Tensor, longest: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return first token, last token and score of each row's best span, among all spans of at most `longest` tokens.

    start, end: (n, t) log-probabilities. Returns three of shape (n,).
    """
    n, tokens = start.shape
    longest = min(longest, tokens)
    nowhere = end.new_full((n, longest - 1), -torch.inf)
    ends = torch.cat([end, nowhere], dim=1).unfold(1, longest, 1)  # (n, t, longest): the ends from each start on
    scores, flat = (start[:, :, None] + ends).transpose(1, 2).reshape(n, -1).max(dim=1)
    first = flat % tokens
    return first, first + flat // tokens, scores


def _chunks(examples: Iterable[Example]) -> Iterator[list[Example]]:
    """Yield the examples, some at a time. Raises InputError where an answer does not stand where it should."""
    numbered = enumerate(examples, 1)
    while chunk := list(islice(numbered, CHUNK)):
        for number, e in chunk:
            if not e.answer or e.answer_start < 0 or not e.passage.startswith(e.answer, e.answer_start):
                raise InputError(
                    f"example {number} ({e.question[:60]!r}): the answer {e.answer[:60]!r} is not at character "
                    f"{e.answer_start} of its passage: correct the answer or its start"
                )
        yield [e for _, e in chunk]


def _answer_chunk(
    reader: SpanReader, questions: Sequence[str], passages: Sequence[str], settings: ReaderSettings
) -> list[SpanAnswer]:
    windows = cut(reader, questions, passages, settings)
    best = [SpanAnswer("", 0, -np.inf)] * len(questions)
    reader.model.eval()
    with torch.inference_mode():
        for rows in windows.tokens.blocks(BUDGETS.get(reader.device.type, SMALL_BUDGET)):
            logits = span_logits(reader, windows, rows)
            start, end = (values.log_softmax(dim=1).cpu() for values in logits)
            inside = windows.inside(rows)
            start = start.masked_fill(~inside, -torch.inf)
            end = end.masked_fill(~inside, -torch.inf)
            for row, first, last, score in zip(rows, *best_spans(start, end, settings.longest_answer), strict=True):
                place = windows.rows[row]
                if score > best[place].score:
                    best[place] = SpanAnswer(*windows.text(row, int(first), int(last), passages[place]), float(score))
    return best


def span_logits(reader: SpanReader, windows: Windows, rows: np.ndarray) -> tuple[Tensor, Tensor]:
    """Return start and end logits (n, t) float32 of these windows.

    All but passage tokens and the no-answer position have the lowest float32.
    """
    columns = {name: [values[i] for i in rows] for name, values in windows.tokens.columns.items()}
    padded = reader.tokenizer.pad(columns, padding_side="right", return_tensors="pt").to(reader.device)
    allowed = windows.inside(rows)
    allowed[torch.arange(len(rows)), windows.nowhere[rows]] = True
    with fast_reading(reader.device):
        outputs = reader.model(**padded)
    start, end = (
        logits.float().masked_fill(~allowed.to(reader.device), torch.finfo(torch.float32).min)
        for logits in (outputs.start_logits, outputs.end_logits)
    )
    return start, end

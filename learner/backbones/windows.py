"""Questions and passages as a reader sees them: windows of tokens, and the characters of each token."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from allpairs.learner.backbones.loading import longest
from allpairs.learner.backbones.rows_on_disk import RowsOnDisk
from allpairs.learner.light.catalog.backbones import ReaderSettings
from allpairs.learner.models.cross_encoder_input import PairTokens

Span = tuple[int, int]  # the first, and the one after the last


class Reads(Protocol):
    """Anything with a network and a tokenizer."""

    @property
    def model(self) -> Any: ...

    @property
    def tokenizer(self) -> Any: ...


@dataclass(frozen=True)
class Windows:
    """Windows of the tokens of question and passage; every passage has at least one.

    rows: (w,) the question of each; passages: the range of passage tokens in each; offsets: the characters of each
    token in its text; nowhere: (w,) the token that stands for "no answer here".
    """

    tokens: PairTokens
    rows: np.ndarray
    passages: list[Span]
    offsets: list[list[Span]]
    nowhere: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def inside(self, numbers: np.ndarray) -> Tensor:
        """Return whether each token of these windows, padded, is of the passage: (n, t) bool."""
        positions = torch.arange(int(self.tokens.lengths[numbers].max()))
        spans = torch.tensor([self.passages[i] for i in numbers])
        return (positions >= spans[:, :1]) & (positions < spans[:, 1:])

    def target(self, number: int, start: int, end: int) -> Span:
        """Return the first and last token of these characters of the passage, or twice the no-answer position.

        The latter stands for a span that is not wholly in the window.
        """
        first, after = self.passages[number]
        places = self.offsets[number][first:after]
        touched = [i for i, (a, b) in enumerate(places) if a < end and b > start]
        if not touched or places[0][0] > start or places[-1][1] < end:
            return int(self.nowhere[number]), int(self.nowhere[number])
        return first + touched[0], first + touched[-1]

    def text(self, number: int, first: int, last: int, passage: str) -> tuple[str, int]:
        """Return the passage's text from this token to that one, stripped, and where it begins."""
        start = self.offsets[number][first][0]
        end = self.offsets[number][last][1]
        text = passage[start:end]
        return text.strip(), start + len(text) - len(text.lstrip())


class WindowsOnDisk:
    """Windows to learn from, each with its target, in files of the folder; none of them is in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.columns: dict[str, RowsOnDisk] = {}
        self.places = RowsOnDisk(folder / "places", np.int64)  # passage, no-answer position, target

    def __len__(self) -> int:
        return len(self.places)

    def add(self, windows: Windows, targets: Sequence[Span]) -> None:
        """Append the windows, with the first and last token that each is to find."""
        for name, rows in windows.tokens.columns.items():
            if name not in self.columns:
                self.columns[name] = RowsOnDisk(self.folder / name, np.int64)
            self.columns[name].add(rows)
        nowhere = windows.nowhere.tolist()
        self.places.add(
            [
                (*passage, position, *to)
                for passage, position, to in zip(windows.passages, nowhere, targets, strict=True)
            ]
        )

    def lengths(self) -> np.ndarray:
        """Return the tokens of each window, (w,) int64."""
        return self.columns["input_ids"].lengths()

    def take(self, numbers: np.ndarray) -> tuple[Windows, np.ndarray]:
        """Return these windows, without offsets, and their targets (k, 2) int64."""
        tokens = PairTokens({name: [row.tolist() for row in rows.take(numbers)] for name, rows in self.columns.items()})
        places = np.stack(self.places.take(numbers))
        spans = [(first, after) for first, after in places[:, :2].tolist()]
        return Windows(tokens, numbers, spans, [], places[:, 2]), places[:, 3:]


def cut(reader: Reads, questions: Sequence[str], passages: Sequence[str], settings: ReaderSettings) -> Windows:
    """Return the windows of each passage with its question, in order; a question is truncated to its maximum length."""
    tokenizer = reader.tokenizer
    limit = longest(reader.model.config, tokenizer, settings.max_length)
    room = min(settings.question_length, limit // 2)
    read = tokenizer(
        [_beginning(tokenizer, question, room) for question in questions],
        list(passages),
        truncation="only_second",
        max_length=limit,
        stride=min(settings.stride, limit // 4),
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    columns = {name: read[name] for name in read if name in tokenizer.model_input_names}
    sides = [read.sequence_ids(i) for i in range(len(read["input_ids"]))]
    return Windows(
        PairTokens(columns),
        np.array(read["overflow_to_sample_mapping"], dtype=np.int64),
        [_span_of(side, 1) for side in sides],
        read["offset_mapping"],
        np.array([_nowhere(ids, tokenizer) for ids in read["input_ids"]], dtype=np.int64),
    )


def _beginning(tokenizer: Any, text: str, tokens: int) -> str:
    """Return the text's first tokens, as text."""
    places = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return text if len(places) <= tokens else text[: places[tokens - 1][1]]


def _span_of(sides: Sequence[int | None], side: int) -> Span:
    """Return the token range of the sequence of that number; an empty span where there is none."""
    positions = [i for i, side_number in enumerate(sides) if side_number == side]
    return (positions[0], positions[-1] + 1) if positions else (0, 0)


def _nowhere(ids: list[int], tokenizer: Any) -> int:
    """Return the position of the token for the whole text, or of the first token where there is none."""
    return ids.index(tokenizer.cls_token_id) if tokenizer.cls_token_id in ids else 0

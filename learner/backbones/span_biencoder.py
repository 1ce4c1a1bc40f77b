"""A span bi-encoder: it reads passages and questions apart; a question's vectors find the ends of its answer.

A token's score is the product of its vector with a head's output for the question's first token; one head is for the
first token of an answer, one for the last. Source: Jia, Lewis and Zettlemoyer (2022), section 2.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoModel

from allpairs.learner.backbones.loading import load_tokenizer, longest
from allpairs.learner.backbones.passage_cutting import Window, windows
from allpairs.learner.backbones.span_reader import SpanAnswer, best_spans
from allpairs.learner.backbones.token_encoder import TokenEncoder
from allpairs.learner.light.catalog.quip import HEADS, Student
from allpairs.learner.models.loading import NO_CODE, SAFETENSORS, loading, require_numbers
from allpairs.learner.models.model_folder import forget_code
from allpairs.learner.runtime.device import default_device, seeded

SPECIAL = 2  # special tokens around a text


class Network(nn.Module):
    """An encoder, and the heads for first and last tokens: two layers each with tanh between."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        size = encoder.config.hidden_size
        spread = getattr(encoder.config, "initializer_range", 0.02)
        self.encoder = encoder
        self.start = _head(size, spread)
        self.end = _head(size, spread)


@dataclass(frozen=True)
class SpanBiencoder:
    """The network and its tokenizer."""

    network: Network
    tokenizer: Any

    @property
    def encoder(self) -> TokenEncoder:
        """The encoder of both passages and questions, with shared weights."""
        return TokenEncoder(self.network.encoder, self.tokenizer)

    @property
    def device(self) -> torch.device:
        return self.encoder.device

    def save(self, folder: Path) -> None:
        """Save the bi-encoder for `load_biencoder(folder)`, and its encoder for `AutoModel`."""
        self.network.encoder.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        forget_code(folder)
        heads = nn.ModuleDict({"start": self.network.start, "end": self.network.end})
        save_file(heads.state_dict(), folder / HEADS)

    def asked(self, questions: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
        """Return the vectors (n, d) for first and last tokens of these questions' answers; keeps gradients."""
        first = self.encoder.vectors(*self.encoder.padded(questions))[:, 0]
        return self.network.start(first), self.network.end(first)

    def asked_many(self, questions: Sequence[str], length: int) -> tuple[Tensor, Tensor]:
        """Return the same for any number of texts, without gradients."""
        ids = self.encoder.tokens(questions, length)
        start = torch.empty(len(ids), self.network.encoder.config.hidden_size, device=self.device)
        end = torch.empty_like(start)
        with torch.inference_mode():
            for rows in self.encoder.blocks(ids):
                start[rows], end[rows] = self.asked([ids[i] for i in rows])
        return start, end


def load_biencoder(name: str, seed: int = 0, device: str | None = None) -> SpanBiencoder:
    """Load the bi-encoder of that hub name or folder; missing heads are initialised from the seed.

    Raises InputError where it cannot be loaded.
    """
    target = torch.device(device or default_device())
    with loading(name) as source, seeded(seed, target):
        network = Network(AutoModel.from_pretrained(source, dtype=torch.float32, **NO_CODE, **SAFETENSORS))
        heads = Path(source) / HEADS
        if heads.is_file():
            nn.ModuleDict({"start": network.start, "end": network.end}).load_state_dict(load_file(heads))
        require_numbers(network)
        return SpanBiencoder(network.to(target).eval(), load_tokenizer(source))


def room(biencoder: SpanBiencoder, settings: Student) -> int:
    """Return how many tokens of a passage are read at once, special tokens excluded."""
    whole = settings.passage_length + SPECIAL
    return longest(biencoder.network.encoder.config, biencoder.tokenizer, whole) - SPECIAL


def answer_apart(
    biencoder: SpanBiencoder, questions: Sequence[str], passage: str, settings: Student
) -> list[SpanAnswer]:
    """Return the most likely span of the passage for each question; "" where the passage has no tokens.

    A long passage is read in windows, of which the centres are kept; probabilities are over the whole passage.
    """
    vectors, places = passage_vectors(biencoder, passage, settings)
    if not len(places):
        return [SpanAnswer("", 0, -float("inf"))] * len(questions)
    question_vectors = biencoder.asked_many(questions, settings.question_length)
    start, end = ((side @ vectors.T).log_softmax(dim=1).cpu() for side in question_vectors)
    spans = zip(*best_spans(start, end, settings.longest_answer), strict=True)
    return [_answer(passage, places[int(i)][0], places[int(j)][1], float(score)) for i, j, score in spans]


def passage_vectors(biencoder: SpanBiencoder, passage: str, settings: Student) -> tuple[Tensor, list[tuple[int, int]]]:
    """Return the vectors (t, d) of a passage's own tokens, without gradients, and the characters of each."""
    read = biencoder.tokenizer(passage, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    size = room(biencoder, settings)
    cut = windows(len(read["input_ids"]), size, min(settings.window_step, size))
    before, after = _around(biencoder.tokenizer)
    ids = [before + read["input_ids"][window.begin : window.end] + after for window in cut]
    centres: list[Tensor] = [torch.empty(0)] * len(cut)
    with torch.inference_mode():
        for rows in biencoder.encoder.blocks(ids):
            vectors = biencoder.encoder.vectors(*biencoder.encoder.padded([ids[i] for i in rows]))
            for row, window_vectors in zip(rows, vectors, strict=True):
                centres[row] = _centre(window_vectors[len(before) :], cut[row])
    return torch.cat(centres), [(int(a), int(b)) for a, b in read["offset_mapping"]]


def _centre(vectors: Tensor, window: Window) -> Tensor:
    return vectors[window.keep_from - window.begin : window.keep_to - window.begin]


def _around(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a text."""
    empty = tokenizer("")["input_ids"]
    return empty[:1], empty[1:]


def _answer(passage: str, start: int, end: int, score: float) -> SpanAnswer:
    text = passage[start:end]
    return SpanAnswer(text.strip(), start + len(text) - len(text.lstrip()), score)


def _head(size: int, spread: float) -> nn.Sequential:
    first = nn.Linear(size, size)
    last = nn.Linear(size, size)
    for layer in (first, last):
        nn.init.normal_(layer.weight, std=spread)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(first, nn.Tanh(), last)

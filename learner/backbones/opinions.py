"""Sentiment by which of two questions a text answers better, and the words that answer it.

Source: Jia, Lewis and Zettlemoyer (2022), section 3.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from allpairs.learner.backbones.loading import MANY, longest
from allpairs.learner.backbones.span_biencoder import SpanBiencoder
from allpairs.learner.backbones.span_reader import best_spans
from allpairs.learner.backbones.token_encoder import TokenEncoder
from allpairs.learner.light.catalog.quip import Student


@dataclass(frozen=True)
class Opinions:
    """The scores of a prompt's two questions on each text, (n, 2), negative first; and their calibration, (2,)."""

    scores: np.ndarray
    calibration: np.ndarray

    def predicted(self, calibrated: bool = True) -> np.ndarray:
        """Return 1 where the positive question scores higher, else 0: (n,) int64."""
        return np.asarray((self.scores - calibrated * self.calibration).argmax(axis=1))


def prompt_questions(prompt: str) -> tuple[str, str]:
    """Return the question for a negative opinion and the one for a positive one."""
    positive, negative = (question.strip() for question in prompt.split("|"))
    return negative, positive


def best_sums(vectors: Tensor, mask: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """Return the best first token's product plus the best last token's, for each text and question: (n, q).

    vectors (n, t, d); mask (n, t) bool, false for padding, which is never the best; start, end (q, d). Source: Jia,
    Lewis and Zettlemoyer (2022), equation 4.
    """
    sides = [
        (vectors @ question_vectors.T).masked_fill(~mask[:, :, None], -torch.inf) for question_vectors in (start, end)
    ]
    return sides[0].max(dim=1).values + sides[1].max(dim=1).values


def product_scores(encoder: TokenEncoder, question_vectors: tuple[Tensor, Tensor], texts: Sequence[str]) -> np.ndarray:
    """Return the scores (n, q) of these texts with questions of these vectors (q, d), for first and last tokens."""
    ids = encoder.tokens(texts)
    scores = np.empty((len(texts), len(question_vectors[0])), dtype=np.float32)
    with torch.inference_mode():
        for rows in encoder.blocks(ids):
            padded, mask = encoder.padded([ids[i] for i in rows])
            scores[rows] = best_sums(encoder.vectors(padded, mask), mask, *question_vectors).cpu().numpy()
    return scores


def rationale_spans(
    biencoder: SpanBiencoder, questions: Sequence[str], texts: Sequence[str], most: int, settings: Student
) -> list[tuple[int, int]]:
    """Return the span of each text, at most `most` tokens long, that answers its question best.

    A span is the position of its first character and the one after its last. A long text is read as when it is scored.
    """
    spans = []
    limit = longest(biencoder.network.encoder.config, biencoder.tokenizer, MANY)
    question_vectors = biencoder.asked_many(questions, settings.question_length)
    for text, start, end in zip(texts, *question_vectors, strict=True):
        read = biencoder.tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=limit)
        with torch.inference_mode():
            vectors = biencoder.encoder.vectors(*biencoder.encoder.padded([read["input_ids"]]))[0]
        is_text = torch.tensor([a < b for a, b in read["offset_mapping"]], device=vectors.device)
        begins, ends = ((vectors @ vector).masked_fill(~is_text, -torch.inf)[None].cpu() for vector in (start, end))
        first, last, _ = best_spans(begins, ends, most)
        spans.append((int(read["offset_mapping"][int(first)][0]), int(read["offset_mapping"][int(last)][1])))
    return spans

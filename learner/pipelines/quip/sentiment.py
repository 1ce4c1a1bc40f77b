"""Sentiment scores of models other than a pre-trained bi-encoder, and rationales."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from allpairs.learner.backbones.opinions import rationale_spans
from allpairs.learner.backbones.span_biencoder import SpanBiencoder
from allpairs.learner.backbones.span_reader import SpanReader, span_logits
from allpairs.learner.backbones.token_encoder import TokenEncoder
from allpairs.learner.backbones.windows import cut
from allpairs.learner.light.catalog.quip import Student, Teacher
from allpairs.learner.models.cross_encoder_input import BUDGETS, SMALL_BUDGET
from allpairs.learner.pipelines.quip.paraphrases import mean_vectors


def first_vectors(encoder: TokenEncoder, questions: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Return each question's first-token vector (q, d), as start and as end vector: an encoder without heads."""
    with torch.inference_mode():
        first = encoder.vectors(*encoder.padded(encoder.tokens(questions)))[:, 0]
    return first, first


def mean_scores(encoder: TokenEncoder, questions: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return the cosines (n, q) of the mean vectors of texts and questions, as a sentence encoder computes them."""
    sides = [torch.nn.functional.normalize(_means(encoder, side), dim=1) for side in (texts, questions)]
    return (sides[0] @ sides[1].T).cpu().numpy()


def read_scores(reader: SpanReader, questions: Sequence[str], texts: Sequence[str], settings: Teacher) -> np.ndarray:
    """Return the scores (n, q) of a reader of text and question: its best start logit plus its best end logit."""
    pairs = [(question, text) for text in texts for question in questions]
    windows = cut(reader, [q for q, _ in pairs], [text for _, text in pairs], settings)
    scores = np.full(len(pairs), -np.inf, dtype=np.float32)
    with torch.inference_mode():
        for rows in windows.tokens.blocks(BUDGETS.get(reader.device.type, SMALL_BUDGET)):
            start, end = span_logits(reader, windows, rows)
            best = (start.max(dim=1).values + end.max(dim=1).values).cpu().numpy()
            np.maximum.at(scores, windows.rows[rows], best)
    return scores.reshape(len(texts), len(questions))


def rationales(
    biencoder: SpanBiencoder, questions: Sequence[str], texts: Sequence[str], most: int, settings: Student
) -> list[str]:
    """Return the words of each text, at most `most` tokens, that best answer its question."""
    spans = rationale_spans(biencoder, questions, texts, most, settings)
    return [text[start:end] for text, (start, end) in zip(texts, spans, strict=True)]


def _means(encoder: TokenEncoder, texts: Sequence[str]) -> Tensor:
    ids = encoder.tokens(texts)
    means = torch.empty(len(ids), encoder.model.config.hidden_size, device=encoder.device)
    with torch.inference_mode():
        for rows in encoder.blocks(ids):
            padded, mask = encoder.padded([ids[i] for i in rows])
            means[rows] = mean_vectors(encoder.vectors(padded, mask), mask)
    return means

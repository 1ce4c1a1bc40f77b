"""Good or bad, by the question that a text answers better; and the words that answer it (paper 003, section 3.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from learner.backbones.span_biencoder import SpanBiencoder
from learner.backbones.span_reader import SpanReader, best_spans, span_logits
from learner.backbones.token_encoder import TokenEncoder
from learner.backbones.windows import cut
from learner.catalog.quip import Student, Teacher
from learner.pair_reader import BUDGETS, SMALL_BUDGET
from learner.pipelines.quip.paraphrases import mean_vectors


@dataclass(frozen=True)
class Opinions:
    """What a prompt's two questions score with each text, (n, 2), the negative one first; and the calibration, (2,)."""

    scores: np.ndarray
    calibration: np.ndarray

    def predicted(self, calibrated: bool = True) -> np.ndarray:
        """1 where the positive question scores higher, else 0: (n,) int64."""
        return np.asarray((self.scores - calibrated * self.calibration).argmax(axis=1))


def questions_of(prompt: str) -> tuple[str, str]:
    """The question for a negative opinion, and the one for a positive."""
    positive, negative = (question.strip() for question in prompt.split("|"))
    return negative, positive


def best_sums(vectors: Tensor, mask: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """The best first token's product plus the best last token's, of each text and question: (n, q).

    vectors (n, t, d); mask (n, t) bool, false for padding, which is never the best; start, end (q, d). Equation 4.
    """
    sides = [(vectors @ asked.T).masked_fill(~mask[:, :, None], -torch.inf) for asked in (start, end)]
    return sides[0].max(dim=1).values + sides[1].max(dim=1).values


def product_scores(encoder: TokenEncoder, asked: tuple[Tensor, Tensor], texts: Sequence[str]) -> np.ndarray:
    """The scores (n, q) of these texts with questions of these vectors (q, d), for first and for last tokens."""
    ids = encoder.tokens(texts)
    scores = np.empty((len(texts), len(asked[0])), dtype=np.float32)
    with torch.inference_mode():
        for rows in encoder.blocks(ids):
            padded, mask = encoder.padded([ids[i] for i in rows])
            scores[rows] = best_sums(encoder.vectors(padded, mask), mask, *asked).cpu().numpy()
    return scores


def first_vectors(encoder: TokenEncoder, questions: Sequence[str]) -> tuple[Tensor, Tensor]:
    """The vectors (q, d) of each question's first token, for first and last tokens alike: an encoder without heads."""
    with torch.inference_mode():
        first = encoder.vectors(*encoder.padded(encoder.tokens(questions)))[:, 0]
    return first, first


def mean_scores(encoder: TokenEncoder, questions: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """The cosines (n, q) of the mean vectors of texts and questions: what an encoder of sentences does by itself."""
    sides = [torch.nn.functional.normalize(_means(encoder, one), dim=1) for one in (texts, questions)]
    return (sides[0] @ sides[1].T).cpu().numpy()


def read_scores(reader: SpanReader, questions: Sequence[str], texts: Sequence[str], settings: Teacher) -> np.ndarray:
    """The same (n, q) by a reader of text and question together: its best logits for first and last token."""
    pairs = [(question, text) for text in texts for question in questions]
    windows = cut(reader, [q for q, _ in pairs], [text for _, text in pairs], settings)
    found = np.full(len(pairs), -np.inf, dtype=np.float32)
    with torch.inference_mode():
        for rows in windows.tokens.blocks(BUDGETS.get(reader.device.type, SMALL_BUDGET)):
            start, end = span_logits(reader, windows, rows)
            best = (start.max(dim=1).values + end.max(dim=1).values).cpu().numpy()
            np.maximum.at(found, windows.rows[rows], best)
    return found.reshape(len(texts), len(questions))


def rationales(
    biencoder: SpanBiencoder, questions: Sequence[str], texts: Sequence[str], longest: int, settings: Student
) -> list[str]:
    """The words of each text, of so many tokens at most, that answer its question best."""
    found = []
    asked = biencoder.asked_many(questions, settings.question_length)
    for text, start, end in zip(texts, *asked, strict=True):
        read = biencoder.tokenizer(text, return_offsets_mapping=True, truncation=True)
        with torch.inference_mode():
            vectors = biencoder.encoder.vectors(*biencoder.encoder.padded([read["input_ids"]]))[0]
        own = torch.tensor([a < b for a, b in read["offset_mapping"]], device=vectors.device)
        begins, ends = ((vectors @ one).masked_fill(~own, -torch.inf)[None].cpu() for one in (start, end))
        first, last, _ = best_spans(begins, ends, longest)
        found.append(text[read["offset_mapping"][int(first)][0] : read["offset_mapping"][int(last)][1]])
    return found


def _means(encoder: TokenEncoder, texts: Sequence[str]) -> Tensor:
    ids = encoder.tokens(texts)
    found = torch.empty(len(ids), encoder.model.config.hidden_size, device=encoder.device)
    with torch.inference_mode():
        for rows in encoder.blocks(ids):
            padded, mask = encoder.padded([ids[i] for i in rows])
            found[rows] = mean_vectors(encoder.vectors(padded, mask), mask)
    return found

"""Scorers of pairs of texts: an encoder's cosine, or a model that reads both texts at once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sentence_transformers import CrossEncoder

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.reranking.reranker import Reranker, load_reranker, pair_scores
from allpairs.learner.models.cross_encoder_input import score_text_pairs
from allpairs.learner.models.loading import NO_CODE, SAFETENSORS, loading, require_numbers
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.inner_product import COSINE, Space, scores
from allpairs.learner.search.rescored import NOTHING, Rescored

CHUNK = 512  # pairs read between two progress reports
ARCHITECTURE = "ForSequenceClassification"


class Scorer(Protocol):
    """Scores any pair of rows of a dataset; its layer, if there is one, turns a score into a probability."""

    @property
    def layer(self) -> OutputLayer | None:
        """p = sigmoid(w·score + b)."""

    def score(self, left: np.ndarray, right: np.ndarray, progress: Progress = no_progress) -> np.ndarray:
        """Return the score of each pair of rows, (n,)."""


@dataclass(frozen=True)
class VectorScorer:
    """The score of an encoder's vectors (rows of the dataset, d): the cosine of unit vectors, or another space's.

    rescored: the pairs that a second stage has scored again.
    """

    vectors: np.ndarray
    layer: OutputLayer | None
    space: Space = COSINE
    rescored: Rescored = NOTHING

    def score(self, left: np.ndarray, right: np.ndarray, progress: Progress = no_progress) -> np.ndarray:
        """Return the score of each pair of rows, (n,) float32."""
        return self.rescored.replace(left, right, scores(self.vectors, left, right, self.space))


@dataclass(frozen=True)
class TextScorer:
    """The logit of a cross-encoder for each pair of texts (ConcatBERT): p = sigmoid(score), the threshold is 0."""

    model: CrossEncoder
    texts: Sequence[str]

    @property
    def layer(self) -> OutputLayer:
        """The logit as it is."""
        return OutputLayer(1.0, 0.0)

    def score(self, left: np.ndarray, right: np.ndarray, progress: Progress = no_progress) -> np.ndarray:
        """Return the logit of each pair of rows, (n,) float32; every pair is read alone."""
        parts = [np.empty(0, dtype=np.float32)]
        for start in range(0, len(left), CHUNK):
            chunk = slice(start, start + CHUNK)
            parts.append(score_text_pairs(self.model, self.texts, left[chunk], right[chunk]))
            progress("score", min(1.0, (start + CHUNK) / len(left)))
        return np.concatenate(parts)


@dataclass(frozen=True)
class RerankScorer:
    """The score of a re-ranker, true's logit minus false's, or joined with its first stage's; p = sigmoid(score).

    Source: Ju, Yang and Wang (2021).
    """

    model: Reranker
    texts: Sequence[str]

    @property
    def layer(self) -> OutputLayer:
        """The score as it is."""
        return OutputLayer(1.0, 0.0)

    def score(self, left: np.ndarray, right: np.ndarray, progress: Progress = no_progress) -> np.ndarray:
        """Return the score of each pair of rows, (n,) float32; the left text is the query, every pair is read alone."""
        pairs = np.column_stack([left, right])
        return pair_scores(self.model, self.texts, self.texts, pairs, progress).astype(np.float32)


def load_rerank_scorer(name: str, texts: Sequence[str], device: str | None = None) -> RerankScorer:
    """Load the scorer of a re-ranker's folder, for these texts. Raises InputError if the folder is not one."""
    return RerankScorer(load_reranker(name, device), texts)


def is_cross_encoder(name: str) -> bool:
    """Return whether the name is a folder with a model for sequence classification."""
    try:
        config: dict[str, Any] = json.loads((Path(name).expanduser() / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return any(str(kind).endswith(ARCHITECTURE) for kind in config.get("architectures") or [])


def load_cross_encoder(name: str, texts: Sequence[str], device: str | None = None) -> TextScorer:
    """Load the scorer of a cross-encoder's folder, for these texts. Raises InputError if the folder is not one."""
    with loading(name, "cross-encoder") as source:
        model = CrossEncoder(source, device=device, **NO_CODE, model_kwargs={**SAFETENSORS})
        require_numbers(model)
    if model.num_labels not in (1, 2):
        problem = f"the model has {model.num_labels} outputs, but scoring needs one, or two (no, yes)"
        raise InputError(f"{name}: {problem}: use another model")
    return TextScorer(model, texts)

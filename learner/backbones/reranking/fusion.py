"""A re-ranker's score joined with a first stage's: the log-odds of a logistic regression on cosine, BM25 and its own.

A re-ranker alone forgets how near the first stage thought two texts; joined, it only corrects that order.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.search.bm25_pairs import WordCounts, load_word_counts

# in a re-ranker's folder
FILE = "fusion.json"
WORDS = "words.json.gz"


@dataclass(frozen=True)
class FirstScores:
    """The scores of a first stage for any pair of texts: an encoder (a name, or a folder), and a collection's words."""

    encoder: str
    words: WordCounts

    @cached_property
    def _model(self) -> Encoder:
        return load_encoder(self.encoder)

    def of(
        self, queries: Sequence[str], passages: Sequence[str], pairs: np.ndarray, progress: Progress = no_progress
    ) -> np.ndarray:
        """Return cosine and BM25 of each pair (n, 2) of a query and a passage by row, (n, 2) float64."""
        query_rows, of_query = np.unique(pairs[:, 0], return_inverse=True)
        passage_rows, of_passage = np.unique(pairs[:, 1], return_inverse=True)
        vectors = self._model.encode(
            [queries[row] for row in query_rows] + [passages[row] for row in passage_rows], progress
        )
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
        left = vectors[: len(query_rows)]
        right = vectors[len(query_rows) :]
        cosines = np.einsum("nd,nd->n", left[of_query], right[of_passage], dtype=np.float64)
        return np.column_stack([cosines, self.words.scores(queries, passages, pairs)])


@dataclass(frozen=True)
class Fusion:
    """The weights of cosine, BM25 and (if there is a third) the re-ranker's score, and the constant."""

    weights: tuple[float, ...]
    constant: float

    def join(self, first: np.ndarray, rerank_scores: np.ndarray | None = None) -> np.ndarray:
        """Return the log-odds (…) of the first stage's scores (…, 2), with the re-ranker's own (…) if it is joined."""
        columns = first if rerank_scores is None else np.concatenate([first, rerank_scores[..., None]], axis=-1)
        return np.asarray(columns @ np.array(self.weights) + self.constant)


def fit_fusion(right: np.ndarray, first: np.ndarray, rerank_scores: np.ndarray | None = None) -> Fusion:
    """Fit the weights to pairs. right: (n,) bool, with both kinds; first (n, 2) and own (n,) as in `Fusion.join`."""
    scores = first if rerank_scores is None else np.column_stack([first, rerank_scores])
    scaler, model = fitted = make_pipeline(StandardScaler(), LogisticRegression())
    fitted.fit(scores, right)
    weights = model.coef_[0] / scaler.scale_
    return Fusion(tuple(weights.tolist()), float(model.intercept_[0] - weights @ scaler.mean_))


@dataclass(frozen=True)
class Fused:
    """A fusion, and the first stage whose scores it joins."""

    first: FirstScores
    fusion: Fusion

    def save(self, folder: Path) -> None:
        """Write both into the folder of their re-ranker."""
        stored = {"encoder": self.first.encoder, "weights": self.fusion.weights, "constant": self.fusion.constant}
        (folder / FILE).write_text(json.dumps(stored), encoding="utf-8")
        self.first.words.save(folder / WORDS)


def load_fused(folder: Path) -> Fused | None:
    """Load what `Fused.save` wrote; None if the folder holds none. Raises InputError where it cannot be read."""
    if not (folder / FILE).is_file():
        return None
    try:
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        fusion = Fusion(tuple(map(float, stored["weights"])), float(stored["constant"]))
        return Fused(FirstScores(str(stored["encoder"]), load_word_counts(folder / WORDS)), fusion)
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"{folder}: {FILE} cannot be read ({error})"
        raise InputError(f"{problem}: name another folder that a pipeline made") from None

"""A matcher's score: the encoder's cosine blended with lexical similarity, with the hubness correction.

    score(a, b) = (cos(a, b) + Σ weight·similarity(a, b)) / (1 + Σ weight) - hubness(a) - hubness(b)

It is an inner product of vectors minus an offset for each text, so that the same search and evaluation serve it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from allpairs.db.domain import Distance
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.data.lexical_features import DIMENSIONS, Lexicon
from allpairs.learner.scoring.hubness import hubness_of
from allpairs.learner.scoring.lexical_weights import total


@dataclass(frozen=True)
class Blend:
    """hubness: weight of `learner.scoring.hubness`; lexical: weight of each kind of feature, the cosine's being 1."""

    hubness: float = 0.0
    lexical: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the blend for a matcher's details; `Blend.read` reads it back."""
        return asdict(self)

    @classmethod
    def read(cls, details: Mapping[str, Any]) -> "Blend":
        """Return the blend of a matcher with these details, or the plain cosine if they have none.

        Raises ValueError, TypeError or AttributeError if they are broken.
        """
        lexical = {str(kind): float(weight) for kind, weight in details.get("lexical", {}).items()}
        return cls(float(details.get("hubness", 0.0)), lexical)

    def joined(self, vectors: np.ndarray, lexicon: Lexicon | None) -> np.ndarray:
        """Return the vectors (texts, d) with columns for lexical features and one for the offset, without hubness.

        Float32. lexicon: of the same texts; needed if lexical features count.
        """
        n, d = vectors.shape
        lexical, lacking = lexicon.vectors(self.lexical) if lexicon else (np.empty((n, 0)), np.zeros(n))
        # Allocated once: copies would not fit for very many texts.
        whole = np.empty((n, d + lexical.shape[1] + 1), dtype=np.float32)
        whole[:, :d] = vectors
        whole[:, d:-1] = lexical
        whole[:, -1] = lacking
        if lexicon:
            weight = np.float32(total(self.lexical))
            whole[:, :-1] /= np.sqrt(weight)
            whole[:, -1] /= weight
        return whole

    @property
    def extra(self) -> int:
        """The columns that blended vectors have besides the encoder's."""
        return 1 + (DIMENSIONS + 1 if self.lexical else 0)

    @property
    def needs_all(self) -> bool:
        """Whether the score of two texts depends on the others."""
        return bool(self.hubness or self.lexical)


def blended(
    dataset: Dataset,
    vectors: np.ndarray,
    blend: Blend,
    distance: Distance = "cosine",
    progress: Progress = no_progress,
) -> np.ndarray:
    """Return the vectors (texts, d), with columns for lexical features if they count, and a last one for the offset.

    The offset is subtracted from a text's scores. All float32. Lexical features need unit vectors and their cosine.
    """
    whole = blend.joined(vectors, dataset.lexicon if blend.lexical else None)
    if blend.hubness:
        whole[:, -1] += hubness_of(dataset, whole, blend.hubness, distance, progress)
    return whole


def lacking_of(dataset: Dataset, blend: Blend) -> np.ndarray:
    """Return the offsets (texts,) that blended vectors have besides the hubness correction, float32."""
    if not blend.lexical:
        return np.zeros(len(dataset.texts), dtype=np.float32)
    lacking: np.ndarray = dataset.lexicon.lacking(blend.lexical) / np.float32(total(blend.lexical))
    return lacking

"""What a matcher's score is made of: the encoder's cosine, beside it how texts are spelled, less how crowded they are.

    score(a, b) = (cos(a, b) + Σ weight·similarity(a, b)) / (1 + Σ weight) - crowd(a) - crowd(b)

All of it is an inner product of vectors less an offset for each text, so that one search and one way to measure do.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from db.domain import Distance, renamed
from db.progress import Progress, no_progress
from learner.data.dataset import Dataset
from learner.scoring.hubness import hubness_of
from learner.scoring.lexical_weights import total


@dataclass(frozen=True)
class Blend:
    """hubness: weight of `learner.scoring.hubness`; lexical: weight of each kind of feature; the cosine's is 1."""

    hubness: float = 0.0
    lexical: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For a matcher's details; `Blend.read` is the way back."""
        return asdict(self)

    @classmethod
    def read(cls, details: Mapping[str, Any]) -> "Blend":
        """The blend of a matcher with these details, the plain cosine where they name none.

        Raises ValueError, TypeError or AttributeError where they are broken.
        """
        lexical = {str(kind): float(weight) for kind, weight in details.get("lexical", {}).items()}
        return cls(float(renamed(details).get("hubness", 0.0)), lexical)

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
    """The vectors (texts, d), more columns where spelling counts, and a last one: what is taken off a text's scores.

    All float32. Spelling goes with unit vectors and their cosine alone.
    """
    n, d = vectors.shape
    spelled, lacking = dataset.lexicon.vectors(blend.lexical) if blend.lexical else (np.empty((n, 0)), np.zeros(n))
    whole = np.empty((n, d + spelled.shape[1] + 1), dtype=np.float32)  # at once: of very many texts copies have no room
    whole[:, :d], whole[:, d:-1], whole[:, -1] = vectors, spelled, lacking
    if blend.lexical:
        weight = np.float32(total(blend.lexical))
        whole[:, :-1] /= np.sqrt(weight)
        whole[:, -1] /= weight
    if blend.hubness:
        whole[:, -1] += hubness_of(dataset, whole, blend.hubness, distance, progress)
    return whole

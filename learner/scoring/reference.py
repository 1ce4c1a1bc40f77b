"""What a score needs of the corpus, kept with the model, which then scores texts elsewhere as it was measured.

A text of the corpus keeps its hubness. A text outside the corpus gets its hubness against a sample of the corpus,
mapped by a line to what the whole corpus would have given; how far that moves p is measured on texts of the corpus.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.domain import Distance
from allpairs.db.errors import InputError
from allpairs.db.files.arrays import DAMAGE, read_arrays, require_array
from allpairs.db.identity import identity
from allpairs.learner.data.corpus_terms import CorpusTerms
from allpairs.learner.data.lexical_features import lexicon_by
from allpairs.learner.scoring.hubness import NEIGHBOURS
from allpairs.learner.scoring.score import Blend
from allpairs.learner.search.exact import nearest_scores
from allpairs.learner.search.inner_product import Space, as_left, as_right
from allpairs.learner.second_stage.competition import CANDIDATES, Competition, best_candidates

FILE = "reference.npz"
VERSION = 2
FEW = 256  # queries that are multiplied with the whole sample at once
LEAST_SPREAD = 1e-6  # of mean scores: below, no slope can be fitted
MOVES = ("texts", "mean", "in_95_percent_at_most", "most")


@dataclass(frozen=True)
class ListReference:
    """What is kept of one list.

    known: (k,) uint64 digests of its texts, ascending; hubness: (k,) float32, their own. sample: (s, d) float16 vectors
    of some of its texts with their offset but without hubness, the neighbours of texts of the other list. weight, slope
    and intercept: the hubness of a text that is not known is weight·(slope·mean + intercept), where mean is that of its
    scores with its nearest texts in the sample of the other list. near: (k, CANDIDATES) float32, the scores of each
    text's best candidates; sample_hubness: (s,) float32, of the sample; both empty unless there is a second stage.
    """

    known: np.ndarray
    hubness: np.ndarray
    sample: np.ndarray
    weight: float
    slope: float = 1.0
    intercept: float = 0.0
    near: np.ndarray = field(default_factory=lambda: np.empty((0, CANDIDATES), dtype=np.float32))
    sample_hubness: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    _factors: dict[tuple[Space, bool, bool], np.ndarray] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def nearest(self, queries: np.ndarray, space: Space, of_left: bool, k: int, hubness: bool = False) -> np.ndarray:
        """Return the k highest scores of each query (n, d) with the sample, (n, k) float32, the highest first.

        of_left: whether the queries are; hubness: with the correction of the sample's texts. The sample is kept as the
        factor of a product: turning it into one takes longer than multiplying it with one query.
        """
        key = space, of_left, hubness
        if key not in self._factors:
            sample = self.sample.astype(np.float32)
            if hubness:
                sample[:, -1] += self.sample_hubness
            self._factors[key] = (as_right if of_left else as_left)(sample, space)
        return _highest((as_left if of_left else as_right)(queries, space), self._factors[key], k)

    def find(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the place of each text among the known ones, and whether it is one of them: (n,) int64 and bool."""
        digests = digests_of(texts)
        place = np.minimum(np.searchsorted(self.known, digests), max(0, len(self.known) - 1))
        is_known = self.known[place] == digests if len(self.known) else np.zeros(len(texts), dtype=bool)
        return place, is_known

    def hubness_by(self, means: np.ndarray) -> np.ndarray:
        """Return the hubness of texts by their mean scores with their nearest texts in the sample, (n,)."""
        return np.asarray(self.weight * (self.slope * means + self.intercept), dtype=np.float32)

    def fitted(self, means: np.ndarray, hubness: np.ndarray) -> "ListReference":
        """Return the same with the line through these means that is nearest to the texts' hubness."""
        unweighted = hubness / self.weight
        if np.ptp(means) < LEAST_SPREAD:
            return replace(self, intercept=float(np.mean(unweighted - means)))
        slope, intercept = np.polyfit(means.astype(np.float64), unweighted.astype(np.float64), 1)
        return replace(self, slope=float(slope), intercept=float(intercept))


NOTHING = ListReference(
    np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.float32), np.empty((0, 0), dtype=np.float16), 0.0
)


@dataclass(frozen=True)
class Reference:
    """The lists, the terms that lexical similarity goes by, and `moves`: how far p moves for a text not known."""

    left: ListReference
    right: ListReference
    terms: CorpusTerms | None
    moves: dict[str, float]

    @property
    def one_list(self) -> bool:
        """Whether the corpus was one list."""
        return self.left is self.right

    def as_dict(self) -> dict[str, Any]:
        """Return its entries in a matcher's details."""
        return {"p_moves": self.moves} if self.moves else {}


def referred(
    reference: Reference,
    blend: Blend,
    texts: Sequence[str],
    encoded: np.ndarray,
    of_left: bool,
    distance: Distance = "cosine",
) -> np.ndarray:
    """Return the blended vectors (texts, d) of texts of the left list, or of the right one, known or not, float32.

    encoded: (texts, e), by the matcher's encoder.
    """
    if not len(texts):
        return np.empty((0, encoded.shape[1] + blend.extra), dtype=np.float32)
    lexicon = lexicon_by(reference.terms, texts) if reference.terms and blend.lexical else None
    whole = blend.joined(encoded, lexicon)
    if not blend.hubness:
        return whole
    own_list, other_list = (reference.left, reference.right) if of_left else (reference.right, reference.left)
    place, is_known = own_list.find(texts)
    new = ~is_known
    offset = np.zeros(len(texts), dtype=np.float32)
    offset[is_known] = own_list.hubness[place[is_known]]
    if new.any() and len(other_list.sample):
        means = other_list.nearest(whole[new], Space(distance, offset=True), of_left, NEIGHBOURS).mean(1)
        offset[new] = own_list.hubness_by(means)
    whole[:, -1] += offset
    return whole


def candidates_of(
    reference: Reference, texts: Sequence[str], vectors: np.ndarray, of_left: bool, distance: Distance = "cosine"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the best candidates of texts of the left list, or of the right one, (n, CANDIDATES) float32.

    Also returns which texts (n,) are outside the corpus: their candidates are of the sample, in half precision.
    vectors: (texts, d), blended.
    """
    own_list, other_list = (reference.left, reference.right) if of_left else (reference.right, reference.left)
    place, is_known = own_list.find(texts)
    best = np.full((len(texts), CANDIDATES), -np.inf, dtype=np.float32)
    best[is_known] = own_list.near[place[is_known]]
    if not is_known.all() and len(other_list.sample):
        space = Space(distance, offset=True)
        best[~is_known] = best_candidates(
            other_list.nearest(vectors[~is_known], space, of_left, CANDIDATES, hubness=True)
        )
    return best, ~is_known


def with_known(reference: Reference, texts: Sequence[str], competition: Competition) -> Competition:
    """Return the competition of these texts, where the texts of the corpus have the best candidates they had there."""

    def known(own_list: ListReference, best: np.ndarray) -> np.ndarray:
        place, is_known = own_list.find(texts)
        scores = best.copy()
        scores[is_known] = own_list.near[place[is_known]]
        return scores

    left = known(reference.left, competition.left)
    one_list = competition.left is competition.right
    return Competition(left, left if one_list else known(reference.right, competition.right))


def near_sample(queries: np.ndarray, sample: np.ndarray, space: Space, of_left: bool, k: int) -> np.ndarray:
    """Return the k highest scores of each query with the sample, (n, k) float32, the highest first."""
    query_factor, sample_factor = (as_left, as_right) if of_left else (as_right, as_left)
    return _highest(query_factor(queries, space), sample_factor(sample.astype(np.float32), space), k)


def _highest(queries: np.ndarray, candidates: np.ndarray, k: int) -> np.ndarray:
    """Return the k highest products of each query (n, d) with the others (m, d), (n, k) float32, the highest first."""
    if len(queries) > FEW:
        return -np.sort(-nearest_scores(queries, candidates, k, symmetric=False), axis=1)
    lowered = -(queries @ candidates.T)
    k = min(k, len(candidates))
    return -np.sort(np.partition(lowered, k - 1, axis=1)[:, :k], axis=1)


def digests_of(texts: Sequence[str]) -> np.ndarray:
    """Return 64 bits of the SHA-256 of each text, equal for texts that differ only in white space, (n,) uint64."""
    bits = b"".join(sha256(identity(text).encode("utf-8", "surrogatepass")).digest()[:8] for text in texts)
    return np.frombuffer(bits, dtype="<u8").astype(np.uint64)


def save_reference(reference: Reference, folder: Path) -> None:
    """Write the reference to its file in the folder."""
    version = VERSION if len(reference.left.sample_hubness) else 1  # earlier versions of Allpairs know no second stage
    arrays: dict[str, Any] = {"version": np.int64(version), "moves": _packed(reference.moves)}
    for side in ("left", "right"):
        listed: ListReference = getattr(reference, side)
        if side == "right" and reference.one_list:
            continue
        line = np.array([listed.weight, listed.slope, listed.intercept])
        arrays |= {
            f"{side}_known": listed.known,
            f"{side}_hubness": listed.hubness,
            f"{side}_sample": listed.sample,
            f"{side}_line": line,
        }
        if len(listed.sample_hubness):
            arrays |= {f"{side}_near": listed.near, f"{side}_sample_hubness": listed.sample_hubness}
    if reference.terms:
        arrays |= {f"terms_{name}": array for name, array in reference.terms.as_arrays().items()}
    with (folder / FILE).open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_reference(folder: Path) -> Reference | None:
    """Return the reference of a matcher's folder; None if it has none. Raises InputError if it is damaged or newer."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        arrays = read_arrays(path)
        if int(arrays["version"]) > VERSION:
            raise InputError(f"{path} was written by a newer version of Allpairs: update this one")
        left = _read_list(arrays, "left")
        right = _read_list(arrays, "right") if "right_known" in arrays else left
        terms = {name.removeprefix("terms_"): array for name, array in arrays.items() if name.startswith("terms_")}
        return Reference(left, right, CorpusTerms.read(terms) if terms else None, _unpacked(arrays["moves"]))
    except (OSError, *DAMAGE) as error:
        raise InputError(f"{path} is damaged ({error!r}): download the model again, or train it again") from error


def _read_list(arrays: dict[str, np.ndarray], side: str) -> ListReference:
    weight, slope, intercept = map(float, require_array(arrays[f"{side}_line"], "float64", (3,)))
    known = require_array(arrays[f"{side}_known"], "uint64", (None,))
    if (known[1:] < known[:-1]).any():
        raise ValueError("known texts that do not ascend")
    hubness = require_array(arrays[f"{side}_hubness"], "float32", known.shape)
    sample = require_array(arrays[f"{side}_sample"], "float16", (None, None))
    whole = ListReference(known, hubness, sample, weight, slope, intercept)
    if f"{side}_near" not in arrays:
        return whole
    near = require_array(arrays[f"{side}_near"], "float32", (len(known), CANDIDATES), lowest=True)
    return replace(
        whole, near=near, sample_hubness=require_array(arrays[f"{side}_sample_hubness"], "float32", (len(sample),))
    )


def _packed(moves: dict[str, float]) -> np.ndarray:
    return np.array([moves[name] for name in MOVES] if moves else [], dtype=np.float64)


def _unpacked(packed: np.ndarray) -> dict[str, float]:
    numbers = require_array(packed, "float64", (None,)).tolist()
    return dict(zip(MOVES, numbers, strict=True)) if numbers else {}

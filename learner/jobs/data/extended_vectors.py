"""The vectors of texts that were added to a project, put behind those of the others, which stay as they are.

What is made anew, and why no more:

- The encoder's vectors: of the added texts alone. Those of the others depend on their own text only.
- Lexical columns: of the added texts, by the terms and rarities of the texts that the model was made with. Other
  rarities would change the columns of every text, and with them scores to which the model's weights were fitted.
- The hubness correction: of the added texts, by their nearest among the texts that were there, as for any text that
  a model meets later (`learner.scoring.reference`). The corrections of the others stay, though an added text may be
  nearer to one of them than those on which its correction rests. So pairs that were there keep their scores, and
  groups that no added text touches stay as they are. The next round makes all of it anew.
- Of a pre-trained encoder, whose vectors no round makes anew, all corrections: once more than a tenth of the texts is
  new. They are computed from the vectors, without encoding.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.resumable_encoding import encoded
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.scoring.hubness import hubness_among, hubness_of, hubness_weight
from allpairs.learner.scoring.make_reference import MOST_HELD_OUT, SAMPLE
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.learner.scoring.reference import NOTHING, ListReference
from allpairs.learner.search.inner_product import BLENDED

MOST_NEW = 0.1  # share of new texts above which all hubness corrections of a pre-trained encoder are computed anew


def extended_by_matcher(
    folder: Path, stored: np.ndarray, data: ProjectData, making: Path, progress: Progress
) -> np.ndarray:
    """Return the blended vectors (items, d) under a trained matcher; stored: (k, d) of the first items.

    making: folder for the vectors while they are encoded.
    """
    matcher = load_matcher(str(folder))
    texts = data.dataset.texts[len(stored) :]
    first = len(stored)
    vectors = encoded(matcher.encoder, texts, making, progress)
    whole = np.empty((len(data.item_ids), stored.shape[1]), dtype=np.float32)
    whole[:first] = stored
    right = _is_right(data, first)
    for of_side, of_left in ((~right, True), (right, False)):
        of_list = [texts[row] for row in np.flatnonzero(of_side).tolist()]
        whole[first:][of_side] = matcher.vectors_of(of_list, vectors[of_side], of_left)
    return whole


def extended_by_encoder(
    load: Callable[[], Encoder], hubness: float, stored: np.ndarray, data: ProjectData, making: Path, progress: Progress
) -> np.ndarray:
    """Return the blended vectors (items, d) under a pre-trained encoder; hubness: weight of its correction."""
    dataset = data.dataset
    first = len(stored)
    whole = np.zeros((len(data.item_ids), stored.shape[1]), dtype=np.float32)
    whole[first:, :-1] = encoded(load(), dataset.texts[first:], making, progress)
    whole[:first, :-1] = stored[:, :-1]
    if not hubness:
        return whole
    if len(whole) - first > MOST_NEW * first:
        whole[:, -1] = hubness_of(dataset, whole, hubness, progress=progress)
        return whole
    right = _is_right(data, first)
    offset = np.zeros(len(whole) - first, dtype=np.float32)
    sides = ((~right, dataset.left, dataset.right), (right, dataset.right, dataset.left))
    for of_side, same_list, other_list in sides:
        rows = first + np.flatnonzero(of_side)
        weight = hubness_weight(hubness, same_list, other_list)
        known = same_list[same_list < first]
        other_list = other_list[other_list < first]
        offset[of_side] = extended_hubness(whole, rows, known, stored[known, -1], other_list, weight)
    whole[:first, -1] = stored[:, -1]
    whole[first:, -1] = offset
    return whole


def extended_hubness(
    vectors: np.ndarray, rows: np.ndarray, known: np.ndarray, hubness: np.ndarray, other_list: np.ndarray, weight: float
) -> np.ndarray:
    """Return the hubness correction of these rows by their nearest of the others, (n,) float32.

    vectors: (items, d) without it. known: rows of the same list, whose own is `hubness`. Of many others a sample stands
    for all, as in a model's reference: a line maps what it says to what all of them say.
    """
    if len(other_list) <= SAMPLE or not len(rows):
        return np.asarray(weight * hubness_among(vectors, rows, other_list, BLENDED), dtype=np.float32)
    rng = np.random.default_rng(0)
    sample = np.sort(rng.choice(other_list, SAMPLE, replace=False))
    free = np.flatnonzero(~np.isin(known, sample))
    calibration = rng.choice(free, min(MOST_HELD_OUT, len(free)), replace=False)
    line = ListReference(NOTHING.known, NOTHING.hubness, vectors[sample], weight)
    line = line.fitted(hubness_among(vectors, known[calibration], sample, BLENDED), hubness[calibration])
    return line.hubness_by(hubness_among(vectors, rows, sample, BLENDED))


def _is_right(data: ProjectData, first: int) -> np.ndarray:
    """Return which rows from this one on are of the right list, withdrawn ones too, (n,) bool."""
    dataset = data.dataset
    rows = np.arange(first, len(data.item_ids))
    if dataset.symmetric:
        return np.zeros(len(rows), dtype=bool)
    is_right: np.ndarray = np.isin(rows, dataset.right) | np.isin(rows, dataset.gone_right)
    return is_right

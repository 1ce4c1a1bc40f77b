"""The groups that a matcher makes of the evaluation items, by each clustering; nobody's answers are in them.

Groups that people's answers had mended would be measured by the same answers.
"""

import numpy as np

from allpairs.db.domain import Clustering, Kind
from allpairs.db.files.checksums import Damaged
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.evaluation.entities.drawing import TextPopulation
from allpairs.learner.jobs.data.stored_arrays import load_arrays, save_arrays
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.grouping import possible
from allpairs.learner.light.groups.links import Links
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.top_pairs import best_pairs

LEAST = 0.5  # probability of a match
Groups = dict[Clustering, np.ndarray]


def groups_of(matcher: StoredModel, corpus: TextPopulation, of: str, progress: Progress) -> Groups:
    """Return the group of each text of the corpus, (n,) int64, by clustering; empty without an output layer.

    of: the corpus's `population`. They are stored beside the model. Raises InputError for more than 20 million matches.
    """
    layer = None if matcher.w is None or matcher.b is None else OutputLayer(matcher.w, matcher.b)
    if matcher.folder is None or layer is None or layer.threshold is None:
        return {}
    path = artifacts() / matcher.folder.removesuffix("/model") / f"groups{of}.npz"
    try:
        stored = load_arrays(path, "")
    except Damaged:
        stored = {how.value: group for how, group in _made(layer, layer.threshold, corpus, progress).items()}
        save_arrays(path, **stored)
    return {Clustering(how): group for how, group in stored.items()}


def _made(layer: OutputLayer, least: float, corpus: TextPopulation, progress: Progress) -> Groups:
    sides = corpus.sides
    found = best_pairs(
        sides.left, sides.right, sides.symmetric, threshold=least, rescored=sides.rescored, progress=progress
    )
    right = found.right if sides.symmetric else found.right + len(sides.left)
    links = Links(len(corpus), found.left, right, layer.probability(found.score), second=corpus.second)
    kind = Kind.SYMMETRIC if sides.symmetric else Kind.BIPARTITE
    return {how: clustered(links, how, LEAST) for how in possible(kind, has_p=True)}

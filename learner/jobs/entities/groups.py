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


def groups_of(matcher: StoredModel, corpus: TextPopulation, population: str, progress: Progress) -> Groups:
    """Return the group of each text of the corpus, (n,) int64, by clustering; empty without an output layer.

    population: that of the corpus, which names the file beside the model where they are stored. Raises InputError for
    more than 20 million matches.
    """
    layer = None if matcher.w is None or matcher.b is None else OutputLayer(matcher.w, matcher.b)
    if matcher.folder is None or layer is None or layer.threshold is None:
        return {}
    path = artifacts() / matcher.folder.removesuffix("/model") / f"groups{population}.npz"
    try:
        stored = load_arrays(path, "")
    except Damaged:
        stored = {
            clustering.value: group
            for clustering, group in _groups_by_clustering(layer, layer.threshold, corpus, progress).items()
        }
        save_arrays(path, **stored)
    return {Clustering(clustering): group for clustering, group in stored.items()}


def _groups_by_clustering(layer: OutputLayer, least: float, corpus: TextPopulation, progress: Progress) -> Groups:
    sides = corpus.sides
    matches = best_pairs(
        sides.left, sides.right, sides.symmetric, threshold=least, rescored=sides.rescored, progress=progress
    )
    right = matches.right if sides.symmetric else matches.right + len(sides.left)
    links = Links(len(corpus), matches.left, right, layer.probability(matches.score), second=corpus.second)
    kind = Kind.SYMMETRIC if sides.symmetric else Kind.BIPARTITE
    return {clustering: clustered(links, clustering, LEAST) for clustering in possible(kind, has_p=True)}

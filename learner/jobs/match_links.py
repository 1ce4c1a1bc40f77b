"""The pairs of a project as links between its texts, from which groups are made."""

from dataclasses import replace

import numpy as np

from allpairs.db.domain import DECIDED
from allpairs.learner.jobs.data.matching_project import KnownAnswers
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.light.groups.links import Links
from allpairs.learner.models.output_layer import OutputLayer, probability_of
from allpairs.learner.search.exact import Pairs


def links_of_matches(data: ProjectData, pairs: Pairs, known: KnownAnswers, layer: OutputLayer | None) -> Links:
    """Return the pairs as links between rows, with what is known of any pair."""
    dataset = data.dataset
    n = len(data.item_ids)
    yes, no = (
        np.array([pair for pair, label in known.items() if label == answer], dtype=np.int64).reshape(-1, 2)
        for answer in DECIDED
    )
    second = None if dataset.symmetric else np.isin(np.arange(n), dataset.right)
    return Links(n, pairs.left, pairs.right, probability_of(layer, pairs.score), yes, no, second)


def with_weak(links: Links, weak: Pairs, layer: OutputLayer | None) -> Links:
    """Return the links with the weak pairs that are none yet.

    They connect nothing, but the mean p between two groups counts each with its p, and any other pair as 0.
    """
    known = links.left * links.n + links.right
    weak = weak.take(~np.isin(weak.keys(links.n), known))
    return replace(
        links,
        left=np.concatenate([links.left, weak.left]),
        right=np.concatenate([links.right, weak.right]),
        p=np.concatenate([links.p, probability_of(layer, weak.score)]),
    )

"""The clusterings: how scored pairs and people's answers make groups."""

from dataclasses import replace

import numpy as np

from allpairs.db.corpus import graph
from allpairs.db.domain import Clustering
from allpairs.learner.light.groups.assignment import best_links, optimal_assignment
from allpairs.learner.light.groups.linkage import agglomerate
from allpairs.learner.light.groups.links import Links
from allpairs.learner.light.groups.local_moves import moved

TWO_LISTS = (Clustering.ONE_TO_ONE, Clustering.ONE_TO_MANY)  # these need two lists


def clustered(links: Links, clustering: Clustering, least: float) -> np.ndarray:
    """Return the group of each text, (n,) int64, named by its smallest text. Links below `least` connect nothing.

    - connected: texts are in one group if a chain of links connects them.
    - average: two groups join, the best first, while the mean p of the pairs between them is at least `least`.
    - correlation: groups for which the sum of p − least over the pairs within them is as high as greedy joining and
      moves of single texts make it (Bansal, Blum and Chawla 2004).
    - one-to-one: of two lists, links that share no text and have the highest sum of p − least.
    - one-to-many: each text of the second list joins the best one of the first.

    People decide over the links: a yes always joins, a no never stands within a group unless a chain of yes answers
    contradicts it.
    """
    start = graph.components(links.n, links.yes)
    links = _without_contradicted(links, start)
    if clustering in TWO_LISTS:
        chosen = _of_two_lists(links.at_least(least), clustering, least)
        return graph.components(links.n, np.concatenate([np.column_stack([chosen.left, chosen.right]), links.yes]))
    if clustering == Clustering.CONNECTED:
        return _connected(links.at_least(least), start, least)
    group = agglomerate(links, start, "mean" if clustering == Clustering.AVERAGE else "sum", least)
    if clustering == Clustering.AVERAGE:
        return group
    fixed = np.bincount(start, minlength=links.n)[start] > 1  # what people joined stays together
    return _named(moved(links, group, fixed, least))


def _without_contradicted(links: Links, start: np.ndarray) -> Links:
    """Return the links without those that a no excludes, and without no answers within what yes answers join."""
    separate = start[links.no[:, 0]] != start[links.no[:, 1]]
    no = np.sort(links.no[separate], axis=1)
    low = np.minimum(links.left, links.right)
    high = np.maximum(links.left, links.right)
    agreed = ~np.isin(low * links.n + high, no[:, 0] * links.n + no[:, 1])
    return replace(links, left=links.left[agreed], right=links.right[agreed], p=links.p[agreed], no=no)


def _connected(links: Links, start: np.ndarray, least: float) -> np.ndarray:
    """Return connected components; one that contains a no is joined link by link, the best first, up to it."""
    pairs = np.concatenate([np.column_stack([links.left, links.right]), links.yes])
    whole = graph.components(links.n, pairs)
    torn = np.unique(whole[links.no[:, 0]][whole[links.no[:, 0]] == whole[links.no[:, 1]]])
    if not len(torn):
        return whole
    within = np.isin(whole, torn)
    inner = within[links.left]
    few = Links(links.n, links.left[inner], links.right[inner], links.p[inner], links.yes, links.no, links.second)
    return np.where(within, agglomerate(few, start, "max", least), whole)


def _of_two_lists(links: Links, clustering: Clustering, least: float) -> Links:
    """Return the links that are kept, of texts that people have not joined yet where one partner is all they may have.

    A yes takes the place of a link.
    """
    assert links.second is not None
    is_linked = np.zeros(links.n, dtype=bool)
    answered = links.yes.ravel()
    is_linked[answered if clustering == Clustering.ONE_TO_ONE else answered[links.second[answered]]] = True
    free = ~(is_linked[links.left] | is_linked[links.right])
    links = Links(links.n, links.left[free], links.right[free], links.p[free], second=links.second)
    chosen = optimal_assignment(links, least) if clustering == Clustering.ONE_TO_ONE else best_links(links)
    return Links(links.n, links.left[chosen], links.right[chosen], links.p[chosen], second=links.second)


def _named(group: np.ndarray) -> np.ndarray:
    """Return the same groups, each named by its smallest text."""
    _, first, code = np.unique(group, return_index=True, return_inverse=True)
    return first[code].astype(np.int64)

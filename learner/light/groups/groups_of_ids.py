"""Groups of texts as groups of ids: equal texts of one list are one text with several ids."""

from dataclasses import replace

import numpy as np

from allpairs.learner.light.groups.description import Groups


def with_equal_texts(groups: Groups, count: np.ndarray) -> Groups:
    """Return the groups, and a group of each text that is alone but has several ids; count: (n,) ids of each text."""
    alone = np.flatnonzero((groups.of < 0) & (count > 1))
    ones = np.ones(len(alone), dtype=np.int64)
    none = np.full(len(alone), np.nan)
    group_of_text = groups.of.copy()
    group_of_text[alone] = len(groups.size) + np.arange(len(alone))
    return Groups(
        group_of_text,
        size=np.append(groups.size, ones),
        pairs=np.append(groups.pairs, ones),
        matches=np.append(groups.matches, ones),
        score=np.append(groups.score, none),
        weakest=np.append(groups.weakest, none),
        joined=np.concatenate([groups.joined, np.full((len(alone), 2), -1, dtype=np.int64)]),
        central=np.append(groups.central, alone),
    )


def of_ids(groups: Groups, count: np.ndarray) -> tuple[np.ndarray, Groups]:
    """Return the text of each id, and the groups with ids in the place of texts: (m,), in the order of the texts.

    Sizes are numbers of ids; the shares of pairs that match, and the scores, are those of texts.
    """
    text = np.repeat(np.arange(len(count)), count)
    group_of_id = groups.of[text]
    first_id = np.cumsum(count) - count
    size = np.bincount(group_of_id[group_of_id >= 0], minlength=len(groups.size))
    joined = np.where(groups.joined < 0, -1, first_id[groups.joined])
    return text, replace(groups, of=group_of_id, size=size, joined=joined, central=first_id[groups.central])

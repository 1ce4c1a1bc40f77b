"""How people want matches grouped, when that is possible, and the rows of a file of groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allpairs.db.domain import Clustering, Kind, Representative
from allpairs.db.errors import InputError
from allpairs.learner.light.groups.clusterings import TWO_LISTS
from allpairs.learner.light.groups.description import Groups, longest_text, newest_text
from allpairs.learner.light.groups.newest import NO_ORDER, Order, order_by

NEED_P = (Clustering.AVERAGE, Clustering.CORRELATION)


@dataclass(frozen=True)
class Grouping:
    """How matches make groups. newest_by: the column that the newest text has the largest value of."""

    clustering: Clustering = Clustering.CONNECTED
    representative: Representative = Representative.CENTRAL
    newest_by: str = ""

    @property
    def words(self) -> tuple[str, str, str]:
        """All of it as plain words, which `read` takes back."""
        return self.clustering.value, self.representative.value, self.newest_by

    @classmethod
    def read(cls, words: Sequence[str]) -> "Grouping":
        """Return the grouping of these words; without words the usual one."""
        return cls(Clustering(words[0]), Representative(words[1]), words[2]) if words else USUAL

    def require_possible(self, kind: Kind, has_p: bool) -> None:
        """Raise InputError for a clustering without the probabilities or lists it needs, and for newest by nothing."""
        if not has_p and self.clustering in NEED_P:
            raise InputError(f"{self.clustering} groups need probabilities, and an encoder has none: use connected")
        if kind == Kind.SYMMETRIC and self.clustering in TWO_LISTS:
            raise InputError(
                f"{self.clustering} groups need two lists, and this is one: use connected, average or correlation"
            )
        if (self.representative == Representative.NEWEST) != bool(self.newest_by):
            raise InputError("the newest text needs the column to compare by, and only the newest does: give both")

    def order(self, values: Sequence[str], second: np.ndarray | None = None) -> Order:
        """Return the order of the texts by their values in the column `newest_by`, if there is one; as `order_by`."""
        return order_by(self.newest_by, values, second) if self.newest_by else NO_ORDER

    def representatives(self, groups: Groups, texts: Sequence[str], order: Order) -> np.ndarray:
        """Return the text that stands for each group, (k,) int64."""
        if self.representative == Representative.NEWEST:
            return newest_text(groups.group_of_text, order.rank)
        return (
            longest_text(groups.group_of_text, texts)
            if self.representative == Representative.LONGEST
            else groups.central
        )


USUAL = Grouping()


def possible(kind: Kind, has_p: bool) -> list[Clustering]:
    """Return the clusterings of one list or two, with probabilities or without."""
    without = (*(TWO_LISTS if kind == Kind.SYMMETRIC else ()), *(() if has_p else NEED_P))
    return [how for how in Clustering if how not in without]


def group_rows(groups: Groups, representatives: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the texts in groups, the largest group first, (t,) int64, and the columns of the file that say of each.

    group (from 1), size, representative (1 or 0), weakest (score of the weakest link, NaN for none), coherence.
    """
    number = np.argsort(groups.largest_first()) + 1
    inside = np.flatnonzero(groups.group_of_text >= 0)
    inside = inside[np.argsort(number[groups.group_of_text[inside]], kind="stable")]
    group = groups.group_of_text[inside]
    return inside, {
        "group": number[group],
        "size": groups.size[group],
        "representative": (inside == representatives[group]).astype(np.int64),
        "weakest": groups.weakest[group],
        "coherence": groups.coherence[group],
    }

"""What decisions on pairs say together: texts that must-links join, and that cannot-links keep apart."""

from collections.abc import Iterable, Mapping

import numpy as np

from allpairs.db.corpus.implied import implied as implied_by
from allpairs.db.corpus.implied import links_of

Pair = tuple[int, int]
MOST_IMPLIED = 500_000  # pairs that follow from decisions; if there were more, only the decisions themselves count


class TextLinks:
    """Texts joined by must-links, and those that must stay apart."""

    def __init__(self, decisions: Mapping[Pair, bool]) -> None:
        self._parent: dict[int, int] = {}
        self._apart: dict[int, set[int]] = {}  # roots that a root must not be joined with
        for pair, same in decisions.items():
            if same:
                self.join(*pair)
        for pair, same in decisions.items():
            if not same:
                self.keep_apart(*pair)

    def root(self, item: int) -> int:
        """Return the text that stands for all that this one is joined with."""
        parent = self._parent
        while (above := parent.get(item, item)) != item:
            parent[item] = parent.get(above, above)
            item = above
        return item

    def join(self, first: int, second: int) -> bool:
        """Join two texts unless they must stay apart; return whether they are joined now."""
        a = self.root(first)
        b = self.root(second)
        if a == b:
            return True
        if b in self._apart.get(a, ()):
            return False
        self._parent[b] = a
        for root in self._apart.pop(b, set()):
            self._apart[root].discard(b)
            self._keep_apart(a, root)
        return True

    def keep_apart(self, first: int, second: int) -> bool:
        """Keep two texts apart unless they are joined; return whether they are apart now."""
        a = self.root(first)
        b = self.root(second)
        self._keep_apart(a, b)
        return a != b

    def _keep_apart(self, a: int, b: int) -> None:
        if a != b:
            self._apart.setdefault(a, set()).add(b)
            self._apart.setdefault(b, set()).add(a)

    def contradicted(self, decisions: Mapping[Pair, bool]) -> list[Pair]:
        """Return the cannot-links between texts that are joined."""
        return [(a, b) for (a, b), same in decisions.items() if not same and self.root(a) == self.root(b)]


def agreeing_parts(group_of: Mapping[int, int | None], links: TextLinks) -> list[list[int]]:
    """Return the texts in groups that agree with the decisions: as they are, as far as these allow.

    group_of: the group of each text now, None if it is alone. A text that must not be in its group leaves it; groups
    that a must-link joins become one. links: joined further here.
    """
    texts: dict[int, list[int]] = {}
    for item in sorted(group_of):
        number = group_of[item]
        if number is not None:
            texts.setdefault(number, []).append(item)
    for items in texts.values():
        firsts: list[int] = []
        for item in items:
            if not any(links.join(first, item) for first in firsts):
                firsts.append(item)
    parts: dict[int, list[int]] = {}
    for item in sorted(group_of):
        parts.setdefault(links.root(item), []).append(item)
    return list(parts.values())


def with_implied_decisions(decisions: Mapping[Pair, bool]) -> dict[Pair, bool]:
    """Return the decisions, each pair ascending, and the pairs that follow from them.

    Of groups with a contradiction nothing follows, and of very many decisions: only the decisions themselves count.
    """
    ascending = {(min(pair), max(pair)): same for pair, same in decisions.items()}
    if not ascending:
        return {}
    pairs = np.array(list(ascending), dtype=np.int64)
    positive = np.array(list(ascending.values()), dtype=bool)
    links = links_of(pairs, positive)
    if links.matches + links.others > MOST_IMPLIED:
        return ascending
    follows = implied_by(pairs, positive)
    return dict(zip(map(tuple, follows.pairs.tolist()), follows.positive.tolist(), strict=True)) | ascending


def connecting_pairs(pairs: Iterable[Pair]) -> set[Pair]:
    """Return the first of these pairs that connect their texts: one less than there are texts, at most."""
    links = TextLinks({})
    chosen = set()
    for pair in pairs:
        if links.root(pair[0]) != links.root(pair[1]):
            links.join(*pair)
            chosen.add(pair)
    return chosen

"""One text of a corpus, and items with splits assigned without copying them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

from allpairs.db.domain import Side, Split


@dataclass(frozen=True, slots=True)
class CorpusItem:
    """One text; identical texts of one side are one item with several ids, and the columns of the first one."""

    ids: tuple[str, ...]
    side: Side
    text: str
    split: Split | None = None
    lengths: tuple[int, ...] = ()  # of the text columns' values in the text; empty if there is only one column


def with_splits(items: Sequence[CorpusItem], splits: Sequence[Split | None]) -> Sequence[CorpusItem]:
    """Return the items, each with its split; leave out those without one.

    Returns a list for a list, otherwise a view that reads the items where they are.
    """
    view = _WithSplits(items, splits)
    return list(view) if isinstance(items, list) else view


class _WithSplits(Sequence[CorpusItem]):
    def __init__(self, items: Sequence[CorpusItem], splits: Sequence[Split | None]) -> None:
        self._items = items
        self._splits = splits
        self._kept = [i for i, split in enumerate(splits) if split is not None] if None in splits else range(len(items))

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[CorpusItem]:
        for item, split in zip(self._items, self._splits, strict=True):
            if split is not None:
                yield CorpusItem(item.ids, item.side, item.text, split, item.lengths)

    @overload
    def __getitem__(self, index: int) -> CorpusItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[CorpusItem]: ...
    def __getitem__(self, index: int | slice) -> CorpusItem | list[CorpusItem]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        place = self._kept[index]
        return replace(self._items[place], split=self._splits[place])

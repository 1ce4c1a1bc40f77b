"""A messy list of a kind: records of made-up things, some several times, some nearly the same but not.

    python -m benchmarks.lists.make [KIND ...] [--rows 1500] [--seed 0] [--out out/lists]

Writes KIND.csv as a program of that country would, and KIND-truth.csv: `id`, `group`.
"""

import argparse
import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from benchmarks.lists import companies, contacts, customers, persons, products
from benchmarks.lists.mistakes import chance

Thing = dict[str, str]
DOUBLES = 0.25  # share of the rows that repeat a thing
NEAR_MISSES = 0.12  # share of the things that have a near miss
SIZES = (2, 3, 4, 5)
SHARES = (60, 25, 10, 5)


@dataclass(frozen=True)
class ListKind:
    """A kind of list.

    columns: what each column holds, in order, the id first; `keep` for one that says nothing about what the record is.
    thing: makes a thing; near_miss: another thing that is nearly the same; written: a record of a thing.
    """

    title: str
    columns: Mapping[str, str]
    thing: Callable[[Random], Thing]
    near_miss: Callable[[Thing, Random], Thing]
    written: Callable[[Thing, Random], Thing]
    encoding: str = "utf-8"
    separator: str = ","

    @property
    def compared(self) -> list[str]:
        """The columns that people would compare."""
        return [name for name, holds in self.columns.items() if holds not in ("id", "keep")]


KINDS = {
    module.__name__.rpartition(".")[2]: ListKind(
        module.TITLE, module.COLUMNS, module.thing, module.near_miss, module.written, *module.FILE
    )
    for module in (persons, companies, customers, products, contacts)
}


@dataclass(frozen=True)
class MessyList:
    """A list and its truth. rows: the values of each row by column; group: (n,) int64, the thing that each row is."""

    kind: ListKind
    rows: Sequence[Mapping[str, str]]
    group: np.ndarray

    def pairs(self) -> np.ndarray:
        """Return the pairs of rows that are one thing, (m, 2) int64, the lower row first."""
        order = np.argsort(self.group, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.group[order])) + 1)
        pairs = [np.sort(part)[np.column_stack(np.triu_indices(len(part), 1))] for part in parts if len(part) > 1]
        return np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])

    def write(self, path: Path, *, plain: bool = False) -> None:
        """Write the list, and the truth to a file beside it. plain: in UTF-8 with commas, whatever the kind."""
        encoding, separator = ("utf-8", ",") if plain else (self.kind.encoding, self.kind.separator)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding=encoding, newline="") as file:
            writer = csv.DictWriter(file, list(self.kind.columns), delimiter=separator)
            writer.writeheader()
            writer.writerows(self.rows)
        with path.with_name(f"{path.stem}-truth.csv").open("w", encoding="utf-8", newline="") as file:
            truth = csv.writer(file)
            truth.writerow(("id", "group"))
            truth.writerows(zip(self.ids, self.group.tolist(), strict=True))

    @property
    def ids(self) -> list[str]:
        """The id of each row."""
        name = next(iter(self.kind.columns))
        return [row[name] for row in self.rows]


def messy_list(name: str, rows: int = 1500, seed: int = 0) -> MessyList:
    """Return a list of a kind; the same arguments make the same list."""
    kind = KINDS[name]
    rng = Random(f"{name} {rows} {seed}")
    things = _things(kind, rows, rng)
    groups = list(range(len(things)))
    for group in rng.sample(groups, len(groups)):
        groups += [group] * min(rng.choices(SIZES, SHARES)[0] - 1, rows - len(groups))
    rng.shuffle(groups)
    id_column = next(iter(kind.columns))
    first = 10 ** len(str(rows))
    records = [{id_column: str(first + place)} | kind.written(things[group], rng) for place, group in enumerate(groups)]
    return MessyList(kind, records, np.array(groups, dtype=np.int64))


def _things(kind: ListKind, rows: int, rng: Random) -> list[Thing]:
    """Return as many different things as the list has without its doubles."""
    things = dict[tuple[str, ...], Thing]()
    count = round(rows * (1 - DOUBLES))
    while len(things) < count:
        thing = kind.thing(rng)
        things[tuple(thing.values())] = thing
        if len(things) < count and chance(NEAR_MISSES, rng):
            near = kind.near_miss(thing, rng)
            things[tuple(near.values())] = near
    return list(things.values())


def main() -> None:
    """Write the lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=[], help=", ".join(KINDS))
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/lists"))
    options = parser.parse_args()
    for name in options.kinds or KINDS:
        messy_list(name, options.rows, options.seed).write(options.out / f"{name}.csv")


if __name__ == "__main__":
    main()

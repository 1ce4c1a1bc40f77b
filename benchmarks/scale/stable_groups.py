"""Measure how a million texts in groups get ids that stay: when first made, with texts added, and by another model.

    python -m benchmarks.scale.stable_groups [--texts 1000000] [--links 5000000] [--added 10000] [--seed 0] [--quick]

The links are those of `benchmarks.scale.grouping`, average groups at p = 0.5. The first update has the links between
all but the added texts, the second one all links, and the third one the same links with other probabilities (the
log-odds moved by a normal number with a deviation of 0.5), as of a new round. `find` is what becomes of the groups,
with the earlier ones and the ids of texts read from the database; `store` is the transaction that writes it. A group is
untouched if the same texts make a group before and after: found here by sums of random numbers, one for each text.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, insert

from allpairs.db.domain import Clustering, Kind, Settings, Side, Split
from allpairs.db.groups.numbering import Numbered
from allpairs.db.groups.plan import planned
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.projects.stable_groups import store_groups
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import GroupUpdate, Identifier, Item, Project
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.grouping import USUAL
from allpairs.learner.light.groups.links import Links
from allpairs.learner.runtime.memory import peak_memory
from benchmarks.scale.grouping import LEAST, links

CHUNK = 50_000  # rows in one statement
MOVE = 0.5  # deviation of the log-odds between two models


def main() -> None:
    """Print a line for each update."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=5_000_000)
    parser.add_argument("--added", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few texts: tests that it works, not how fast it is")
    arguments = parser.parse_args()
    texts, count, added = (
        (5_000, 25_000, 500) if arguments.quick else (arguments.texts, arguments.links, arguments.added)
    )
    with tempfile.TemporaryDirectory(prefix="allpairs-") as home:
        os.environ["ALLPAIRS_HOME"] = home
        os.environ.pop("ALLPAIRS_DATABASE_URL", None)
        upgrade()
        measure(make_engine(), texts, count, added, np.random.default_rng(arguments.seed))
        print(f"\npeak memory {peak_memory() / 2**20:,.0f} MiB, database {_size(Path(home)) / 2**20:,.0f} MiB")


def measure(engine: Engine, texts: int, count: int, added: int, rng: np.random.Generator) -> None:
    """Make a project and its groups three times; print what each time took."""
    whole = links(texts + added, count, False, rng)
    items = _project(engine, texts + added)
    odds = np.log(whole.p / (1 - whole.p)) + rng.normal(0, MOVE, len(whole.p))
    moved = Links(whole.n, whole.left, whole.right, 1 / (1 + np.exp(-odds)))
    marks = rng.integers(1, 2**62, whole.n)
    print("| update | groups | changed | find, CPU s (s) | store, CPU s (s) | untouched groups | keep their id |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    before = Numbered.none()
    for name, given in (("first", _first(whole, texts)), ("texts added", whole), ("another model", moved)):
        group = clustered(given, Clustering.AVERAGE, LEAST)
        began = _clocks()
        with reading(engine) as session:
            kept = planned(session, 1, items[: given.n], group)
        found = _clocks()
        with writing(engine) as session:
            assert store_groups(session, kept.plan, _update(kept.groups))
        stored = _clocks()
        same, stayed = _untouched(before, kept.groups, marks)
        share = f"{stayed / same:.1%}" if same else ""
        print(
            f"| {name} | {len(np.unique(kept.groups.number)):,} | {len(kept.plan.changes):,} | {_took(began, found)} | "
            f"{_took(found, stored)} | {same:,} | {share} |",
            flush=True,
        )
        before = kept.groups


def _clocks() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _took(began: tuple[float, float], ended: tuple[float, float]) -> str:
    return f"{ended[0] - began[0]:.1f} ({ended[1] - began[1]:.1f})"


def _first(whole: Links, texts: int) -> Links:
    """Return the links between the first texts alone."""
    kept = (whole.left < texts) & (whole.right < texts)
    return Links(texts, whole.left[kept], whole.right[kept], whole.p[kept])


def _update(after: Numbered) -> GroupUpdate:
    return GroupUpdate(
        project_id=1,
        matcher=1,
        threshold=LEAST,
        p=LEAST,
        clustering=Clustering.AVERAGE,
        representative=USUAL.representative,
        newest_by="",
        groups=len(np.unique(after.number)),
        texts=len(after.items),
    )


def _project(engine: Engine, texts: int) -> np.ndarray:
    """Store a project of made-up texts; return their ids, (n,) int64."""
    items = np.arange(1, texts + 1)
    with writing(engine) as session:
        session.add(Project(name="Scale", kind=Kind.SYMMETRIC, settings=Settings().model_dump(mode="json")))
        session.flush()
        for chunk in np.array_split(items, -(-texts // CHUNK)):
            ids = chunk.tolist()
            about = {"project_id": 1, "side": Side.LEFT}
            rows = [about | {"id": id_, "split": Split.TRAIN, "text": f"text {id_}"} for id_ in ids]
            session.execute(insert(Item), rows)
            session.execute(insert(Identifier), [about | {"item_id": id_, "external_id": f"t{id_}"} for id_ in ids])
    return items


def _untouched(before: Numbered, after: Numbered, marks: np.ndarray) -> tuple[int, int]:
    """Return how many groups have the same texts before and after, and how many of them the same number."""
    was, now = (_sums(one, marks) for one in (before, after))
    same = was.keys() & now.keys()
    return len(same), sum(was[one] == now[one] for one in same)


def _sums(found: Numbered, marks: np.ndarray) -> dict[int, int]:
    """Return the number of each group by the sum of its texts' marks (below 2⁶⁴, with overflow)."""
    if not len(found.items):
        return {}
    order = np.argsort(found.number, kind="stable")
    number, first = np.unique(found.number[order], return_index=True)
    sums = np.add.reduceat(marks[found.items[order] - 1], first)
    return dict(zip(sums.tolist(), number.tolist(), strict=True))


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()

"""Measure the seconds from the upload of a messy list to its groups, by phase, without an answer.

    python -m benchmarks.speed.list_to_groups [--rows 5000] [--kind customers] [--threads 2] [--quick]

The list is one of `benchmarks.lists`; all columns that people would compare are, eight of customers. The phases are
those of a person's clicks: check the files and create the project; the first round, step by step; the search for
matches that follows it, which makes the first groups. Everything runs in this process, after its imports, as in a
worker that waits for jobs. `of a core` is processor time: other programs lengthen it less, above all with
OMP_WAIT_POLICY=PASSIVE, which workers set.
"""

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from sqlalchemy import Engine, select

from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.kit.uploads import Source, check, load
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Settings
from allpairs.db.projects.jobs import MATCHES, add_job
from allpairs.db.schema.engine import make_engine, migrate, reading, writing
from allpairs.db.schema.tables import GroupedItem, Identifier
from allpairs.learner.jobs import next_round
from allpairs.learner.jobs.data.mark_sentences import mark_passages
from allpairs.learner.jobs.make_model import encode_items, evaluate_matcher
from allpairs.learner.jobs.matches import find_matches
from allpairs.learner.light.groups.grouping import USUAL
from benchmarks.lists.make import KINDS, MessyList, messy_list

QUICK = 200  # rows


class Phases:
    """The seconds of each phase, printed as they end."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Print what the block takes."""
        began = time.perf_counter()
        used = time.process_time()
        yield
        print(
            f"{name:24s} {time.perf_counter() - began:6.1f} s {time.process_time() - used:6.1f} s of a core", flush=True
        )

    def end(self) -> None:
        """Print the sum."""
        print(f"{'in all':24s} {time.perf_counter() - self.began:6.1f} s {time.process_time():6.1f} s of a core")


def measure_phases(folder: Path, kind: str, rows: int) -> None:
    """Run from the file to groups in an installation in this folder, and print the seconds of each phase."""
    os.environ["ALLPAIRS_HOME"] = str(folder / "home")
    os.environ.pop("ALLPAIRS_DATABASE_URL", None)
    migrate()
    engine = make_engine()
    path = folder / f"{kind}.csv"
    made = messy_list(kind, rows)
    made.write(path, plain=True)
    id_column = next(iter(KINDS[kind].columns))
    source = Source(path, Columns(id_column, tuple(KINDS[kind].compared)))
    phases = Phases()
    with phases.phase("check the file"):
        assert not check(source).problems
    with phases.phase("create the project"):
        project_id = create_project(engine, "List", load(source), Settings())
    with phases.phase("round: plan"):
        with writing(engine) as session:
            job_id = add_job(session, project_id, next_round.NAME).id
        plan = next_round.make_plan(project_id)
    with phases.phase("round: encode"):
        plan |= encode_items(job_id, project_id, plan)
    with phases.phase("round: measure"):
        matcher_id = evaluate_matcher(job_id, project_id, plan)
        next_round.audit_models(job_id, project_id, plan, matcher_id)
    with phases.phase("round: next batch"):
        next_round.make_batch(job_id, project_id, plan, matcher_id)
        mark_passages(job_id, project_id)
    with phases.phase("search for matches"):
        with writing(engine) as session:
            job_id = add_job(session, project_id, MATCHES).id
        find_matches(job_id, project_id, 0, None, None, *USUAL.words)
    phases.end()
    print(groups_in_words(engine, project_id, made))


def groups_in_words(engine: Engine, project_id: int, made: MessyList) -> str:
    """Return how many groups of rows there are, and how right their pairs are."""
    query = select(Identifier.external_id, GroupedItem.number).join(
        GroupedItem, GroupedItem.item_id == Identifier.item_id
    )
    with reading(engine) as session:
        rows = session.execute(query.where(Identifier.project_id == project_id)).all()
        group_ids = {row.external_id: row.number for row in rows}
    alone = itertools.count(-1, -1)
    group = np.array([group_ids.get(name) or next(alone) for name in made.ids])
    pairs = set(map(tuple, MessyList(made.kind, made.rows, group).pairs().tolist()))
    right = len(pairs & set(map(tuple, made.pairs().tolist())))
    shares = f"precision of their pairs {right / max(1, len(pairs)):.3f}, recall {right / len(made.pairs()):.3f}"
    return f"{len(group_ids):,} rows in {len(set(group_ids.values())):,} groups: {shares}"


def main() -> None:
    """Print a line for each phase."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--kind", choices=KINDS, default="customers")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="few rows: tests that it works, not how fast it is")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory(prefix="allpairs-") as folder:
        measure_phases(Path(folder), options.kind, QUICK if options.quick else options.rows)


if __name__ == "__main__":
    main()

"""Write annotate/demo/first_batch.csv with the job's functions: `python -m scripts.demo_batch`."""

import csv
import os
import tempfile
from collections.abc import Iterator

import numpy as np

from allpairs.annotate import demo
from allpairs.annotate.features.projects.projects import create_project
from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.projects.items import known_identifiers
from allpairs.db.schema.engine import make_engine, migrate, reading
from allpairs.learner.jobs.data.project_data import read_project
from allpairs.learner.loop.round import choose
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED


def first_batch() -> Iterator[tuple[str, str, float]]:
    """Yield ids and score of each pair of the first batch and its reserve; uses the current `ALLPAIRS_HOME`."""
    migrate()
    engine = make_engine()
    corpus = load_corpus(demo.FOLDER / "questions.csv", None, demo.FOLDER / "gold.csv")
    project_id = create_project(engine, demo.NAME, corpus, demo.SETTINGS)
    with reading(engine) as session:
        data = read_project(session, project_id)
        ids = known_identifiers(session, data.item_ids.tolist())
    vectors = blended(data.dataset, load_encoder().encode(data.dataset.texts), Blend(data.settings.hubness))
    nothing = np.empty(0, dtype=np.int64)
    size = 2 * demo.SETTINGS.first  # as many again in reserve
    rng = np.random.default_rng(0)
    pairs = choose(data.dataset, vectors, None, nothing, size, data.settings, rng, space=BLENDED).pairs
    for left, right, score in zip(data.item_ids[pairs.left], data.item_ids[pairs.right], pairs.score, strict=True):
        yield ids[int(left)][0], ids[int(right)][0], float(score)


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["ALLPAIRS_HOME"] = home
        rows = list(first_batch())
    with (demo.FOLDER / "first_batch.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id1", "id2", "score"])
        writer.writerows((left, right, f"{score:.6f}") for left, right, score in rows)


if __name__ == "__main__":
    main()

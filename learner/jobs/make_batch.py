"""Store a batch as rows: training tasks, mixed with audit tasks where no known positives measure the project."""

from pathlib import Path

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.labels.audits import audit_rows, design_by_id
from allpairs.db.labels.tasks import add_tasks
from allpairs.db.labels.withdrawn import open_batch
from allpairs.db.projects.matchers import SCORES
from allpairs.db.schema.tables import Round
from allpairs.learner.jobs.audit.draw_pairs import Candidate, columns_of
from allpairs.learner.jobs.data.project_data import Alike, ProjectData, tasks_of
from allpairs.learner.jobs.data.stored_arrays import save_arrays
from allpairs.learner.loop.round import Batch
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.scoring.similar_labels import most_alike
from allpairs.learner.search.inner_product import BLENDED, scores
from allpairs.learner.search.rescored import Rescored

Audit = tuple[int, list[Candidate]]  # the design's id, and pairs of its sampling orders


def audits_in(size: int, interval: int) -> int:
    """Return the number of audit tasks for `size` training tasks, so that one task in `interval` is one (0: none)."""
    return size // max(interval - 1, 1) if interval else 0


def alike_of(batch: Batch, data: ProjectData, vectors: np.ndarray, labelled: Labelled) -> list[Alike]:
    """Return, for each pair of the batch, the most similar labelled pairs under these blended vectors (items, d)."""
    pairs, labelled_pairs = (np.column_stack([source.left, source.right]) for source in (batch.pairs, labelled))
    places, alike = most_alike(vectors[:, :-1], pairs, labelled_pairs, data.dataset.symmetric)
    ids = data.item_ids[labelled_pairs]
    return [
        [
            (int(ids[place, 0]), int(ids[place, 1]), round(float(similarity), 3))
            for place, similarity in zip(*row, strict=True)
        ]
        for row in zip(places, alike, strict=True)
    ]


def keep_scores(folder: Path, data: ProjectData, vectors: np.ndarray, known: np.ndarray, rescored: Rescored) -> None:
    """Store the scores of the pairs with these keys in the folder; vectors: (items, d), blended."""
    left, right = np.divmod(np.sort(known), len(data.item_ids))
    score = rescored.replace(left, right, scores(vectors, left, right, BLENDED))
    save_arrays(folder / SCORES, left=data.item_ids[left], right=data.item_ids[right], score=score)


def add_batch(
    session: Session,
    row: Round,
    batch: Batch,
    alike: list[Alike],
    data: ProjectData,
    audit: Audit | None,
    rng: np.random.Generator,
) -> None:
    """Store the round and its tasks: `row.size` training tasks as the batch, the rest as its reserve.

    Audit tasks get random positions in the batch, so that their position gives nobody a hint.
    """
    session.add(row)
    session.flush()
    tasks = tasks_of(batch, data, batch.p, alike, row.project_id, row.id)
    if audit is not None:
        design = design_by_id(session, audit[0])
        assert design is not None
        row.size += len(audit[1])
        places = np.sort(rng.choice(row.size, size=len(audit[1]), replace=False))
        free = np.setdiff1d(np.arange(len(tasks) + len(places)), places)
        tasks = [task | {"position": int(place)} for task, place in zip(tasks, free, strict=True)]
        shuffled = [audit[1][place] for place in rng.permutation(len(places))]
        tasks += audit_rows(row, design, columns_of(shuffled, places.tolist()))
    several = rng.random(len(tasks)) < data.settings.overlap  # audit tasks too, so that votes give no hint
    add_tasks(
        session,
        [
            task | {"votes": data.settings.votes if twice and task["position"] < row.size else 1}
            for task, twice in zip(tasks, several, strict=True)
        ],
    )
    open_batch(session, row)


def note_of(batch: Batch, size: int, neighbours: int) -> str:
    """Return a note for the user on an empty batch and on its search."""
    exhausted = "Every pair found by the search is labelled: raise the number of neighbours, or stop here."
    searched = batch.near.words(neighbours) if batch.near else ""
    return " ".join(words for words in ("" if size else exhausted, searched) if words)

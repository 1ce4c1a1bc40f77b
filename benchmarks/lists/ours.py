"""Allpairs on a messy list: the groups of `allpairs clean` without answers, then those of a new project after rounds.

python -m benchmarks.lists.ours TASK
"""

import numpy as np

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Clustering, Settings
from allpairs.db.version import VERSION
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.files.clean import CleanChoices, clean_file, model_for_list
from allpairs.learner.light.clean.files import table_paths
from allpairs.learner.light.clean.tables import REMOVED_ROW
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.links import NEAR_LOGITS, Links
from allpairs.learner.loop.simulate import run_simulation
from allpairs.learner.loop.simulated_labels import Labels
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.search.inner_product import as_left, as_right
from allpairs.learner.search.top_pairs import best_pairs
from benchmarks.lists.task import RECORDS, ListTask, read_list_task, read_table

LEAST = 0.5  # probability from which on two texts are linked, as projects have it before somebody chooses


def main() -> None:
    """Write the groups after each number of answers."""
    task = read_list_task()
    settings = Settings(seed=task.seed)
    corpus = corpus_of(task)

    def keep(labels: Labels, dataset: Dataset, scorer: VectorScorer) -> None:
        if labels.label:
            texts = groups_of_texts(labels, dataset, scorer)
            task.keep(len(labels.label), groups_of_rows(corpus, task, texts), sum(labels.label))

    task.keep(0, groups_without_answers(task))
    sizes = np.diff([0, *(budget for budget in task.labels if budget)]).tolist()
    divided = split_corpus(corpus, settings.evaluation_share, np.random.default_rng(task.seed))
    run_simulation(divided, load_encoder(), settings, len(sizes), task.folder / "run", sizes=sizes, after=keep)
    task.finish({"batches": sizes, "clustering": "connected", "least": LEAST}, {"allpairs": VERSION})


def groups_without_answers(task: ListTask) -> np.ndarray:
    """Return the group of each row in the marked list of `allpairs clean`, (rows,) int64.

    Raises ValueError if the clean list, the marked one and the changes are not the same rows once.
    """
    out = task.folder / "clean.csv"
    choices = CleanChoices(id_column=task.id_column, text_columns=tuple(task.columns))
    clean_file(task.folder / RECORDS, out, model_for_list(), choices)
    clean, marked, changes = map(read_table, table_paths(out))
    columns = list(task.records[0])
    gone = [row["id"] for row in changes if row["change"] == REMOVED_ROW]
    ids = [record[task.id_column] for record in task.records]
    if sorted([*gone, *(row[task.id_column] for row in clean)]) != sorted(ids) or list(clean[0]) != columns:
        raise ValueError("the clean list and what changed do not make up the rows and columns of the list")
    if [{name: row[name] for name in columns} for row in marked] != list(task.records):
        raise ValueError("the marked list is not the list")
    groups = [row["group"] or f"row {place}" for place, row in enumerate(marked)]
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def corpus_of(task: ListTask) -> Corpus:
    """Return the list with its truth as known pairs."""
    order = np.argsort(task.truth, kind="stable")
    same = np.flatnonzero(np.diff(task.truth[order]) == 0)  # chains: the closure makes all pairs of them
    ids = [record[task.id_column] for record in task.records]
    gold = task.folder / "gold.csv"
    write_csv(gold, ("id1", "id2", "label"), [(ids[order[place]], ids[order[place + 1]], 1) for place in same.tolist()])
    records = task.folder / RECORDS
    return load_corpus(records, None, gold, id_column=task.id_column, text_columns=list(task.columns))


def groups_of_texts(labels: Labels, dataset: Dataset, scorer: VectorScorer) -> np.ndarray:
    """Return the group of each text, (texts,) int64, as the project's search for matches makes them."""
    layer = scorer.layer
    assert layer is not None and layer.w
    rows = np.arange(len(dataset.texts))
    left = as_left(scorer.vectors, scorer.space)
    right = as_right(scorer.vectors, scorer.space)
    rescored = scorer.rescored.within(rows, rows)
    lowest = -(NEAR_LOGITS + layer.b) / layer.w  # pairs below the threshold count between groups
    pairs = best_pairs(left, right, dataset.symmetric, threshold=lowest, rescored=rescored)
    answers = labels.arrays()
    answered = np.column_stack([answers.left, answers.right])
    p = layer.probability(pairs.score)
    yes = answered[answers.label == 1]
    no = answered[answers.label == 0]
    return clustered(Links(len(rows), pairs.left, pairs.right, p, yes, no), Clustering.CONNECTED, LEAST)


def groups_of_rows(corpus: Corpus, task: ListTask, texts: np.ndarray) -> np.ndarray:
    """Return the group of each row, (rows,) int64: rows with equal texts are one text."""
    text_of = {name: place for place, item in enumerate(corpus.items) for name in item.ids}
    return texts[[text_of[record[task.id_column]] for record in task.records]]


if __name__ == "__main__":
    main()

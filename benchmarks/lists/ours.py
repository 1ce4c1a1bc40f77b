"""Allpairs on a messy list as a new project has it: the groups after rounds of answers.

python -m benchmarks.lists.ours TASK
"""

import numpy as np

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Clustering, Settings
from allpairs.db.version import VERSION
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.links import Links
from allpairs.learner.loop.simulate import run_simulation
from allpairs.learner.loop.simulated_labels import Labels
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.search.inner_product import as_left, as_right
from allpairs.learner.search.top_pairs import best_pairs
from benchmarks.lists.task import RECORDS, ListTask, read_list_task

LEAST = 0.5  # probability from which on two texts are linked, as projects have it before somebody chooses


def main() -> None:
    """Write the groups after each number of answers."""
    task = read_list_task()
    settings = Settings(seed=task.seed)
    corpus = corpus_of(task)

    def keep(labels: Labels, dataset: Dataset, scorer: VectorScorer) -> None:
        if not labels.label:
            return
        texts = groups_of_texts(labels, dataset, scorer)
        task.keep(len(labels.label), groups_of_rows(corpus, task, texts), sum(labels.label))

    sizes = np.diff([0, *(budget for budget in task.labels if budget)]).tolist()
    divided = split_corpus(corpus, settings.evaluation_share, np.random.default_rng(task.seed))
    run_simulation(divided, load_encoder(), settings, len(sizes), task.folder / "run", sizes=sizes, after=keep)
    task.finish({"batches": sizes, "clustering": "average", "least": LEAST}, {"allpairs": VERSION})


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
    assert layer is not None and layer.threshold is not None
    rows = np.arange(len(dataset.texts))
    left = as_left(scorer.vectors, scorer.space)
    right = as_right(scorer.vectors, scorer.space)
    rescored = scorer.rescored.within(rows, rows)
    pairs = best_pairs(left, right, dataset.symmetric, threshold=layer.threshold, rescored=rescored)
    answers = labels.arrays()
    answered = np.column_stack([answers.left, answers.right])
    p = layer.probability(pairs.score)
    yes = answered[answers.label == 1]
    no = answered[answers.label == 0]
    return clustered(Links(len(rows), pairs.left, pairs.right, p, yes, no), Clustering.AVERAGE, LEAST)


def groups_of_rows(corpus: Corpus, task: ListTask, texts: np.ndarray) -> np.ndarray:
    """Return the group of each row, (rows,) int64: rows with equal texts are one text."""
    text_of = {name: place for place, item in enumerate(corpus.items) for name in item.ids}
    return texts[[text_of[record[task.id_column]] for record in task.records]]


if __name__ == "__main__":
    main()

"""Allpairs as a new project has it, on the task's data.

    python -m benchmarks.public.peers.ours TASK --files out/data

The annotator's place is taken by the known pairs, as in `allpairs simulate`. Records are read with their columns.
"""

import argparse
from pathlib import Path

import numpy as np

from allpairs.db.domain import Settings
from allpairs.db.version import VERSION
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.loop.simulate import run_simulation
from allpairs.learner.loop.simulated_labels import Labels
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.search.inner_product import as_left, as_right
from benchmarks.public.peers.task import Answers, read_task
from benchmarks.public.work import WORK, part_of

NEW_PROJECT = {"lexical": True, "hubness": 0.25, "second_stage": "auto"}


def main() -> None:
    """Write the scores of all evaluation pairs at each budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", type=Path)
    parser.add_argument("--files", type=Path, required=True)
    arguments = parser.parse_args()
    task = read_task(arguments.task)
    answers = Answers(arguments.task, task.one_list)
    corpus = part_of(WORK[task.data], task.seed, arguments.files).corpus
    settings = Settings.model_validate({**NEW_PROJECT, "seed": task.seed})

    def keep(labels: Labels, dataset: Dataset, scorer: VectorScorer) -> None:
        if len(labels.label) in task.labels:
            answers.dense(len(labels.label), sum(labels.label), all_scores(dataset, scorer))

    sizes = np.diff([0, *(budget for budget in task.labels if budget)]).tolist()
    run_simulation(corpus, load_encoder(), settings, len(sizes), arguments.task / "run", sizes=sizes, after=keep)
    shown = {**NEW_PROJECT, "strategy": settings.strategy, "encoder": "all-MiniLM-L6-v2", "batches": sizes}
    answers.finish(shown, {"allpairs": VERSION})


def all_scores(dataset: Dataset, scorer: VectorScorer) -> np.ndarray:
    """Return the score of every evaluation pair, (left, right) float32."""
    left = dataset.evaluation_left
    right = dataset.evaluation_right
    found = as_left(scorer.vectors[left], scorer.space) @ as_right(scorer.vectors[right], scorer.space).T
    again = scorer.rescored.within(left, right).pairs
    found[again.left, again.right] = again.score
    return np.asarray(found, dtype=np.float32)


if __name__ == "__main__":
    main()

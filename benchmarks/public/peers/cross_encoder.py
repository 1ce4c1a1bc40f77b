"""A cross-encoder of random pairs: retrieve and re-rank, as the documents of sentence-transformers describe it.

    python -m benchmarks.public.peers.cross_encoder TASK

all-MiniLM-L6-v2 retrieves the nearest 20 records of each. A random part of the training candidates is labelled, a
cross-encoder is fine-tuned on them anew at each budget, and scores the candidates of the evaluation records. It begins
as the same MiniLM with a new output layer, as no pre-trained cross-encoder is at hand.
"""

import random
from importlib.metadata import version

import numpy as np
import torch
from sentence_transformers import CrossEncoder, InputExample, SentenceTransformer
from torch.utils.data import DataLoader

from allpairs.learner.models.loading import bundled_minilm
from benchmarks.public.peers.active_loop import NEAREST, cosines, nearest
from benchmarks.public.peers.task import Task, begun

EPOCHS = 4
BATCH = 16
RATE = 2e-5
WARM = 0.1
LENGTH = 256  # tokens of a pair


def main() -> None:
    """Label, train and score at each budget."""
    task, answers = begun()
    cosine = cosines(SentenceTransformer(str(bundled_minilm())), task)
    candidates = nearest(cosine, task, task.train, task.train_right)
    measured = nearest(cosine, task, task.evaluation, task.evaluation_right)
    drawn = np.random.default_rng(task.seed).permutation(candidates)
    left = np.searchsorted(task.evaluation, measured[:, 0])
    right = np.searchsorted(task.evaluation_right, measured[:, 1])
    for labels in task.labels:
        with answers.alone():  # who has these labels trains once
            pairs = drawn[:labels]
            label = [task.answer(*pair) for pair in pairs.tolist()]
            model = trained(texts(task, pairs), label, task.seed)
            score = model.predict(texts(task, measured), batch_size=64, show_progress_bar=False)
            answers.sparse(labels, sum(label), left, right, np.asarray(score))
    settings = {
        "model": "all-MiniLM-L6-v2 with a new output layer",
        "loss": "BCEWithLogitsLoss",
        "epochs": EPOCHS,
        "batch_size": BATCH,
        "learning_rate": RATE,
        "warm_up": WARM,
        "candidates": f"nearest {NEAREST}",
        "labels": "a random part of the training candidates",
    }
    answers.finish(settings, {name: version(name) for name in ("sentence-transformers", "torch")})


def texts(task: Task, pairs: np.ndarray) -> list[tuple[str, str]]:
    """Return the texts of pairs of rows, (pairs, 2)."""
    return [(task.left[left]["text"], task.right[right]["text"]) for left, right in pairs.tolist()]


def trained(pairs: list[tuple[str, str]], label: list[bool], seed: int) -> CrossEncoder:
    """Return a cross-encoder fine-tuned on these pairs."""
    torch.manual_seed(seed)
    random.seed(seed)
    model = CrossEncoder(str(bundled_minilm()), num_labels=1, max_length=LENGTH)
    examples = [InputExample(texts=list(pair), label=int(each)) for pair, each in zip(pairs, label, strict=True)]
    batches: DataLoader[InputExample] = DataLoader(examples, shuffle=True, batch_size=BATCH)  # type: ignore[arg-type]
    model.old_fit(
        batches,
        epochs=EPOCHS,
        warmup_steps=round(WARM * EPOCHS * len(batches)),
        optimizer_params={"lr": RATE},
        show_progress_bar=False,
    )
    return model


if __name__ == "__main__":
    main()

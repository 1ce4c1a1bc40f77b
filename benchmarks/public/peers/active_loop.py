"""A plain active-learning loop, as one would write it on sentence-transformers: uncertainty on the cosine.

    python -m benchmarks.public.peers.active_loop TASK

Each round asks about the pairs on which a logistic regression of the cosine is least certain, among the nearest 20
right records of each left one (the first round about the most similar ones), then trains the pre-trained encoder on all
answers. Records are one text each.
"""

import random
from importlib.metadata import version

import numpy as np
import torch
from sentence_transformers import InputExample, SentenceTransformer
from sentence_transformers.sentence_transformer.losses import OnlineContrastiveLoss
from sklearn.linear_model import LogisticRegression
from torch.utils.data import DataLoader

from allpairs.learner.models.loading import bundled_minilm
from benchmarks.public.peers.task import Task, begun

NEAREST = 20
EPOCHS = 3
BATCH = 16
RATE = 2e-5
WARM = 0.1
FREE = 1e4  # inverse of the penalty: a cosine spans less than one, and must not be held near zero
Answered = dict[tuple[int, int], bool]


def main() -> None:
    """Ask, train and score at each budget."""
    task, answers = begun()
    model = SentenceTransformer(str(bundled_minilm()))
    answered = Answered()
    base = {name: value.clone() for name, value in model.state_dict().items()}
    cosine = cosines(model, task)
    for labels in task.labels:
        if labels:
            answered |= {pair: task.answer(*pair) for pair in chosen(cosine, task, answered, labels - len(answered))}
            model.load_state_dict(base)
            train(model, task, answered)
            cosine = cosines(model, task)
        answers.dense(labels, sum(answered.values()), cosine[np.ix_(task.evaluation, task.evaluation_right)])
    settings = {
        "model": "all-MiniLM-L6-v2",
        "loss": "OnlineContrastiveLoss",
        "epochs": EPOCHS,
        "batch_size": BATCH,
        "learning_rate": RATE,
        "warm_up": WARM,
        "candidates": f"nearest {NEAREST}",
        "query": "uncertainty",
    }
    answers.finish(settings, {name: version(name) for name in ("sentence-transformers", "torch", "scikit-learn")})


def cosines(model: SentenceTransformer, task: Task) -> np.ndarray:
    """Return the cosine of every pair, (left, right)."""
    sides = [
        model.encode([record["text"] for record in records], normalize_embeddings=True, show_progress_bar=False)
        for records in (task.left, task.right)
    ]
    return np.asarray(sides[0] @ sides[1].T)


def chosen(cosine: np.ndarray, task: Task, answered: Answered, number: int) -> list[tuple[int, int]]:
    """Return the training pairs to ask about next."""
    left, right = nearest(cosine, task, task.train, task.train_right).T
    new = [pair not in answered for pair in zip(left.tolist(), right.tolist(), strict=True)]
    left = left[new]
    right = right[new]
    score = cosine[left, right]
    label = list(answered.values())
    if len(set(label)) == 2:
        known = np.array([[cosine[pair]] for pair in answered])
        score = -np.abs(LogisticRegression(C=FREE).fit(known, label).predict_proba(score[:, None])[:, 1] - 0.5)
    best = np.argsort(-score, kind="stable")[:number]
    return list(zip(left[best].tolist(), right[best].tolist(), strict=True))


def nearest(cosine: np.ndarray, task: Task, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the pairs of these rows of either list in which the right record is among the nearest, (pairs, 2)."""
    near = cosine[np.ix_(left, right)]
    if task.one_list:
        np.fill_diagonal(near, -np.inf)
    found = right[np.argpartition(-near, NEAREST, axis=1)[:, :NEAREST]]
    pairs = np.column_stack([np.repeat(left, NEAREST), found.ravel()])
    return np.unique(np.sort(pairs, axis=1), axis=0) if task.one_list else pairs


def train(model: SentenceTransformer, task: Task, answered: Answered) -> None:
    """Train the encoder in place on all answers."""
    torch.manual_seed(task.seed)
    random.seed(task.seed)
    examples = [
        InputExample(texts=[task.left[left]["text"], task.right[right]["text"]], label=int(label))
        for (left, right), label in answered.items()
    ]
    batches: DataLoader[InputExample] = DataLoader(examples, shuffle=True, batch_size=BATCH)  # type: ignore[arg-type]
    model.old_fit(
        [(batches, OnlineContrastiveLoss(model))],
        epochs=EPOCHS,
        warmup_steps=round(WARM * EPOCHS * len(batches)),
        optimizer_params={"lr": RATE},
        show_progress_bar=False,
    )


if __name__ == "__main__":
    main()

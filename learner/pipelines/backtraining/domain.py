"""Sort questions into and out of the target domain with a classifier (Kulshreshtha et al. 2021, section 2.2)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from allpairs.db.corpus.cells import LABELS, bad, plain_label
from allpairs.db.corpus.files import read_rows
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.learner.light.catalog.backtraining import BackTrainingConfig
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.pipelines.backtraining.files import DomainText

FOLDS = 5


def read_labelled_texts(path: Path, column: str) -> tuple[list[str], list[str]]:
    """Return texts and the values of the column. Raises InputError for an empty cell."""
    texts = []
    values = []
    for row in read_rows(path, ("text", column)):
        for name, value in zip(("text", column), row.values, strict=True):
            if not value.strip():
                raise bad("the cell is empty; remove the row", path, row.number, name)
        texts.append(row.values[0])
        values.append(row.values[1].strip())
    return texts, values


def in_domain(
    questions: Sequence[DomainText], path: Path, config: BackTrainingConfig, progress: Progress
) -> tuple[np.ndarray, float]:
    """Return which questions are in the domain, (n,) bool, and the classifier's cross-validated accuracy.

    The classifier is a logistic regression on the encoder's vectors; questions at or above the settings' probability
    stay.
    """
    texts, values = read_labelled_texts(path, "label")
    wrong = next((value for value in values if plain_label(value) not in LABELS), None)
    if wrong is not None:
        raise InputError(f"{path.name}: {wrong!r} is not a label; write 1 or 0")
    labels = np.array([LABELS[plain_label(value)] for value in values])
    if min(labels.sum(), (~labels).sum()) < FOLDS:
        raise InputError(f"{path.name}: at least {FOLDS} questions of each label are needed; label more")
    encoder = load_encoder(config.retriever.backbone)
    vectors = encoder.encode(texts)
    model = LogisticRegression(max_iter=1000)
    accuracy = float((cross_val_predict(model, vectors, labels, cv=FOLDS) == labels).mean())
    model.fit(vectors, labels)
    p = model.predict_proba(encoder.encode([question.text for question in questions], progress))[:, 1]
    return p >= config.lists.in_domain, accuracy

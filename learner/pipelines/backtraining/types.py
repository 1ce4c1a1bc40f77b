"""The five question types of Kulshreshtha et al. (2021, Table 2), assigned by patterns or by a classifier."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.pipelines.backtraining.domain import read_labelled_texts

TYPES = ("DESCRIPTION", "METHOD", "EXPLANATION", "COMPARISON", "PREFERENCE")
Tagger = Callable[[Sequence[str]], list[str]]

# The first match decides; a question without a match asks for a description.
_COMPARISON = (
    r"\b(?:differen(?:ce|ces|t)|differs?|compared?|comparison|versus|vs|similarit(?:y|ies)|relationship between)\b"
)
_EXPLANATION = r"\bwhy\b|\bhow come\b|\breasons?\b|\bpurpose\b|\bcauses?\b"
_QUANTITY = r"^how (?:many|much|old|long|far|often|big|large|tall)\b"
_METHOD = r"\bhow\b"
_PREFERENCE = (
    r"^(?:is|are|was|were|am|do|does|did|can|could|should|shall|will|would|has|have|had|may|might|must|which|"
    r"\S+n't)\b|\b(?:which|what) (?:\w+ )?is (?:better|best)\b"
)
PATTERNS = (
    ("COMPARISON", _COMPARISON),
    ("EXPLANATION", _EXPLANATION),
    ("DESCRIPTION", _QUANTITY),
    ("METHOD", _METHOD),
    ("PREFERENCE", _PREFERENCE),
)


def by_patterns(questions: Sequence[str]) -> list[str]:
    """Return the type of each question by its first words and a few others; English only."""
    return [_type(question.strip().lower()) for question in questions]


def _type(question: str) -> str:
    return next((name for name, pattern in PATTERNS if re.search(pattern, question)), "DESCRIPTION")


def learned_tagger(path: Path, backbone: str) -> Tagger:
    """Return a classifier trained on questions with types: a logistic regression on the encoder's vectors."""
    texts, types = read_labelled_texts(path, "type")
    encoder = load_encoder(backbone)
    if len(set(types)) < 2:
        return lambda questions: [types[0]] * len(questions)
    model = LogisticRegression(max_iter=1000).fit(encoder.encode(texts), types)
    return lambda questions: [str(kind) for kind in model.predict(encoder.encode(questions))] if questions else []


def confusion(actual: Sequence[str], generated: Sequence[str], names: Sequence[str] = TYPES) -> np.ndarray:
    """Return counts (k, k) int64 of actual types (rows) and generated ones (columns)."""
    place = {name: row for row, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    for actual_type, generated_type in zip(actual, generated, strict=True):
        counts[place[actual_type], place[generated_type]] += 1
    return counts

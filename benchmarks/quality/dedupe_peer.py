"""Score all evaluation pairs of two lists of texts with `dedupe` and its own active learning.

    PYTHON_WITH_DEDUPE benchmarks/quality/dedupe_peer.py TASK.json OUT.npz

Needs `pip install dedupe "BTrees<6"` in an environment of its own and imports nothing of this project. TASK.json holds
`train` and `evaluation` (left texts), `right` (texts), `gold` (positions in train and right), `budgets` and `seed`.
OUT.npz holds for each budget `default-N` and `plain-N`, scores (evaluation, right) float32, and `labels`: (labels,
matches, seconds) at each. A text is four fields: itself as String and as Text, its words as Set, and as Price the last
number with two decimals. `default` is dedupe's own classifier, a grid search; `plain` is one logistic regression on
the same distances. All pairs are scored, without blocking.
"""

import json
import random
import re
import sys
import time
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import dedupe
import numpy as np
from dedupe.variables import Price, Set, String, Text
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

MONEY = re.compile(r"\d+\.\d\d(?!\d)")
PART = 20_000  # pairs whose records are in memory at once

Record = dict[str, Any]


def main() -> None:
    """Write the scores."""
    task, out = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2])
    random.seed(task["seed"])
    np.random.seed(task["seed"])
    train, right, evaluation = (records(task[name]) for name in ("train", "right", "evaluation"))
    linker = make_linker([*train, *right, *evaluation])
    linker.prepare_training(dict(enumerate(train)), dict(enumerate(right)), sample_size=task["sample"])
    matches = {(train[left]["text"], right[other]["text"]) for left, other in task["gold"]}
    far = distances(linker, evaluation, right, out.with_name("distances.npy"))
    shape, start, found, asked = (len(evaluation), len(right)), time.perf_counter(), {}, []
    for budget in task["budgets"]:
        teach(linker, matches, budget)
        asked.append((budget, len(linker.training_pairs["match"]), time.perf_counter() - start))
        for name, scores in classified(linker, far).items():
            found[f"{name}-{budget}"] = scores.reshape(shape)
        print(f"dedupe: {budget} labels, {asked[-1][1]} matches, {asked[-1][2]:.0f} s", file=sys.stderr, flush=True)
    np.savez_compressed(out, labels=np.array(asked), **found)


def records(texts: Iterable[str]) -> list[Record]:
    """Return a record for each text."""
    return [{"text": text, "same": text, "words": tuple(set(text.split())), "price": price(text)} for text in texts]


def price(text: str) -> float | None:
    """Return the last number with two decimals."""
    found = [float(number) for number in MONEY.findall(text)]
    return found[-1] if found and found[-1] > 0 else None


def make_linker(known: list[Record]) -> dedupe.RecordLink:
    """Return a linker whose word weights come from all records."""
    variables = [
        String("text"),
        Text("same", corpus=[record["text"] for record in known]),
        Set("words", corpus=[record["words"] for record in known]),
        Price("price", has_missing=True),
    ]
    linker = dedupe.RecordLink(variables, num_cores=0, in_memory=True)
    linker.classifier.n_jobs = 1
    return linker


def teach(linker: dedupe.RecordLink, matches: set[tuple[str, str]], budget: int) -> None:
    """Answer dedupe's own questions up to that many answers."""
    while sum(map(len, linker.training_pairs.values())) < budget:
        pairs = linker.uncertain_pairs()
        answers: dict[str, list[Any]] = {"match": [], "distinct": []}
        for pair in pairs:
            answers["match" if (pair[0]["text"], pair[1]["text"]) in matches else "distinct"].append(pair)
        linker.mark_pairs(answers)


def distances(linker: dedupe.RecordLink, left: list[Record], right: list[Record], kept: Path) -> np.ndarray:
    """Return dedupe's distances (pairs, fields) of all pairs, kept for other seeds, as labels do not change them."""
    if kept.is_file():
        return np.load(kept)
    pairs = list(product(left, right))
    parts = [linker.data_model.distances(pairs[at : at + PART]) for at in range(0, len(pairs), PART)]
    whole = np.concatenate(parts)
    np.save(kept, whole)
    return whole


def classified(linker: dedupe.RecordLink, far: np.ndarray) -> dict[str, np.ndarray]:
    """Return the logit of each pair by both classifiers, (pairs,) float32."""
    pairs = [*linker.training_pairs["match"], *linker.training_pairs["distinct"]]
    labels = np.repeat([1, 0], [len(linker.training_pairs[name]) for name in ("match", "distinct")])
    near = linker.data_model.distances(pairs)
    models: dict[str, GridSearchCV | LogisticRegression] = {"default": linker.classifier, "plain": LogisticRegression()}
    return {name: model.fit(near, labels).decision_function(far).astype(np.float32) for name, model in models.items()}


if __name__ == "__main__":
    main()

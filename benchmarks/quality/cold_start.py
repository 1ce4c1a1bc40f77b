"""Compare a cold start on Amazon–Google with `dedupe`: rounds with and without lexical features and hubness.

    python -m benchmarks.quality.cold_start [--dedupe-python PATH] [--seeds 0 1 2] [--out out/cold_start]

Both sides ask for 64, 160, 304 and 520 labels by their own active learning on 70 % of the left records and all
right ones; gold answers. Exact average precision over all pairs of the other left records (the split of `learner
simulate --test-fraction 0.3 --seed 0`, the same for every seed). `dedupe` (MIT) needs an environment of its own,
`pip install dedupe "BTrees<6"`, named by --dedupe-python; without one its columns are left out. See dedupe_peer.py.
Finished runs are kept in OUT and not run again.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Settings
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.simulate import simulate
from allpairs.learner.metrics.average_precision import average_precision, curve_from_scores
from allpairs.learner.models.encoder import load_encoder
from benchmarks.common import ROOT
from benchmarks.data.datasets import add_columns

ROUNDS = {"first": 64, "growth": 1.5}
BUDGETS = [64, 160, 304, 520]
RECORDS = ("title", "manufacturer", "price")
OURS = {
    "Allpairs": {"lexical": True, "hubness": 0.25, "second_stage": "auto"},
    "as one text": {"lexical": True, "hubness": 0.25, "second_stage": "auto"},
    "without a second stage": {"lexical": True, "hubness": 0.25, "second_stage": "off"},
    "without lexical features either": {"lexical": False, "hubness": 0.25, "second_stage": "off"},
    "plain cosine (Mussmann, Jia and Liang 2020)": {"lexical": False, "hubness": 0.0, "second_stage": "off"},
}
PEER = {"default": "dedupe", "plain": "dedupe, plain regression"}
SAMPLE = 1_500  # pairs that dedupe chooses from; its default
Row = dict[str, float | str]


def main() -> None:
    """Print a table in Markdown and write each seed's rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dedupe-python", type=Path, help="Python of an environment with dedupe.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("out/cold_start"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    records, corpus = (amazon_google(arguments.out, columns) for columns in (RECORDS, ("text",)))
    ours, peers = [], []
    for seed in arguments.seeds:
        ours += ours_of(records, corpus, seed, arguments.out)
        if arguments.dedupe_python:
            file = arguments.out / f"dedupe-{seed}.json"
            peers += dedupe_of(dataset_of(corpus), seed, arguments.dedupe_python, file)
    print(table(ours, peers))


def amazon_google(out: Path, columns: Sequence[str]) -> Corpus:
    """Return the records with these text columns, split as the simulator does."""
    folder = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data")) / "amazon_google"
    lists = []
    for side in ("left", "right"):
        lists.append(out / f"{side}.csv")
        pd.read_csv(folder / f"{side}.csv.gz", dtype=str, keep_default_na=False).to_csv(lists[-1], index=False)
        add_columns(lists[-1])
    corpus = load_corpus(*lists, folder / "gold.csv.gz", text_columns=columns)
    return split_corpus(corpus, 0.3, np.random.default_rng(0))


def ours_of(records: Corpus, texts: Corpus, seed: int, out: Path) -> list[Row]:
    """Return our rows of one seed, one per budget; a finished variant is read from its folder.

    records: with columns, for the first variant; texts: the same as one text each, for the others.
    """
    rows: list[Row] = [{"labels": budget} for budget in BUDGETS]
    for number, (name, chosen) in enumerate(OURS.items()):
        folder = out / f"ours-{number}-{seed}"
        if not (folder / "model").is_dir():
            settings = Settings.model_validate({**ROUNDS, **chosen, "seed": seed})
            corpus = texts if number else records
            simulate(corpus, load_encoder(), settings, len(BUDGETS), folder)
        measured = [json.loads(line) for line in (folder / "rounds.jsonl").read_text(encoding="utf-8").splitlines()]
        for row, found in zip(rows, measured, strict=True):
            assert row["labels"] == found["labels"]
            row[name] = found["average_precision"]["value"]
        print(json.dumps({"seed": seed, name: [row[name] for row in rows]}), file=sys.stderr, flush=True)
    return rows


def dedupe_of(dataset: Dataset, seed: int, python: Path, file: Path) -> list[Row]:
    """Return dedupe's rows of one seed, one per budget, read from the file if it exists."""
    if not file.is_file():
        task, scores = file.with_suffix(".task.json"), file.with_suffix(".npz")
        task.write_text(json.dumps(task_of(dataset, seed)), encoding="utf-8")
        peer = ROOT / "benchmarks" / "quality" / "dedupe_peer.py"
        repeatable = {**os.environ, "PYTHONHASHSEED": str(seed)}  # dedupe samples from sets of strings
        subprocess.run([python, peer, task.resolve(), scores.resolve()], check=True, env=repeatable)
        file.write_text(json.dumps(measured(dataset, scores)), encoding="utf-8")
    found: list[Row] = json.loads(file.read_text(encoding="utf-8"))
    return found


def task_of(dataset: Dataset, seed: int) -> dict[str, object]:
    """Return the peer's input: texts, gold answers of the training pairs, budgets."""
    left, right = dataset.train_left, dataset.train_right
    gold = dataset.positives[np.isin(dataset.positives[:, 0], left)]
    return {
        "train": [dataset.texts[row] for row in left],
        "right": [dataset.texts[row] for row in right],
        "evaluation": [dataset.texts[row] for row in dataset.evaluation_left],
        "gold": np.column_stack([np.searchsorted(left, gold[:, 0]), np.searchsorted(right, gold[:, 1])]).tolist(),
        "budgets": BUDGETS,
        "seed": seed,
        "sample": SAMPLE,
    }


def measured(dataset: Dataset, scores: Path) -> list[Row]:
    """Return the average precision of the peer's scores of all evaluation pairs, one row per budget."""
    labels = np.zeros((len(dataset.evaluation_left), len(dataset.evaluation_right)), dtype=np.int8)
    labels[tuple(dataset.evaluation_positives.T)] = 1
    rows: list[Row] = []
    with np.load(scores) as file:
        for budget, positives, _ in file["labels"].tolist():
            curves = {name: curve_from_scores(file[f"{name}-{budget:.0f}"].ravel(), labels.ravel()) for name in PEER}
            values = {name: average_precision(curve) for name, curve in curves.items()}
            rows.append({"labels": budget, "positives": positives, **values})
    return rows


def table(ours: Sequence[Row], peers: Sequence[Row]) -> str:
    """Return mean and range over the seeds, one line per budget, in Markdown."""
    columns = {**{name: name for name in OURS}, **(PEER if peers else {})}
    lines = ["| labels | " + " | ".join(columns.values()) + " |", "| --- " * (len(columns) + 1) + "|"]
    for budget in BUDGETS:
        cells = [
            spread([row[name] for row in [*ours, *peers] if row["labels"] == budget and name in row])
            for name in columns
        ]
        lines.append(f"| {budget} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def spread(values: Sequence[float | str]) -> str:
    """Return mean and range: `0.612 (0.598–0.630)`."""
    found = np.array(values, dtype=float)
    return f"{found.mean():.3f} ({found.min():.3f}–{found.max():.3f})"


if __name__ == "__main__":
    main()

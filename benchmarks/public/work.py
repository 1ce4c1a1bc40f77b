"""The data sets of the comparison, and the files that a peer gets of one of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.split import read_split, split_corpus
from allpairs.db.domain import Side
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.loop.corpus_dataset import dataset_of
from benchmarks.public.peers.task import write_rows

LABELS = (0, 64, 160, 304, 520, 1_000)
SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Data:
    """A data set: files of `benchmarks.data.datasets` without their ending, and the columns of its records.

    split: a file that says which left texts are measured; without one, each seed draws that share of them.
    """

    name: str
    title: str
    left: str
    right: str
    gold: str
    columns: Sequence[str] = ()  # none: each record is one text
    split: str = ""
    share: float = 0.3


WORK = {
    data.name: data
    for data in (
        Data(
            "amazon_google", "Amazon–Google", "amazon_google_left", "amazon_google_right", "amazon_google_gold",
            ("title", "manufacturer", "price"),
        ),
        Data("wikiqa", "WikiQA", "wikiqa_questions", "wikiqa_sentences", "wikiqa_gold", split="wikiqa_split"),
        Data("mlquestions", "MLQuestions", "mlquestions_test_queries", "mlquestions_passages", "mlquestions_test_gold"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A data set as one seed divides it."""

    data: Data
    seed: int
    corpus: Corpus

    @cached_property
    def dataset(self) -> Dataset:
        """The corpus as rows: left records first, then right ones."""
        return dataset_of(self.corpus)

    @property
    def offset(self) -> int:
        """The number of left records."""
        return self.corpus.count(Side.LEFT)

    def write(self, folder: Path, files: Path, labels: Sequence[int]) -> None:
        """Write what a peer gets into the folder; files: where the data sets lie."""
        folder.mkdir(parents=True, exist_ok=True)
        dataset, offset, columns = self.dataset, self.offset, self.data.columns
        part = np.full(offset, "train", dtype=object)
        part[dataset.evaluation_left] = "evaluation"
        lists = [self._records(files / f"{name}.csv") for name in (self.data.left, self.data.right)]
        names = [item.ids[0] for item in self.corpus.items]
        left = [(row, *lists[0].loc[names[row]], part[row]) for row in range(offset)]
        right = [(row, *lists[1].loc[name]) for row, name in enumerate(names[offset:])]
        write_rows(folder / "left.csv", ("row", "text", *columns, "part"), left)
        write_rows(folder / "right.csv", ("row", "text", *columns), right)
        matches = dataset.positives[np.isin(dataset.positives[:, 0], dataset.train_left)]
        write_rows(folder / "matches.csv", ("left", "right"), (matches - [0, offset]).tolist())
        about = {"data": self.data.name, "seed": self.seed, "columns": columns, "labels": labels}
        (folder / "task.json").write_text(json.dumps(about), encoding="utf-8")

    def _records(self, path: Path) -> pd.DataFrame:
        """Return text and columns by id."""
        table = pd.read_csv(path, dtype=str, keep_default_na=False).set_index("id")
        return table[["text", *self.data.columns]]


def part_of(data: Data, seed: int, files: Path) -> Part:
    """Read a data set and divide it as this seed does; equal texts are one record, for everybody."""
    paths = [files / f"{name}.csv" for name in (data.left, data.right, data.gold)]
    corpus = load_corpus(*paths, text_columns=data.columns or ("text",))
    if data.split:
        return Part(data, seed, read_split(files / f"{data.split}.csv", corpus))
    return Part(data, seed, split_corpus(corpus, data.share, np.random.default_rng(seed)))

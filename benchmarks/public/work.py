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
from benchmarks.common import ROOT
from benchmarks.public.peers.task import write_rows

LABELS = (0, 64, 160, 304, 520, 1_000)
SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Data:
    """A data set: files of `benchmarks.data.datasets` or of a folder, without ending, and its records' columns.

    right: none for one list; split: a file that says which left texts are measured; without one, each seed draws that
    share of them; of one list, whole groups of duplicates, and pairs of two parts are in none.
    """

    name: str
    title: str
    left: str
    right: str
    gold: str
    columns: Sequence[str] = ()  # none: each record is one text
    split: str = ""
    share: float = 0.3
    folder: Path | None = None

    def path(self, file: str, files: Path) -> Path:
        """Return where one of its files lies; files: the folder of `benchmarks.data.datasets`."""
        return (self.folder or files) / f"{file}.csv"


WORK = {
    data.name: data
    for data in (
        Data(
            "amazon_google",
            "Amazon–Google",
            "amazon_google_left",
            "amazon_google_right",
            "amazon_google_gold",
            ("title", "manufacturer", "price"),
        ),
        Data("wikiqa", "WikiQA", "wikiqa_questions", "wikiqa_sentences", "wikiqa_gold", split="wikiqa_split"),
        Data("mlquestions", "MLQuestions", "mlquestions_test_queries", "mlquestions_passages", "mlquestions_test_gold"),
        Data("qqp", "Quora questions (5,000)", "qqp_small_questions", "", "qqp_small_gold", share=0.5),
        Data("demo", "Demo", "questions", "", "gold", share=0.5, folder=ROOT / "annotate" / "demo"),
    )
}


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

    def write(self, folder: Path, files: Path, labels: Sequence[int]) -> None:
        """Write what a peer gets into the folder; files: where the data sets lie."""
        folder.mkdir(parents=True, exist_ok=True)
        one_list = not self.data.right
        count = self.corpus.count(Side.LEFT)
        lists = {"left": (self.data.left, self.corpus.items[:count])}
        lists["right"] = lists["left"] if one_list else (self.data.right, self.corpus.items[count:])
        for side, (file, items) in lists.items():
            records = self._records(self.data.path(file, files))
            rows = [(row, *records.loc[item.ids[0]], item.split) for row, item in enumerate(items)]
            write_rows(folder / f"{side}.csv", ("row", "text", *self.data.columns, "part"), rows)
        matches = self.dataset.positives[np.isin(self.dataset.positives[:, 0], self.dataset.train_left)]
        matches = matches - [0, 0 if one_list else count]
        write_rows(folder / "matches.csv", ("left", "right"), matches.tolist())
        about = {"data": self.data.name, "seed": self.seed, "columns": self.data.columns, "labels": labels}
        (folder / "task.json").write_text(json.dumps({**about, "one_list": one_list}), encoding="utf-8")

    def _records(self, path: Path) -> pd.DataFrame:
        """Return text and columns by id."""
        table = pd.read_csv(path, dtype=str, keep_default_na=False).set_index("id")
        return table[["text", *self.data.columns]]


def part_of(data: Data, seed: int, files: Path) -> Part:
    """Read a data set and divide it as this seed does; equal texts are one record, for everybody."""
    left, right, gold = (data.path(file, files) if file else None for file in (data.left, data.right, data.gold))
    assert left and gold
    corpus = load_corpus(left, right, gold, text_columns=data.columns or ("text",))
    if data.split:
        return Part(data, seed, read_split(data.path(data.split, files), corpus))
    return Part(data, seed, split_corpus(corpus, data.share, np.random.default_rng(seed)))

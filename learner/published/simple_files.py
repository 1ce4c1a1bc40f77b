"""Data sets that need little more than new column names."""

from pathlib import Path

import numpy as np

from allpairs.db.corpus.files import read_rows
from allpairs.learner.published.released import GivenPair, Options, Released, Text, draw_parts


def read_mlquestions(path: Path, options: Options) -> Released:
    """Read MLQuestions: dev.parquet (here for training) and test.parquet, each against passages.parquet."""
    questions = []
    gold = []
    parts = {}
    for file, part in (("dev", "train"), ("test", "test")):
        for number, (question, passage) in read_rows(path / f"{file}.parquet", ("question", "passage_row")):
            name = f"{file}{number}"
            questions.append(Text(name, question))
            gold.append(GivenPair(name, f"p{passage}", 1))
            parts[name] = part
    # Parquet rows are counted from 1, passage_row from 0.
    passages = [Text(f"p{row - 1}", text) for row, (text,) in read_rows(path / "passages.parquet", ("passage",))]
    note = "The published dev pairs are used for training: the published train questions have no passages."
    return Released("mlquestions", questions, passages, gold, parts, notes=[note])


def read_amazon_google(path: Path, options: Options) -> Released:
    """Read Amazon–Google: both lists and the matches of left, right and gold (.csv.gz); the parts are drawn.

    One side is split and the other shared, as in WikiQA.
    """
    left, right = (
        [Text(*values) for _, values in read_rows(path / f"{side}.csv.gz", ("id", "text"))]
        for side in ("left", "right")
    )
    rows = read_rows(path / "gold.csv.gz", ("id1", "id2", "label"))
    gold = [GivenPair(id1, id2, int(label)) for _, (id1, id2, label) in rows]
    drawn = draw_parts([text for _, text in left], (), np.random.default_rng(options.seed))
    return Released("amazon_google", left, right, gold, dict(zip((name for name, _ in left), drawn, strict=True)))

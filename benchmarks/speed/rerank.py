"""Compare re-ranking with a plain transformers loop, on the same pairs in the same run.

    python -m benchmarks.speed.rerank [--queries 20] [--depth 50] [--backbone all-MiniLM-L6-v2]

The pairs are WikiQA's questions with the sentences that BM25 finds for them; without the data, the demo's questions
with each other. The plain loop is what most scripts do: query by query, 32 candidates at a time in BM25's order,
tokenised again for each pair and padded to the longest of the 32. Ours tokenises each text once, and reads pairs of
similar length together; on a GPU the encoder uses bfloat16. The largest difference of two scores is reported.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import (
    Reranker,
    prefix_of,
    scores_of,
    truth_logits,
    truth_tokens,
)
from allpairs.learner.backbones.reranking.templates import source_of
from allpairs.learner.runtime.device import default_device
from allpairs.learner.search.bm25 import Bm25
from benchmarks.common import ROOT, amount, compare, questions
from benchmarks.table import Row

TIMES = 3.0  # minimum multiple of the plain loop's rate
BATCH = 32
LENGTH = 512
FASTER = {"cpu": "int8", "cuda": "compiled"}  # the reading that is faster, by device
PLAIN = "plain transformers loop"


def texts() -> tuple[list[str], list[str]]:
    """Return queries and passages."""
    file = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data")) / "wikiqa" / "wikiqa.parquet"
    if not file.is_file():
        found = questions(2_000)
        return found, found
    table = pd.read_parquet(file)
    return list(table["question"].drop_duplicates()), list(table["sentence"].drop_duplicates())


def plain_loop(reranker: Reranker, queries: list[str], passages: list[str], near: np.ndarray) -> np.ndarray:
    """Return the score of each candidate (n, k), as most scripts compute it."""
    model = reranker.generator.model
    tokenizer = reranker.generator.tokenizer
    truth = list(truth_tokens(tokenizer))
    start = torch.tensor([prefix_of(reranker.generator)], device=model.device)
    rows = []
    for query, candidates in zip(queries, near.tolist(), strict=True):
        scores: list[torch.Tensor] = []
        for at in range(0, len(candidates), BATCH):
            sources = [source_of("rank", query, passages[row]) for row in candidates[at : at + BATCH]]
            inputs = tokenizer(sources, padding=True, truncation=True, max_length=LENGTH, return_tensors="pt")
            inputs = {name: inputs[name].to(model.device) for name in ("input_ids", "attention_mask")}
            with torch.inference_mode():
                logits = model(**inputs, decoder_input_ids=start.expand(len(sources), -1)).logits[:, -1, truth]
            scores.append(logits[:, 0] - logits[:, 1])
        rows.append(torch.cat(scores).float().cpu().numpy())
    return np.array(rows)


def ours(reranker: Reranker, queries: list[str], passages: list[str], near: np.ndarray) -> np.ndarray:
    """Return the same scores."""
    pairs = np.column_stack([np.repeat(np.arange(len(near)), near.shape[1]), near.ravel()])
    return scores_of(truth_logits(reranker, queries, passages, pairs)).reshape(near.shape)


class Rate(NamedTuple):
    """Pairs a second, and the largest difference of a pair's score from the plain loop's."""

    pairs: float
    difference: float


def compared(n: int, depth: int, backbone: str, repeats: int = 3) -> tuple[Rate, Rate, Rate]:
    """Return the rates of the plain loop, of ours and of the faster reading; print them too."""
    asked, passages = texts()
    asked = asked[:n]
    near = Bm25(passages).search(asked, depth).ids
    exact = Reranker(load_generator(backbone, 1), Reading(source_length=LENGTH))
    faster = replace(exact, reading=replace(exact.reading, **{FASTER[default_device()]: True}))
    found: dict[str, np.ndarray] = {}

    def call(name: str, how: Callable[..., np.ndarray], reranker: Reranker) -> None:
        found[name] = how(reranker, asked, passages, near)

    how = f"allpairs, {FASTER[default_device()]}"
    ways = {PLAIN: (plain_loop, exact), "allpairs": (ours, exact), how: (ours, faster)}
    calls = {name: partial(call, name, *way) for name, way in ways.items()}
    times = compare(f"re-rank {near.size:,} pairs, {backbone}", calls, near.size, "pairs", repeats)
    rates = [Rate(near.size / times[name], float(np.abs(found[name] - found[PLAIN]).max())) for name in ways]
    spread = float(found[PLAIN].std())
    print(f"  largest difference of a pair's score: {rates[1].difference:.1e}, {how} {rates[2].difference:.1e}")
    print(f"  standard deviation of the scores: {spread:.1e}")
    return rates[0], rates[1], rates[2]


def measure(quick: bool) -> list[Row]:
    """Return our rates beside the plain loop's."""
    n = amount(quick, 4, 20, 200)
    depth = 20 if quick else 50
    plain, *mine = compared(n, depth, "all-MiniLM-L6-v2", 1 if quick else 3)
    return [
        Row(
            what=f"re-rank {n * depth:,} pairs, MiniLM{how}, scores within {one.difference:.0e}",
            peer=f"{PLAIN}: {plain.pairs:.0f} pairs/s",
            ours=f"{one.pairs:.0f} pairs/s",
            ratio=one.pairs / plain.pairs,
            target=f"≥ {TIMES:g} × the plain loop's rate",
            met=one.pairs >= TIMES * plain.pairs,
        )
        for how, one in zip(("", f", {FASTER[default_device()]}"), mine, strict=True)
    ]


def main() -> None:
    """Print pairs a second."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--depth", type=int, default=50)
    parser.add_argument("--backbone", default="all-MiniLM-L6-v2", help="name or folder, such as t5-base")
    options = parser.parse_args()
    compared(options.queries, options.depth, options.backbone)


if __name__ == "__main__":
    main()

"""Compare the clusterings of matches: B³ and pairs within groups beside the true groups, on four data sets.

    python -m benchmarks.quality.clusterings [--data out/data] [--labels 300] [--seeds 0 1 2]

Each set and seed: half of the components to train, the other to measure. The bundled encoder stays as it is; its output
layer, lexical features and second stage (auto) are fitted on the labels of three batches, the first by similarity, then
by uncertainty, with 30 % of each drawn by chance from the near pairs. The threshold is the score with the best F1 over
pairs, estimated from 500 labels of the measuring half, drawn as an audit draws them. Average linkage and correlation
clustering also get all pairs with p of 0.05 or more, with the same threshold. `benchmarks.data.datasets` writes the
files; bibliographic references are made up here.
"""

import argparse
import math
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from allpairs.db.corpus import graph
from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Clustering, Settings
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.files.audit import drawn_by
from allpairs.learner.light.groups.clusterings import TWO_LISTS, clustered
from allpairs.learner.light.groups.grouping import NEED_P
from allpairs.learner.light.groups.links import Links
from allpairs.learner.light.groups.measures import b_cubed, pairwise
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.round import choose, refit
from allpairs.learner.metrics.average_precision import curve_from_scores
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.scoring.lexical_weights import fit_lexical
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right
from allpairs.learner.search.top_pairs import best_pairs
from allpairs.learner.second_stage.make import make_staged
from allpairs.learner.strategies.pool import Background
from benchmarks.common import ROOT
from benchmarks.data.bibliography import write_bibliography

AUDIT = 500
BATCHES = 3
LOW = 0.05
GRID = 1 / (1 + np.exp(-np.linspace(-2, 7, 19)))  # thresholds tried, p
CHOOSING = Settings(control_share=0.3)  # uncertainty; without chance pairs 298 of 300 labels were positive once
FIGURES = ("B³ precision", "recall", "F1", "pairs F1", "B³ F1 at its best p")


def main() -> None:
    """Print a table in Markdown, one line for each clustering of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("out/data"))
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--references", type=int, default=3_000)
    arguments = parser.parse_args()
    print(f"| set | clustering | {' | '.join(FIGURES)} | F1 of each seed |")
    print("| --- | --- |" + " ---: |" * len(FIGURES) + " --- |")
    for name, corpus in corpora(arguments.data, arguments.references):
        encoded = load_encoder().encode([item.text for item in corpus.items])
        found: dict[str, list[list[float]]] = defaultdict(list)
        for seed in arguments.seeds:
            for how, figures in measured(corpus, encoded, arguments.labels, seed):
                found[how].append(figures)
        for how, rows in found.items():
            cells = " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0))
            print(f"| {name} | {how} | {cells} | {', '.join(f'{row[2]:.3f}' for row in rows)} |", flush=True)


def corpora(data: Path, references: int) -> Iterator[tuple[str, Corpus]]:
    """Yield each set by name."""
    demo = ROOT / "annotate" / "demo"
    yield "demo", load_corpus(demo / "questions.csv", None, demo / "gold.csv")
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.csv"
        gold = Path(folder) / "gold.csv"
        write_bibliography(texts, gold, references, 0)
        yield f"{references:,} references", load_corpus(texts, None, gold)
    yield "QQP, 5,000 questions", load_corpus(data / "qqp_small_questions.csv", None, data / "qqp_small_gold.csv")
    names = ("amazon_google_left", "amazon_google_right", "amazon_google_gold")
    yield "Amazon–Google", load_corpus(*(data / f"{name}.csv" for name in names))


def measured(corpus: Corpus, encoded: np.ndarray, labels: int, seed: int) -> Iterator[tuple[str, list[float]]]:
    """Yield each clustering and its figures over the measuring half."""
    rng = np.random.default_rng(seed)
    dataset = dataset_of(split_corpus(corpus, 0.5, rng, both_sides=True))
    scorer = _fitted(dataset, encoded, labels, rng)
    assert scorer.layer is not None
    threshold = _threshold(dataset, scorer, seed)
    least = float(scorer.layer.probability(np.array([threshold]))[0])
    links = {"": _links(dataset, scorer, threshold), f", p ≥ {LOW:g}": _links(dataset, scorer, _score(scorer, LOW))}
    true = graph.components(len(dataset.texts), dataset.positives)
    for how in Clustering:
        if how in TWO_LISTS and dataset.symmetric:
            continue
        tuned = max(_b_cubed(dataset, clustered(links[f", p ≥ {LOW:g}"], how, p), true)[2] for p in GRID)
        for variant, given in links.items():
            if variant and how not in NEED_P:
                continue
            group = clustered(given, how, least)
            second = None if given.second is None else given.second[_rows(dataset)]
            pairs = pairwise(*_measuring(dataset, group, true), second)
            yield f"{how}{variant}", [*_b_cubed(dataset, group, true), pairs.f1 or 0.0, tuned]


def _fitted(dataset: Dataset, encoded: np.ndarray, labels: int, rng: np.random.Generator) -> VectorScorer:
    """Return the scorer after the batches, labelled by the known pairs."""
    pretrained = blended(dataset, encoded, Blend())
    positives = dataset.keys(*dataset.positives.T)
    vectors = pretrained
    layer = None
    labelled = Labelled(*np.empty((3, 0), dtype=np.int64))
    for _ in range(BATCHES):
        known = dataset.keys(labelled.left, labelled.right)
        background = Background(labelled, pretrained)
        batch = choose(
            dataset, vectors, layer, known, labels // BATCHES, CHOOSING, rng, background=background, space=BLENDED
        ).pairs
        answers = np.isin(dataset.keys(batch.left, batch.right), positives).astype(np.int64)
        labelled = Labelled(
            *map(np.concatenate, zip(_columns(labelled), (batch.left, batch.right, answers), strict=True))
        )
        vectors = blended(dataset, encoded, Blend(0.0, fit_lexical(dataset, labelled, pretrained)))
        layer = refit(vectors, labelled, BLENDED)
    assert layer is not None
    staged = make_staged(dataset, vectors, labelled, layer, "auto", rng, BLENDED)
    return VectorScorer(vectors, staged.layer, BLENDED, staged.rescored)


def _columns(labelled: Labelled) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return labelled.left, labelled.right, labelled.label


def _threshold(dataset: Dataset, scorer: VectorScorer, seed: int) -> float:
    """Return the score with the best F1, estimated from the labels of an audit."""
    drawn = drawn_by(scorer, dataset, AUDIT, seed)
    positive = np.isin(dataset.keys(drawn.left, drawn.right), dataset.keys(*dataset.positives.T))
    curve = curve_from_scores(scorer.score(drawn.left, drawn.right), positive, 1 / drawn.inclusion)
    f1 = 2 * curve.precision * curve.recall / (curve.precision + curve.recall)
    return float(curve.score[f1.argmax()])


def _score(scorer: VectorScorer, p: float) -> float:
    assert scorer.layer is not None
    return (math.log(p / (1 - p)) - scorer.layer.b) / scorer.layer.w


def _links(dataset: Dataset, scorer: VectorScorer, threshold: float) -> Links:
    """Return all evaluation pairs with this score or a higher one."""
    assert scorer.layer is not None
    rows = dataset.evaluation_left
    columns = dataset.evaluation_right
    found = best_pairs(
        as_left(scorer.vectors[rows], scorer.space),
        as_right(scorer.vectors[columns], scorer.space),
        dataset.symmetric,
        threshold=threshold,
        rescored=scorer.rescored.within(rows, columns),
    )
    p = scorer.layer.probability(found.score)
    second = None if dataset.symmetric else _second(dataset)
    return Links(len(dataset.texts), rows[found.left], columns[found.right], p, second=second)


def _rows(dataset: Dataset) -> np.ndarray:
    return np.union1d(dataset.evaluation_left, dataset.evaluation_right)


def _second(dataset: Dataset) -> np.ndarray:
    second = np.zeros(len(dataset.texts), dtype=bool)
    second[dataset.evaluation_right] = True
    return second


def _measuring(dataset: Dataset, group: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = _rows(dataset)
    return group[rows], true[rows]


def _b_cubed(dataset: Dataset, group: np.ndarray, true: np.ndarray) -> tuple[float, float, float]:
    found = b_cubed(*_measuring(dataset, group, true))
    return found.precision or 0.0, found.recall or 0.0, found.f1 or 0.0


if __name__ == "__main__":
    main()

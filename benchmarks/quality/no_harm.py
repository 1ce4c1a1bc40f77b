"""Check that what labels fit does no harm where they say nothing: random labels on five data sets.

    python -m benchmarks.quality.no_harm [--data out/data] [--labels 100] [--seeds 0 1 2]

Each set: the pre-trained encoder, a third of the left texts to measure, and as many of the nearest training pairs
as labels, half of them called matches by chance. Prints exact average precision over all
evaluation pairs of the cosine, of the cosine with lexical features, and with a second stage (auto) on top; means over
seeds of the labels. `benchmarks.data.datasets` writes the files.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.round import evaluate_dataset, refit
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scoring.lexical_weights import fit_lexical
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.search.top_pairs import best_pairs
from allpairs.learner.second_stage.make import make_staged

SETS = {
    "Amazon–Google": ("amazon_google_left", "amazon_google_right", "amazon_google_gold"),
    "QQP, 5,000 questions": ("qqp_small_questions", None, "qqp_small_gold"),
    "WikiQA, judged sentences": ("wikiqa_small_questions", "wikiqa_small_sentences", "wikiqa_small_gold"),
    "MLQuestions": ("mlquestions_test_queries", "mlquestions_passages", "mlquestions_test_gold"),
    "SQuAD": ("squad_questions", "squad_passages", "squad_gold"),
}
SHARE = 1 / 3  # of the left texts: to measure


def main() -> None:
    """Print a table in Markdown, one line a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("out/data"))
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    print("| random labels | cosine | with lexical features | and a second stage | second stages kept |")
    print("| --- | --- | --- | --- | --- |")
    for name, files in SETS.items():
        left, right, gold = (arguments.data / f"{file}.csv" if file else None for file in files)
        assert left is not None
        corpus = load_corpus(left, right, gold)
        dataset = dataset_of(split_corpus(corpus, SHARE, np.random.default_rng(0)))
        found = np.array(list(_measured(dataset, arguments.labels, arguments.seeds)))
        cells = " | ".join(f"{value:.4f}" for value in found[:, :3].mean(0))
        print(f"| {name} | {cells} | {found[:, 3].sum():.0f} of {len(found)} |", flush=True)


def _measured(dataset: Dataset, number: int, seeds: Sequence[int]) -> Iterator[tuple[float, float, float, float]]:
    """Yield for each seed the three values of average precision, and whether there is a second stage."""
    encoded = load_encoder().encode(dataset.texts)
    plain = blended(dataset, encoded, Blend())
    before = _ap(dataset, plain)
    nearest = _nearest(dataset, plain, number)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        labelled = replace(nearest, label=rng.permutation(np.arange(len(nearest)) % 2))
        vectors = blended(dataset, encoded, Blend(0.0, fit_lexical(dataset, labelled, plain)))
        layer = refit(vectors, labelled, BLENDED)
        staged = make_staged(dataset, vectors, labelled, layer, "auto", rng, BLENDED)
        after = _ap(dataset, vectors), _ap(dataset, vectors, staged.rescored)
        yield before, *after, float(staged.second is not None)


def _nearest(dataset: Dataset, vectors: np.ndarray, number: int) -> Labelled:
    """Return the most similar training pairs, unlabelled."""
    left = dataset.train_left
    right = dataset.train_right
    sides = as_left(vectors[left], BLENDED), as_right(vectors[right], BLENDED)
    found = best_pairs(*sides, dataset.symmetric, top=number)
    return Labelled(left[found.left], right[found.right], np.zeros(len(found), dtype=np.int64))


def _ap(dataset: Dataset, vectors: np.ndarray, rescored: Rescored = NOTHING) -> float:
    measured = evaluate_dataset(dataset, vectors, space=BLENDED, rescored=rescored)
    assert measured is not None
    return float(measured.estimates["average_precision"].value or 0.0)


if __name__ == "__main__":
    main()

"""Every figure of a run: each measure of each query, for first stages and for every training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from allpairs.learner.backbones.reranking.reranker import scores_of
from allpairs.learner.pipelines.multiview.first import found_passages, kinds_of
from allpairs.learner.pipelines.multiview.fusing import fused_scores
from allpairs.learner.pipelines.multiview.inputs import TestSet, texts_of
from allpairs.learner.pipelines.multiview.ranking import measured, ranked, reciprocal_ranks
from allpairs.learner.pipelines.multiview.trainings import SCORES, VariantTraining, trainings_of
from allpairs.learner.pipelines.multiview.variants import Variant, variants_of
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.reports.means import Mean, mean_of

Figures = Mapping[str, np.ndarray]  # by measure, a value for each query


@dataclass(frozen=True)
class Trained:
    """One training's results on a test: its scores (n, k) and its figures, alone and joined with the first stage's."""

    training: VariantTraining
    scores: np.ndarray
    figures: Figures
    fused: Figures | None = None


class Measured:
    """All figures on one test."""

    def __init__(self, run: Run, test: TestSet) -> None:
        self.run = run
        self.test = test
        config = run.config
        self.near = found_passages(run, test.name)
        self.stages: dict[str, Figures] = {
            kind: measured(found_passages(run, test.name, kind), test.gold, config.measures)
            for kind in kinds_of(run, test.name)
        }
        self.fitting = texts_of(run).fitting
        self.without = self._fused(None)  # cosine and BM25, without a re-ranker
        self.trained = [self._trained(training) for training in trainings_of(run)]

    def _trained(self, training: VariantTraining) -> Trained:
        with np.load(training.within(self.run.of("trainings")) / SCORES) as stored:
            scores = {name: scores_of(logits) for name, logits in stored.items()}
        test_scores = scores[self.test.name]
        return Trained(training, test_scores, self._measured(test_scores), self._fused(scores))

    def _fused(self, reranker_scores: Mapping[str, np.ndarray] | None) -> Figures | None:
        """Return the figures of the joined scores; None without a fusion. reranker_scores: by set of queries."""
        if self.fitting is None:
            return None
        scores = fused_scores(self.run, self.fitting, self.test.name, reranker_scores)
        return None if scores is None else self._measured(scores)

    def _measured(self, scores: np.ndarray) -> Figures:
        ranking = ranked(self.near, scores, self.run.config.depth)
        return measured(ranking, self.test.gold, self.run.config.measures)

    def of(self, variant: Variant) -> list[Trained]:
        """Return the variant's trainings, by seed."""
        return [result for result in self.trained if result.training.variant == variant]

    def mean(self, variant: Variant, measure: str) -> Mean:
        """Return the mean over seeds of the measure's mean over queries."""
        return mean_of([float(result.figures[measure].mean()) for result in self.of(variant)])

    def by_query(self, variant: Variant, measure: str) -> np.ndarray:
        """Return the measure of each query, (n,), averaged over seeds."""
        return np.asarray(np.mean([result.figures[measure] for result in self.of(variant)], axis=0))

    def at_depth(self, variant: Variant, depth: int) -> list[float]:
        """Return each seed's mean reciprocal rank when only `depth` candidates are read."""
        gold = self.test.gold
        return [
            float(reciprocal_ranks(ranked(self.near, result.scores, depth), gold).mean()) for result in self.of(variant)
        ]

    def reach(self, depth: int) -> float:
        """Return the share of queries with a right passage among `depth` candidates, which bounds success at rank 1."""
        rows = self.near[:, :depth].tolist()
        return float(np.mean([bool(right & set(row)) for row, right in zip(rows, self.test.gold, strict=True)]))


def all_measured(run: Run) -> list[Measured]:
    """Return the figures on every test, in order."""
    return [Measured(run, test) for test in texts_of(run).tests]


def single_of(variants: Sequence[Variant], variant: Variant) -> Variant:
    """Return the variant's single-view counterpart: the same backbone and ranking view, else the plain one."""
    singles = [single for single in variants if single.single and single.backbone == variant.backbone]
    return next((single for single in singles if single.first == variant.first), singles[0])


def best_of(trained: Sequence[Trained], measure: str) -> Trained:
    """Return the training with the highest mean; ties go to the first."""
    return max(trained, key=lambda result: float(result.figures[measure].mean()))


def main_variants(run: Run) -> list[Variant]:
    """Return single view and the main rate's multi view of every backbone: the paper's Table 1."""
    config = run.config
    return [
        variant
        for variant in variants_of(config)
        if variant.first == config.first_view
        and (variant.single or (variant.second, variant.rate) == (config.second_view, config.rate))
    ]

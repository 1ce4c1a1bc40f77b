"""Multi-view re-ranking (Ju, Yang and Wang 2021): re-order candidates by a model that also writes queries."""

from allpairs.learner.pipelines.multiview.all_pairs import measure_all_pairs
from allpairs.learner.pipelines.multiview.first import find_candidates
from allpairs.learner.pipelines.multiview.inputs import check_multiview_inputs, read_inputs
from allpairs.learner.pipelines.multiview.results import write_ranking_results
from allpairs.learner.pipelines.multiview.trainings import train_variants
from allpairs.learner.pipelines.pipeline import RESULTS, Pipeline, Stage

PIPELINE = Pipeline(
    check_multiview_inputs,
    [
        Stage("texts", 0.01, read_inputs),
        Stage("candidates", 0.04, find_candidates),
        Stage("trainings", 0.87, train_variants, goes_on=True),
        Stage("all-pairs", 0.07, measure_all_pairs),
        Stage(RESULTS, 0.01, write_ranking_results),
    ],
)

"""Back-training (Kulshreshtha et al. 2021): adapt a generator and a retriever to a new domain by synthetic pairs."""

from allpairs.learner.pipelines.backtraining.adapt import adapt
from allpairs.learner.pipelines.backtraining.best import BEST, use_best
from allpairs.learner.pipelines.backtraining.cell import ADAPTED
from allpairs.learner.pipelines.backtraining.results import write_backtraining_results
from allpairs.learner.pipelines.backtraining.source import SOURCE, learn_source
from allpairs.learner.pipelines.backtraining.texts import TEXTS, check_domain_inputs, read_domain_inputs
from allpairs.learner.pipelines.pipeline import RESULTS, Pipeline, Stage

PIPELINE = Pipeline(
    check_domain_inputs,
    [
        Stage(TEXTS, 0.01, read_domain_inputs),
        Stage(SOURCE, 0.3, learn_source, goes_on=True),
        Stage(ADAPTED, 0.6, adapt, goes_on=True),
        Stage(BEST, 0.08, use_best),
        Stage(RESULTS, 0.01, write_backtraining_results),
    ],
)

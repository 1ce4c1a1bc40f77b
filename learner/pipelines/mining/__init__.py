"""Few-shot mining (Joshi et al. 2022): few pairs → bi-encoder → margin → filters → cross-encoder → ranked pairs."""

from allpairs.learner.pipelines.mining.downstream.stage import measure_downstream
from allpairs.learner.pipelines.mining.inputs import check_mining_inputs, read_mining_inputs
from allpairs.learner.pipelines.mining.propose import encode_lists, propose_pairs, train_retriever_stage
from allpairs.learner.pipelines.mining.results import write_mining_results
from allpairs.learner.pipelines.mining.sift import rank_again, sift_pairs
from allpairs.learner.pipelines.pipeline import RESULTS, Pipeline, Stage

PIPELINE = Pipeline(
    check_mining_inputs,
    [
        Stage("texts", 0.01, read_mining_inputs),
        Stage("biencoder", 0.15, train_retriever_stage),
        Stage("vectors", 0.2, encode_lists),
        Stage("candidates", 0.02, propose_pairs),
        Stage("kept", 0.01, sift_pairs),
        Stage("mined", 0.2, rank_again),
        Stage("downstream", 0.4, measure_downstream, goes_on=True),
        Stage(RESULTS, 0.01, write_mining_results),
    ],
)

"""The pipelines: one entry each."""

from pydantic import BaseModel, ConfigDict

from allpairs.learner.light.catalog.backtraining import BackTrainingConfig, BackTrainingInputs
from allpairs.learner.light.catalog.mining import MiningConfig, MiningInputs
from allpairs.learner.light.catalog.multiview import MultiViewConfig, MultiViewInputs
from allpairs.learner.light.catalog.quip import QuipConfig, QuipInputs
from allpairs.learner.light.catalog.section import Section


class PipelineEntry(BaseModel):
    """A paper's method as a job. `config`: what a person chooses; `inputs`: the files it reads.

    `place`: the module below `learner.pipelines` that holds its `PIPELINE`.
    """

    model_config = ConfigDict(frozen=True)

    title: str
    paper: str
    description: str
    reads: str
    makes: str
    config: type[Section]
    inputs: type[Section]
    place: str


PIPELINES: dict[str, PipelineEntry] = {
    "few-shot-mining": PipelineEntry(
        title="Few-shot mining",
        paper="Joshi et al. (2022). Few-shot Mining of Naturally Occurring Inputs and Outputs.",
        description="Finds new pairs, ranked and filtered, from about 100 positive pairs and two large lists of texts.",
        reads="positive pairs, and both lists of texts; known pairs to measure by, if there are any",
        makes="ranked pairs, a bi-encoder and a cross-encoder",
        config=MiningConfig,
        inputs=MiningInputs,
        place="mining",
    ),
    "back-training": PipelineEntry(
        title="Back-training",
        paper="Kulshreshtha et al. (2021). Back-Training excels Self-Training at Unsupervised Domain Adaptation of "
        "Question Generation and Passage Retrieval.",
        description="From pairs of one domain, and unpaired questions and passages of another, trains a "
        "question generator and a retriever for the other.",
        reads="pairs of questions and passages; both lists of the target domain; known pairs of it to measure by",
        makes="a bi-encoder, a question generator, each question with its passage, and generated questions",
        config=BackTrainingConfig,
        inputs=BackTrainingInputs,
        place="backtraining",
    ),
    "multi-view-reranking": PipelineEntry(
        title="Multi-view re-ranking",
        paper="Ju, Yang and Wang (2021). Text-to-Text Multi-view Learning for Passage Re-ranking.",
        description="A first stage finds candidates; a model trained to answer true or false for a query and a "
        "passage (and to write a passage's query) re-ranks them.",
        reads="queries, passages, and which passage answers which query",
        makes="a re-ranker, a generator of queries, and runs",
        config=MultiViewConfig,
        inputs=MultiViewInputs,
        place="multiview",
    ),
    "quip": PipelineEntry(
        title="Question-answering infused pre-training",
        paper="Jia, Lewis and Zettlemoyer (2022). Question Answering Infused Pre-training of General-Purpose "
        "Contextualized Representations.",
        description="Writes questions about passages, lets a teacher answer them, and trains an encoder on both.",
        reads="passages, and questions with answers if there are any; sentences to test the encoder on",
        makes="an encoder that finds answers, and the teacher",
        config=QuipConfig,
        inputs=QuipInputs,
        place="quip",
    ),
}

"""Measure a generator's questions and a retriever's finds on known pairs."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.backbones.generator import TextGenerator, generate, nll
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.light.catalog.backtraining import BackTrainingConfig
from allpairs.learner.metrics.retrieval import mean_reciprocal_rank, recall_at
from allpairs.learner.metrics.text import ORDERS, bleu_counts, bleu_of_counts, coco_rouge_l, meteor
from allpairs.learner.models.bi_encoder_training import Retriever
from allpairs.learner.pipelines.backtraining.files import PassageQuestion
from allpairs.learner.pipelines.backtraining.lists import ScoredPairs
from allpairs.learner.pipelines.backtraining.texts import Data
from allpairs.learner.search.gold_ranks import Ties, ranks_of_gold

RANKS = (1, 20, 40, 100)
WRITTEN = "written.json"
FIGURES = "figures.json"


def measure_both_models(
    folder: Path,
    generator: TextGenerator,
    retriever: Retriever,
    data: Data,
    config: BackTrainingConfig,
    progress: Progress,
) -> None:
    """Write the figures of both models, and the questions written for the test pairs, to the folder."""
    settings = config.generator
    began = time.monotonic()
    written = questions_for(generator, data.test, settings, part_of(progress, 0.0, 0.5))
    references = [pair.question for pair in data.test]
    figures: dict[str, Any] = {"test": generation_figures(written, references)}
    for name, pairs in (("dev", data.dev), ("test", data.test)):
        part = part_of(progress, *{"dev": (0.5, 0.55), "test": (0.55, 0.6)}[name])
        loss = float(likelihoods(generator, pairs, settings, part).mean())
        figures.setdefault(name, {}).update(nll=loss, perplexity=float(np.exp(loss)))
    search = PassageSearch(retriever, data.candidates, part_of(progress, 0.6, 1.0))
    for name, pairs in (("dev", data.dev), ("test", data.test)):
        figures[name] |= search.figures(pairs, config.measuring.ties)
    figures["seconds"] = time.monotonic() - began
    folder.mkdir(parents=True)
    (folder / WRITTEN).write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")
    (folder / FIGURES).write_text(json.dumps(figures), encoding="utf-8")


def measure_source(
    generator: TextGenerator,
    retriever: Retriever,
    pairs: Sequence[PassageQuestion],
    passages: Sequence[str],
    config: BackTrainingConfig,
    progress: Progress,
) -> dict[str, float]:
    """Return both models' figures on test pairs of their own domain, searching these and the pairs' passages."""
    written = questions_for(generator, pairs, config.generator, progress)
    search = PassageSearch(retriever, dict.fromkeys([*passages, *(pair.passage for pair in pairs)], 1), progress)
    return generation_figures(written, [pair.question for pair in pairs]) | search.figures(pairs, config.measuring.ties)


def generation_figures(written: Sequence[str], questions: Sequence[str]) -> dict[str, float]:
    """Return corpus BLEU-1 to 4, and mean METEOR (NLTK's, without WordNet) and ROUGE-L (COCO's), 0 to 1.

    Texts are lower-cased, without final question marks, and split at white space.
    """
    answers, references = [list(map(comparable_text, texts)) for texts in (written, questions)]
    counts = bleu_counts(answers, references)
    figures = {f"bleu_{order}": bleu_of_counts(counts, order) for order in range(1, ORDERS + 1)}
    for name, function in (("meteor", meteor), ("rouge_l", coco_rouge_l)):
        figures[name] = float(
            np.mean([function(generated, reference) for generated, reference in zip(answers, references, strict=True)])
        )
    return figures


def comparable_text(question: str) -> str:
    """Return the question as the measures see it."""
    return question.lower().rstrip(" ?")


def questions_for(
    generator: TextGenerator, pairs: Sequence[PassageQuestion], settings: GeneratorSettings, progress: Progress
) -> list[str]:
    """Return the generator's question about each pair's passage; equal passages are read once."""
    passages = list(dict.fromkeys(pair.passage for pair in pairs))
    questions = dict(zip(passages, generate(generator, passages, settings, progress), strict=True))
    return [questions[pair.passage] for pair in pairs]


def likelihoods(
    generator: TextGenerator,
    pairs: Sequence[PassageQuestion],
    settings: GeneratorSettings,
    progress: Progress = no_progress,
) -> np.ndarray:
    """Return the mean negative log-likelihood of each pair's question given its passage, (n,) float32."""
    return nll(generator, [pair.passage for pair in pairs], [pair.question for pair in pairs], settings, progress)


def judge(
    generator: TextGenerator, retriever: Retriever, pairs: Sequence[PassageQuestion], settings: GeneratorSettings
) -> ScoredPairs:
    """Return the pairs as both models score them."""
    questions = retriever.query.encode([pair.question for pair in pairs])
    passages = retriever.passage.encode([pair.passage for pair in pairs])
    return ScoredPairs(likelihoods(generator, pairs, settings), np.einsum("nd,nd->n", questions, passages))


PLACES: dict[Ties, float] = {
    "optimistic": 0.0,
    "average": 0.5,
    "pessimistic": 1.0,
}  # position among copies of a passage


class PassageSearch:
    """Retrieval among passages, each of which may occur several times."""

    def __init__(self, retriever: Retriever, candidates: dict[str, int], progress: Progress) -> None:
        self.retriever = retriever
        self.row = {text: row for row, text in enumerate(candidates)}
        self.counts = np.array(list(candidates.values()))
        self.vectors = retriever.passage.encode(list(candidates), progress)

    def figures(self, pairs: Sequence[PassageQuestion], ties: Ties) -> dict[str, float]:
        """Return accuracy at 1, 20, 40 and 100 by text, the same counting copies separately (strict), and MRR."""
        gold = np.array([self.row[pair.passage] for pair in pairs], dtype=np.int64)
        queries = self.retriever.query.encode([pair.question for pair in pairs])
        ranks = ranks_of_gold(queries, self.vectors, gold, ties, self.counts)
        strict = strict_ranks(ranks, self.counts[gold], ties)
        return {
            **{f"accuracy_at_{k}": recall_at(ranks, k) for k in RANKS},
            **{f"strict_accuracy_at_{k}": recall_at(strict, k) for k in RANKS},
            "mrr": mean_reciprocal_rank(ranks),
        }


def strict_ranks(ranks: np.ndarray, copies: np.ndarray, ties: Ties) -> np.ndarray:
    """Return the rank of the passage at one position, from that of its first copy: all of its copies tie."""
    placed: np.ndarray = ranks + (copies - 1) * PLACES[ties]
    return placed

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
from allpairs.learner.pipelines.backtraining.files import Asked
from allpairs.learner.pipelines.backtraining.lists import Judged
from allpairs.learner.pipelines.backtraining.texts import Data
from allpairs.learner.search.gold_ranks import Ties, ranks_of_gold

AT = (1, 20, 40, 100)
WRITTEN = "written.json"
FIGURES = "figures.json"


def measure(
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
    asked = [one.question for one in data.test]
    found: dict[str, Any] = {"test": generation_figures(written, asked)}
    for name, pairs in (("dev", data.dev), ("test", data.test)):
        part = part_of(progress, *{"dev": (0.5, 0.55), "test": (0.55, 0.6)}[name])
        loss = float(likelihoods(generator, pairs, settings, part).mean())
        found.setdefault(name, {}).update(nll=loss, perplexity=float(np.exp(loss)))
    search = Search(retriever, data.candidates, part_of(progress, 0.6, 1.0))
    for name, pairs in (("dev", data.dev), ("test", data.test)):
        found[name] |= search.figures(pairs, config.measuring.ties)
    found["seconds"] = time.monotonic() - began
    folder.mkdir(parents=True)
    (folder / WRITTEN).write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")
    (folder / FIGURES).write_text(json.dumps(found), encoding="utf-8")


def measure_source(
    generator: TextGenerator,
    retriever: Retriever,
    pairs: Sequence[Asked],
    passages: Sequence[str],
    config: BackTrainingConfig,
    progress: Progress,
) -> dict[str, float]:
    """Return both models' figures on test pairs of their own domain, searching these and the pairs' passages."""
    written = questions_for(generator, pairs, config.generator, progress)
    search = Search(retriever, dict.fromkeys([*passages, *(one.passage for one in pairs)], 1), progress)
    return generation_figures(written, [one.question for one in pairs]) | search.figures(pairs, config.measuring.ties)


def generation_figures(written: Sequence[str], asked: Sequence[str]) -> dict[str, float]:
    """Return corpus BLEU-1 to 4, and mean METEOR (NLTK's, without WordNet) and ROUGE-L (COCO's), 0 to 1.

    Texts are lower-cased, without final question marks, and split at white space.
    """
    ours, theirs = [list(map(words_of, texts)) for texts in (written, asked)]
    counts = bleu_counts(ours, theirs)
    found = {f"bleu_{order}": bleu_of_counts(counts, order) for order in range(1, ORDERS + 1)}
    for name, function in (("meteor", meteor), ("rouge_l", coco_rouge_l)):
        found[name] = float(np.mean([function(one, other) for one, other in zip(ours, theirs, strict=True)]))
    return found


def words_of(question: str) -> str:
    """Return the question as the measures see it."""
    return question.lower().rstrip(" ?")


def questions_for(
    generator: TextGenerator, pairs: Sequence[Asked], settings: GeneratorSettings, progress: Progress
) -> list[str]:
    """Return the generator's question about each pair's passage; equal passages are read once."""
    passages = list(dict.fromkeys(one.passage for one in pairs))
    found = dict(zip(passages, generate(generator, passages, settings, progress), strict=True))
    return [found[one.passage] for one in pairs]


def likelihoods(
    generator: TextGenerator, pairs: Sequence[Asked], settings: GeneratorSettings, progress: Progress = no_progress
) -> np.ndarray:
    """Return the mean negative log-likelihood of each pair's question given its passage, (n,) float32."""
    return nll(generator, [one.passage for one in pairs], [one.question for one in pairs], settings, progress)


def judge(
    generator: TextGenerator, retriever: Retriever, pairs: Sequence[Asked], settings: GeneratorSettings
) -> Judged:
    """Return the pairs as both models score them."""
    questions = retriever.query.encode([one.question for one in pairs])
    passages = retriever.passage.encode([one.passage for one in pairs])
    return Judged(likelihoods(generator, pairs, settings), np.einsum("nd,nd->n", questions, passages))


PLACES: dict[Ties, float] = {
    "optimistic": 0.0,
    "average": 0.5,
    "pessimistic": 1.0,
}  # position among copies of a passage


class Search:
    """Retrieval among passages, each of which may occur several times."""

    def __init__(self, retriever: Retriever, candidates: dict[str, int], progress: Progress) -> None:
        self.retriever = retriever
        self.row = {text: at for at, text in enumerate(candidates)}
        self.counts = np.array(list(candidates.values()))
        self.vectors = retriever.passage.encode(list(candidates), progress)

    def figures(self, pairs: Sequence[Asked], ties: Ties) -> dict[str, float]:
        """Return accuracy at 1, 20, 40 and 100 by text, the same counting copies separately (strict), and MRR."""
        gold = np.array([self.row[one.passage] for one in pairs], dtype=np.int64)
        queries = self.retriever.query.encode([one.question for one in pairs])
        ranks = ranks_of_gold(queries, self.vectors, gold, ties, self.counts)
        strict = strict_ranks(ranks, self.counts[gold], ties)
        return {
            **{f"accuracy_at_{k}": recall_at(ranks, k) for k in AT},
            **{f"strict_accuracy_at_{k}": recall_at(strict, k) for k in AT},
            "mrr": mean_reciprocal_rank(ranks),
        }


def strict_ranks(ranks: np.ndarray, copies: np.ndarray, ties: Ties) -> np.ndarray:
    """Return the rank of the passage at one position, from that of its first copy: all of its copies tie."""
    placed: np.ndarray = ranks + (copies - 1) * PLACES[ties]
    return placed

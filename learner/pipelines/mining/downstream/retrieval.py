"""Retrieval as the use of mined pairs: a bi-encoder trained on them finds the test pairs' second texts."""

import numpy as np

from allpairs.db.identity import identity
from allpairs.db.progress import Progress, part_of
from allpairs.learner.light.catalog.mining import MiningConfig
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.metrics.retrieval import mean_reciprocal_rank, recall_at
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.models.bi_encoder_training import Retriever, lesson_of, new_retriever, train_retriever
from allpairs.learner.pipelines.mining.development import best_model, retrieval_measure, watch_of
from allpairs.learner.pipelines.mining.downstream.added import Added
from allpairs.learner.pipelines.mining.inputs import MiningTexts
from allpairs.learner.pipelines.mining.propose import RANDOM_TEXTS, dev_others, sample
from allpairs.learner.search.gold_ranks import ranks_of_gold

RANKS = (1, 10)  # ranks at which recall is measured


class Retrieval:
    """Finds each test pair's second text among all distinct second texts of the list and of the test pairs."""

    def __init__(self, config: MiningConfig, texts: MiningTexts) -> None:
        self.texts = texts
        self.development = config.development
        self.settings = config.biencoder.model_copy(update={"steps": config.downstream.steps})
        distinct: dict[str, str] = {}
        for text in (*texts.y.all(), *(y for _, y in texts.test)):
            distinct.setdefault(identity(text), text)
        row = {key: number for number, key in enumerate(distinct)}
        self.passages = list(distinct.values())
        self.gold = np.array([row[identity(y)] for _, y in texts.test], dtype=np.int64)

    def figures(self, added: Added, seed: int, progress: Progress) -> dict[str, float]:
        """Return recall at 1 and 10 and the mean reciprocal rank after training on the seed pairs and these."""
        retriever = self._trained(added, seed, part_of(progress, 0.0, 0.5))
        passages = retriever.passage.encode(self.passages, part_of(progress, 0.5, 1.0))
        ranks = ranks_of_gold(retriever.query.encode([x for x, _ in self.texts.test]), passages, self.gold)
        return {f"recall_at_{k}": recall_at(ranks, k) for k in RANKS} | {"mrr": mean_reciprocal_rank(ranks)}

    def _trained(self, added: Added, seed: int, progress: Progress) -> Retriever:
        texts = self.texts
        pairs = [*texts.seeds.pairs, *zip(added.x, added.y, strict=True)]
        random_texts = sample(texts.y, RANDOM_TEXTS, np.random.default_rng([seed, 3]))
        lesson = lesson_of(texts.directed(pairs), random_texts)
        dev_texts = dev_others(random_texts, seed)

        def train(settings: RetrieverSettings, part: Progress) -> tuple[Retriever, BestWeights | None]:
            retriever = new_retriever(settings)
            measure = retrieval_measure(retriever, texts.dev, dev_texts)
            best = watch_of(retriever.networks, measure, self.development, settings.learning_rate)
            train_retriever(retriever, lesson, settings, seed, part, best=best)
            return retriever, best

        return best_model(self.settings, self.development, train, progress)[0]

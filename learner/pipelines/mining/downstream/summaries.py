"""Summaries as the use of mined pairs: a generator trained on them summarises the test documents.

Source: Joshi et al. (2022), section 4: mined documents carry a special token, as their style differs from the seed's.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.backbones.generator import TextGenerator, generate, load_generator, train_generator, with_token
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.light.catalog.mining import MiningConfig
from allpairs.learner.metrics.text import ROUGES, rouge
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.pipelines.mining.development import best_model, watch_of
from allpairs.learner.pipelines.mining.downstream.added import GOLD, Added
from allpairs.learner.pipelines.mining.inputs import MiningTexts

MINED = "<mined>"  # before a mined document


class Summaries:
    """Writes a summary of each test document."""

    def __init__(self, config: MiningConfig, texts: MiningTexts) -> None:
        self.config = config
        self.texts = texts

    def figures(self, added: Added, seed: int, progress: Progress) -> dict[str, float]:
        """Return the F1 of ROUGE-1, ROUGE-2 and ROUGE-L after training on the seed pairs and these."""
        settings = self.config.generator.model_copy(update={"seed": seed})
        marked = added.x if added.method == GOLD else [f"{MINED} {document}" for document in added.x]
        documents, summaries = zip(*self.texts.seeds.pairs, *zip(marked, added.y, strict=True), strict=True)

        def train(chosen: GeneratorSettings, part: Progress) -> tuple[TextGenerator, BestWeights | None]:
            generator = with_token(
                load_generator(chosen.backbone, chosen.decoder_layers, seed, copying=chosen.copying), MINED, seed
            )
            dev = self.texts.dev
            measure = partial(_rouge_l, generator, dev, chosen, seed) if dev else None
            best = watch_of([generator.model], measure, self.config.development, chosen.learning_rate)
            train_generator(generator, documents, summaries, chosen, part, best)
            return generator, best

        generator, _ = best_model(settings, self.config.development, train, part_of(progress, 0.0, 0.5))
        return _figures(generator, self.texts.test, settings, seed, part_of(progress, 0.5, 1.0))


def _rouge_l(
    generator: TextGenerator, pairs: Sequence[tuple[str, str]], settings: GeneratorSettings, seed: int
) -> float:
    return _figures(generator, pairs, settings, seed)["rougeL"]


def _figures(
    generator: TextGenerator,
    pairs: Sequence[tuple[str, str]],
    settings: GeneratorSettings,
    seed: int,
    progress: Progress = no_progress,
) -> dict[str, float]:
    documents, right = zip(*pairs, strict=True)
    written = generate(generator, documents, settings, progress, seed)
    rouges = [rouge(text, summary) for text, summary in zip(written, right, strict=True)]
    return {name: float(np.mean([values[name] for values in rouges])) for name in ROUGES}

"""Self-training: a generator trained on the seed alone writes one text of each mined pair.

Source: Joshi et al. (2022), section 6 (Gen): summaries of the documents, and questions on the passages, that the full
method chose.
"""

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.generator import generate, load_generator, train_generator
from allpairs.learner.light.catalog.mining import SUMMARIES, MiningConfig
from allpairs.learner.pipelines.mining.downstream.added import GENERATED, Added
from allpairs.learner.pipelines.mining.inputs import MiningTexts

TRAIN = 0.3  # share of the work


def generated_texts(config: MiningConfig, texts: MiningTexts, rows: np.ndarray, seed: int, progress: Progress) -> Added:
    """Return the pairs (n, 2) with one text of each generated; pairs with an empty generation are left out."""
    side = "y" if config.kind == SUMMARIES else "x"
    inputs = (texts.x if side == "y" else texts.y).take(rows[:, 0 if side == "y" else 1])
    pairs = texts.seeds.pairs if side == "y" else [(y, x) for x, y in texts.seeds.pairs]
    settings = config.generator.model_copy(update={"seed": seed})
    generator = load_generator(settings.backbone, settings.decoder_layers, seed, copying=settings.copying)
    sources, targets = zip(*pairs, strict=True)
    train_generator(generator, sources, targets, settings, part_of(progress, 0.0, TRAIN))
    generated = generate(generator, inputs, settings, part_of(progress, TRAIN, 1.0), seed)
    nonempty = [row for row, text in enumerate(generated) if text]
    return Added(GENERATED, texts, rows[nonempty], (side, [generated[row] for row in nonempty]))

"""Summaries as the use of mined pairs: a generator trained on them summarises the test documents.

Source: Joshi et al. (2022), section 4: mined documents carry a special token, as their style differs from the seed's.
"""

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.backbones.generator import generate, load_generator, train_generator, with_token
from allpairs.learner.catalog.mining import MiningConfig
from allpairs.learner.metrics.text import ROUGES, rouge
from allpairs.learner.pipelines.mining.downstream.added import GOLD, Added
from allpairs.learner.pipelines.mining.inputs import Texts

MINED = "<mined>"  # before a mined document


class Summaries:
    """Writes a summary of each test document."""

    def __init__(self, config: MiningConfig, texts: Texts) -> None:
        self.settings, self.texts = config.generator, texts

    def figures(self, added: Added, seed: int, progress: Progress) -> dict[str, float]:
        """Return the F1 of ROUGE-1, ROUGE-2 and ROUGE-L after training on the seed pairs and these."""
        settings = self.settings.model_copy(update={"seed": seed})
        generator = with_token(load_generator(settings.backbone, settings.decoder_layers, seed), MINED, seed)
        marked = added.x if added.method == GOLD else [f"{MINED} {document}" for document in added.x]
        pairs = [*self.texts.seeds.pairs, *zip(marked, added.y, strict=True)]
        documents, summaries = zip(*pairs, strict=True)
        train_generator(generator, documents, summaries, settings, lambda stage, done: progress(stage, done / 2))
        asked, right = zip(*self.texts.test, strict=True)
        written = generate(generator, asked, settings, lambda stage, done: progress(stage, (1 + done) / 2), seed)
        found = [rouge(text, summary) for text, summary in zip(written, right, strict=True)]
        return {name: float(np.mean([one[name] for one in found])) for name in ROUGES}

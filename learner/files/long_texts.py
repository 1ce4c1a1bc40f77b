"""Texts that are longer than what a model reads."""

from collections.abc import Sequence

from allpairs.db.corpus.fields import note_on_long_texts
from allpairs.learner.files.evaluate import Model
from allpairs.learner.scoring.matcher import PairModel


def long_texts_in_words(model: Model, texts: Sequence[str]) -> str:
    """Return how many texts are longer than what a matcher or an encoder reads; empty if none, and for other models.

    model: as `load_model` returns it.
    """
    if not isinstance(model, PairModel):
        return ""
    return note_on_long_texts(model.encoder.count_longer(texts), model.encoder.most_tokens)

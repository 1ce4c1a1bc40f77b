"""Texts that are longer than what a model reads."""

from collections.abc import Sequence

from allpairs.db.corpus.fields import note_on_long_texts
from allpairs.learner.backbones.reranking.reranker import is_reranker
from allpairs.learner.scorers.bertscore_scorer import is_token_scorer
from allpairs.learner.scorers.scorer import is_cross_encoder
from allpairs.learner.scorers.two_feature_scorer import is_feature_scorer
from allpairs.learner.scoring.matcher import load_matcher


def long_texts_in_words(model: str, texts: Sequence[str]) -> str:
    """Return how many texts are longer than what a matcher or an encoder reads; empty if none, and for other models."""
    if any(is_other(model) for is_other in (is_reranker, is_token_scorer, is_feature_scorer, is_cross_encoder)):
        return ""
    encoder = load_matcher(model).encoder
    return note_on_long_texts(encoder.count_longer(texts), encoder.most_tokens)

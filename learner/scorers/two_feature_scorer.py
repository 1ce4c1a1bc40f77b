"""A scorer of two features: the cosine of an encoder's vectors, and BERTScore F of its tokens.

Jia, Lewis and Zettlemoyer (2022), section 3.2, weight the BERTScore of several layers by a logistic regression; here
the cosine replaces the other layers, so that the effect of each feature shows.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scorers.bertscore_scorer import LAYER_MARK, TokenScorer, load_token_scorer
from allpairs.learner.scorers.scorer import VectorScorer

PREFIX = "cosine+bertscore:"


@dataclass(frozen=True)
class Weights:
    """logit = cosine·its weight + bertscore·its weight + intercept.

    cosine_spread, bertscore_spread: the features' standard deviations over the pairs that they were fitted on; a weight
    times its spread is the feature's effect.
    """

    cosine: float
    bertscore: float
    intercept: float
    cosine_spread: float
    bertscore_spread: float
    labels: int
    positives: int

    def logit(self, cosines: np.ndarray, bertscores: np.ndarray) -> np.ndarray:
        """Return the logits (n,) float32 of pairs with these features, (n,) each."""
        return (self.cosine * cosines + self.bertscore * bertscores + self.intercept).astype(np.float32)

    def as_dict(self) -> dict[str, float]:
        """Return the weights as in a command's result."""
        return asdict(self)


def fit_weights(cosines: np.ndarray, bertscores: np.ndarray, labels: np.ndarray) -> Weights:
    """Fit a logistic regression (C = 1) on both features, standardised; all (n,), labels 0 or 1.

    Raises InputError if the labels are of one class.
    """
    if len(np.unique(labels)) < 2:
        kind = "positive" if labels.any() else "negative"
        raise InputError(f"all {len(labels):,} labels are {kind}, and fitting needs both kinds: name more labels")
    features = np.column_stack([cosines, bertscores]).astype(np.float64)
    centre = features.mean(axis=0)
    spread = features.std(axis=0)
    spread[spread == 0] = 1.0
    model = LogisticRegression(C=1.0).fit((features - centre) / spread, labels)
    weights = model.coef_[0] / spread
    return Weights(
        cosine=float(weights[0]),
        bertscore=float(weights[1]),
        intercept=float(model.intercept_[0] - weights @ centre),
        cosine_spread=float(spread[0]),
        bertscore_spread=float(spread[1]),
        labels=len(labels),
        positives=int(labels.sum()),
    )


@dataclass(frozen=True)
class FeatureScorer:
    """The logit of both features of any pair of the texts: p = sigmoid(score), the threshold is 0."""

    cosine: VectorScorer
    tokens: TokenScorer
    weights: Weights

    @property
    def layer(self) -> OutputLayer:
        """The logit as it is."""
        return OutputLayer(1.0, 0.0)

    def score(self, left: np.ndarray, right: np.ndarray, progress: Progress = no_progress) -> np.ndarray:
        """Return the logit of each pair of rows, (n,) float32."""
        return self.weights.logit(self.cosine.score(left, right), self.tokens.score(left, right, progress))


def is_feature_scorer(name: str) -> bool:
    """Return whether the name is one for `load_feature_scorer`."""
    return name.startswith(PREFIX)


def load_feature_scorer(
    name: str, texts: Sequence[str], rows: np.ndarray, labelled: Labelled | None, progress: Progress = no_progress
) -> FeatureScorer:
    """Load the scorer of pairs of these rows, `cosine+bertscore:ENCODER` or `cosine+bertscore:ENCODER@LAYER`.

    labelled: the pairs, also of other rows, that fit the weights. Raises InputError without them, and if the encoder
    cannot be loaded or has no such layer.
    """
    if labelled is None:
        raise InputError(f"{name} fits two weights to labelled training pairs: give --labels and --split")
    source = name.removeprefix(PREFIX)
    tokens = load_token_scorer(source, texts)
    encoder = load_encoder(source.partition(LAYER_MARK)[0])
    needed = np.unique(np.concatenate([rows, labelled.left, labelled.right]))
    vectors = np.zeros((len(texts), encoder.dimension), dtype=np.float32)
    vectors[needed] = encoder.encode([texts[row] for row in needed], progress)
    cosine = VectorScorer(vectors, None)
    pairs = labelled.left, labelled.right
    bertscores = tokens.score(*pairs, progress)
    return FeatureScorer(cosine, tokens, fit_weights(cosine.score(*pairs), bertscores, labelled.label))

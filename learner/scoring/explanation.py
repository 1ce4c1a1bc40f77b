"""Why a pair has its score: what each part adds, with the words behind it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from allpairs.learner.data.lexical_features import KINDS, Lexicon
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.lexical_weights import total
from allpairs.learner.scoring.matcher import PairModel
from allpairs.learner.scoring.score import Blend
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import Space, scores
from allpairs.learner.second_stage.field_features import CONSTANT
from allpairs.learner.second_stage.rescore import PairFeatures
from allpairs.learner.second_stage.second_stage import SecondStage

NAMED = 4  # words shown for a part
TITLES = {"ngrams": "letters", "words": "words", "numbers": "numbers", "length": "length"}


@dataclass(frozen=True)
class Part:
    """What one part adds to a score; words: those that both texts share, or numbers of either, the rarest first."""

    title: str
    amount: float
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return for example `words +0.18 (xj-900, acme)`."""
        return f"{self.title} {self.amount:+.2f}" + (f" ({', '.join(self.words)})" if self.words else "")


def part_lists(
    matcher: PairModel, vectors: np.ndarray, pairs: Pairs, lexicon: Lexicon | None, features: PairFeatures | None
) -> Iterator[list[Part]]:
    """Yield what each part adds to the log-odds of each pair, or to the score of a matcher that was not trained.

    vectors: (rows, d), blended; pairs: of rows, with their first scores; lexicon: of the same rows, where the score has
    lexical features; features: where it has a second stage.
    """
    second = matcher.second
    left = pairs.left
    right = pairs.right
    meanings = scores(vectors[:, : -matcher.blend.extra], left, right, Space(matcher.encoder.distance))
    values = features.values(pairs) if features else np.empty((len(pairs), 0))
    lexical = np.empty((len(pairs), 0))
    if lexicon is not None and matcher.blend.lexical:
        lexical = lexicon.values(left, right)
    rows = zip(pairs.score.tolist(), meanings.tolist(), lexical, left.tolist(), right.tolist(), values, strict=True)
    for score, meaning, similarities, left_row, right_row, pair_features in rows:
        parts = score_parts(matcher.blend, lexicon, score, meaning, similarities, left_row, right_row)
        if second is not None and score >= second.floor:
            parts = rescored_parts(parts, second, pair_features)
        yield parts if matcher.layer is None else in_log_odds(parts, matcher.layer)


def score_parts(
    blend: Blend,
    lexicon: Lexicon | None,
    score: float,
    meaning: float,
    similarities: np.ndarray,
    left: int,
    right: int,
) -> list[Part]:
    """Return the parts of the first score of two rows, the largest first; they add up to the score.

    meaning: what the encoder's vectors add to it; similarities: (4,), lexical ones, if they count. The hubness
    correction is what remains after meaning and lexical similarity, and includes the error of hashing.
    """
    parts = [Part("meaning", meaning)]
    if lexicon is not None and blend.lexical:
        values = similarities / total(blend.lexical)
        parts += [
            Part(TITLES[kind], weight * value, _words(lexicon, kind, left, right))
            for kind, value in zip(KINDS, values.tolist(), strict=True)
            if (weight := blend.lexical.get(kind, 0.0))
        ]
    if blend.hubness:
        parts.append(Part("hubness", score - sum(part.amount for part in parts)))
    return sorted(parts, key=lambda part: -abs(part.amount))


def rescored_parts(parts: list[Part], second: SecondStage, values: np.ndarray) -> list[Part]:
    """Return the parts of the score of a pair that the second stage has scored again, the largest first.

    parts: of its first score; values: (features,) of the pair. They add up to the score, but for the seam at the floor.
    """
    by_title = {part.title: replace(part, amount=second.slope * part.amount) for part in parts}
    for title, amount in [*second.parts(values).items(), (CONSTANT, second.bias)]:
        if amount:
            before = by_title.get(title, Part(title, 0.0))
            by_title[title] = replace(before, amount=before.amount + amount)
    return sorted(by_title.values(), key=lambda part: -abs(part.amount))


def in_log_odds(parts: list[Part], layer: OutputLayer) -> list[Part]:
    """Return what each part adds to the log-odds of a match, the largest first and the constant last.

    parts: of a score. They add up to the logit of its p.
    """
    constant = sum(part.amount for part in parts if part.title == CONSTANT)
    weighted = [replace(part, amount=layer.w * part.amount) for part in parts if part.title != CONSTANT]
    return [*weighted, Part(CONSTANT, layer.w * constant + layer.b)]


def _words(lexicon: Lexicon, kind: str, left: int, right: int) -> tuple[str, ...]:
    """Return the words behind a part: shared ones, and numbers that either text has."""
    if kind not in ("words", "numbers"):
        return ()
    left_words = lexicon.words_of(left)
    right_words = lexicon.words_of(right)
    columns = (
        np.intersect1d(left_words, right_words)
        if kind == "words"
        else lexicon.numbers_among(np.union1d(left_words, right_words))
    )
    rarest = columns[np.argsort(-lexicon.rarity[columns], kind="stable")[:NAMED]]
    return tuple(lexicon.vocabulary[rarest].tolist())

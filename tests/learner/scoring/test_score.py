"""The parts of a score: the lexical weights, and that vectors give the score of the formula."""

import numpy as np
import pytest

from allpairs.db.domain import Side, Split
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.data.lexical_features import KINDS, lexicon_of
from allpairs.learner.scoring.lexical_weights import fit_lexical_weights
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED, scores

TEXTS = ["Acme printer 900", "printer 900 by Acme", "garden chair", "chair for a garden", "ink 12", "a map of Mars"]


def dataset() -> Dataset:
    sides = [Side.LEFT] * len(TEXTS)
    return make_dataset(TEXTS, sides, [Split.TRAIN] * len(TEXTS), True, np.empty((0, 2)))


def unit(n: int = len(TEXTS), d: int = 5, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_a_score_is_the_weighted_mean_of_its_parts() -> None:
    weights = {"numbers": 0.7, "length": 0.3}  # exact: few terms, none hashed into another's place
    left, right = np.array([0, 0, 2]), np.array([1, 4, 3])
    vectors = unit()
    found = scores(blended(dataset(), vectors, Blend(0, weights)), left, right, BLENDED)
    values = lexicon_of(TEXTS).values(left, right)
    parts = sum(weight * values[:, KINDS.index(kind)] for kind, weight in weights.items())
    assert found == pytest.approx((scores(vectors, left, right) + parts) / 2, abs=1e-5)


def test_hubness_is_that_of_the_whole_score() -> None:
    bare = blended(dataset(), unit(), Blend(0, {"words": 1.0}))
    corrected = blended(dataset(), unit(), Blend(0.25, {"words": 1.0}))
    rows = np.arange(len(TEXTS))
    for row in rows:
        others = np.delete(rows, row)
        nearest = np.sort(scores(bare, np.full(len(others), row), others, BLENDED))[-3:]
        assert corrected[row, -1] - bare[row, -1] == pytest.approx(0.25 * nearest.mean(), abs=1e-5)


def test_without_weights_the_vectors_stay_as_they_are() -> None:
    found = blended(dataset(), unit(), Blend())
    assert found[:, :-1].tolist() == unit().tolist()
    assert not found[:, -1].any()


def test_a_blend_is_read_as_it_was_stored() -> None:
    blend = Blend(0.25, {"ngrams": 0.5})
    assert Blend.read(blend.as_dict()) == blend
    assert Blend.read({}) == Blend()


def labelled(n: int, matters: int | None, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Make cosines, hubness, values and labels of n pairs; one of the kinds, or none, matters besides both."""
    rng = np.random.default_rng(seed)
    cosines, hubness, values = rng.uniform(0.4, 1, n), rng.uniform(0.2, 0.4, n), rng.uniform(0, 1, (n, len(KINDS)))
    logits = 12 * (cosines - hubness - 0.4) + (0 if matters is None else 6 * (values[:, matters] - 0.5))
    return cosines, hubness, values, (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(np.int64)


def test_without_labels_lexical_features_have_no_weight() -> None:
    assert fit_lexical_weights(np.empty(0), np.empty(0), np.empty((0, len(KINDS))), np.empty(0)) == {}


def test_labels_fit_the_lexical_weights() -> None:
    found = fit_lexical_weights(*labelled(2_000, matters=1))
    assert found["words"] == pytest.approx(0.5, abs=0.1)
    assert sum(found.values()) - found["words"] < 0.1


def test_uninformative_lexical_features_get_next_to_no_weight() -> None:
    assert sum(fit_lexical_weights(*labelled(2_000, matters=None)).values()) < 0.1


def test_few_labels_move_the_weights_little() -> None:
    few, many = (fit_lexical_weights(*labelled(n, matters=0)).get("ngrams", 0.0) for n in (12, 2_000))
    assert few < many


def test_hubness_is_not_credited_to_lexical_features() -> None:
    """Pairs whose cosine minus hubness is about equal: those with more hubness have less lexical similarity."""
    rng = np.random.default_rng(0)
    hubness = rng.uniform(0.2, 0.4, 1_000)
    cosines = hubness + 0.4 + rng.normal(0, 0.01, 1_000)
    values = np.column_stack([0.6 - hubness + rng.normal(0, 0.05, 1_000), *np.zeros((3, 1_000))])
    labels = (rng.random(1_000) < 1 / (1 + np.exp(-60 * (cosines - hubness - 0.4)))).astype(np.int64)
    assert fit_lexical_weights(cosines, hubness, values, labels).get("ngrams", 0.0) < 0.05
    assert fit_lexical_weights(cosines, 0 * hubness, values, labels)["ngrams"] > 0.1


def test_lexical_features_that_labels_contradict_are_left_out() -> None:
    cosines, hubness, values, labels = labelled(500, matters=None)
    values[:, 0] = 1 - labels
    assert "ngrams" not in fit_lexical_weights(cosines, hubness, values, labels)


def test_hubness_never_counts_for_a_pair() -> None:
    cosines, hubness, values, labels = labelled(500, matters=1)
    hubness = hubness + 0.2 * labels  # as if hubs matched
    assert fit_lexical_weights(cosines, hubness, values, labels) == pytest.approx(
        fit_lexical_weights(cosines, 0 * hubness, values, labels), rel=0.02
    )


def test_common_words_never_count_against_texts_or_credit_others() -> None:
    cosines, hubness, values, labels = labelled(500, matters=1)
    without, against = values.copy(), values.copy()
    without[:, 0], against[:, 0] = 0, 1 - labels
    assert fit_lexical_weights(cosines, hubness, against, labels) == pytest.approx(
        fit_lexical_weights(cosines, hubness, without, labels), rel=0.02
    )


def test_the_cosine_counts_even_where_labels_speak_against_it() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 500)
    values = np.column_stack([labels, *np.zeros((3, 500))]) + 0.0
    assert fit_lexical_weights(1.0 - labels, np.zeros(500), values, labels)["ngrams"] > 1

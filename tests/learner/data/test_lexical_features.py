"""Lexical similarity: each feature measures what it should, and vectors give the same sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.learner.data.corpus_terms import lowercase_words
from allpairs.learner.data.lexical_features import KINDS, Lexicon, lexicon_of
from tests.helpers.machine import examples

TEXTS = [
    "Acme laser printer XJ-900 black",
    "laser printer by Acme, model XJ-900",
    "Acme ink printer XJ-750 black",
    "garden chair, green",
    "green garden chair with cushion",
    "",
]
ANY_TEXTS = st.lists(st.text(st.sampled_from("ab1 .é"), max_size=12), min_size=1, max_size=8)


def value(kind: str, left: int, right: int) -> float:
    values = lexicon_of(TEXTS).values(np.array([left]), np.array([right]))
    return float(values[0, KINDS.index(kind)])


def all_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    left, right = np.divmod(np.arange(n * n), n)
    return left, right


@settings(max_examples=examples(60))
@given(ANY_TEXTS)
def test_values_are_finite_symmetric_and_in_range(texts: list[str]) -> None:
    n = len(texts)
    values = lexicon_of(texts).values(*all_pairs(n))
    assert values.shape == (n * n, len(KINDS))
    assert values.dtype == np.float32
    square = values.reshape(n, n, len(KINDS))
    np.testing.assert_allclose(square, square.transpose(1, 0, 2), atol=1e-5)
    lowest, highest = values.min(0), values.max(0)
    assert (lowest >= np.array([0, 0, -1, -0.5]) - 1e-5).all()
    assert (highest <= np.array([1, 1, 0, 0]) + 1e-5).all()


def test_a_text_is_wholly_like_itself() -> None:
    assert [value(kind, 0, 0) for kind in KINDS] == pytest.approx([1, 1, 0, 0], abs=1e-6)


def test_numbers_agree_or_clash() -> None:
    assert value("numbers", 0, 1) == pytest.approx(0, abs=1e-6)
    assert value("numbers", 0, 2) == pytest.approx(-1)
    assert value("numbers", 0, 3) == pytest.approx(-0.5)  # only one of them has any
    assert value("numbers", 3, 4) == 0  # neither has


def test_a_rare_word_in_common_weighs_more_than_a_common_one() -> None:
    texts = ["red apple", "red quince", "sour quince", "red pear", "red plum"]
    of = lexicon_of(texts).values(np.array([0, 1]), np.array([1, 2]))[:, KINDS.index("words")]
    assert of[1] > 2 * of[0] > 0


def test_a_model_code_and_a_decimal_number_are_one_word() -> None:
    assert lowercase_words("Acme XJ-900, 3.5 GB, don't") == ["acme", "xj-900", "3.5", "gb", "don't"]


@settings(max_examples=examples(40))
@given(ANY_TEXTS, st.lists(st.floats(0, 3), min_size=4, max_size=4))
def test_no_similarity_exceeds_that_of_a_text_and_itself(texts: list[str], weights: list[float]) -> None:
    lexicon = lexicon_of(texts)
    vectors, offset = lexicon.vectors(dict(zip(KINDS, weights, strict=True)))
    scores = vectors @ vectors.T - offset[:, None] - offset
    own = lexicon.values(np.arange(len(texts)), np.arange(len(texts))) @ np.array(weights)
    np.testing.assert_allclose(scores.diagonal(), own, atol=1e-4)
    assert (scores <= sum(weights[:2]) + 1e-4).all()


def test_numbers_and_length_alone_are_exact_but_for_hashing() -> None:
    lexicon = lexicon_of(TEXTS)
    left, right = all_pairs(len(TEXTS))
    for kind, within in (("numbers", 1e-5), ("length", 1e-5)):
        np.testing.assert_allclose(summed(lexicon, {kind: 2.0}), 2 * of(lexicon, kind, left, right), atol=within)


def test_hashed_sums_are_near_the_exact_ones_and_unbiased() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in rng.integers(2_000, size=8)) for _ in range(120)]
    lexicon, (left, right) = lexicon_of(texts), all_pairs(120)
    apart = left != right
    error = (summed(lexicon, {"words": 1.0}) - of(lexicon, "words", left, right))[apart]
    assert abs(error.mean()) < 0.003
    assert error.std() < 0.06


def of(lexicon: Lexicon, kind: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    values: np.ndarray = lexicon.values(left, right)[:, KINDS.index(kind)]
    return values


def summed(lexicon: Lexicon, weights: dict[str, float]) -> np.ndarray:
    vectors, offset = lexicon.vectors(weights)
    scores: np.ndarray = vectors @ vectors.T - offset[:, None] - offset
    return scores.ravel()

"""The nearest texts of a text: one in the data set gets its own vector, score and neighbours."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.scoring.nearest_texts import lists_of, nearest_rows, text_vector
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED, scores
from tests.helpers.machine import examples

LEXICAL = {"ngrams": 0.4, "words": 0.3, "numbers": 0.2, "length": 0.1}
WORDS = st.lists(st.sampled_from(["acme", "xj-900", "printer", "chair", "7", "green"]), min_size=1, max_size=5)


def encode(texts: Sequence[str]) -> np.ndarray:
    """Return a unit vector for each text, the same for the same text."""
    vectors = np.array([np.random.default_rng(list(text.encode())).normal(size=8) for text in texts])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def make(texts: Sequence[str], symmetric: bool) -> Dataset:
    third = len(texts) // 3
    sides = ["left"] * len(texts) if symmetric else ["left"] * third + ["right"] * (len(texts) - third)
    splits = ["evaluation" if i % 3 == 0 else "train" for i in range(len(texts))]
    splits = [split if side == "left" else "both" for split, side in zip(splits, sides, strict=True)]
    return make_dataset(texts, sides, splits, symmetric, np.empty((0, 2)))


@settings(max_examples=examples(40))
@given(st.lists(WORDS, min_size=6, max_size=14), st.booleans(), st.sampled_from([{}, LEXICAL]), st.data())
def test_a_text_of_the_data_set_gets_its_own_vector(
    drawn: list[list[str]], symmetric: bool, lexical: dict[str, float], data: st.DataObject
) -> None:
    texts = sorted({" ".join(words) for words in drawn} | {f"text {i}" for i in range(6)})
    dataset, blend = make(texts, symmetric), Blend(0.25, lexical)
    vectors = blended(dataset, encode(texts), blend)
    row = data.draw(st.integers(0, len(texts) - 1))
    of_left = symmetric or row < len(texts) // 3
    lists = lists_of(dataset, of_left)
    query = text_vector(dataset, vectors, encode([texts[row]]), texts[row], lists, blend)
    np.testing.assert_allclose(query[0], vectors[row], atol=1e-5)


@pytest.mark.parametrize("of_left", [True, False])
def test_the_nearest_are_those_with_the_highest_scores(of_left: bool) -> None:
    texts = [f"text number {i}" for i in range(30)]
    dataset = make(texts, symmetric=False)
    vectors = blended(dataset, encode(texts), Blend(0.25))
    lists, row = lists_of(dataset, of_left), 3 if of_left else 20
    found, score = nearest_rows(vectors, vectors[[row]], lists.candidates, 5)
    expected = scores(vectors, np.full(len(lists.candidates), row), lists.candidates, BLENDED)
    best = np.argsort(-expected)[:5]
    assert found.tolist() == lists.candidates[best].tolist()
    np.testing.assert_allclose(score, expected[best], atol=1e-6)


def test_a_new_text_changes_no_other_and_an_empty_list_is_empty() -> None:
    texts = [f"text number {i}" for i in range(9)]
    dataset, blend = make(texts, symmetric=True), Blend(0.25, LEXICAL)
    vectors = blended(dataset, encode(texts), blend)
    before = vectors.copy()
    query = text_vector(dataset, vectors, encode(["quite new 77"]), "quite new 77", lists_of(dataset, True), blend)
    assert query.shape == (1, vectors.shape[1]) and query.dtype == np.float32
    np.testing.assert_array_equal(vectors, before)
    rows, score = nearest_rows(vectors, query, np.empty(0, dtype=np.int64), 5)
    assert len(rows) == len(score) == 0

"""BM25 gives the numbers of its formula, and an index on disk is the index."""

import pytest

from allpairs.learner.search.bm25 import Bm25

TEXTS = ["the cat sat on the mat", "the dog sat", "a cat and a dog", "birds fly high in the sky"]


def test_scores_are_those_of_the_formula() -> None:
    found = Bm25(TEXTS).search(["cat sat"], 4)
    assert found.ids.tolist()[0][:3] == [0, 1, 2]
    assert found.scores[0] == pytest.approx([0.717722, 0.434042, 0.380850, 0], abs=1e-6)  # Lucene's form


def test_a_query_without_a_known_word_and_too_large_k() -> None:
    found = Bm25(TEXTS).search(["nothing", "", "SKY"], 10)
    assert found.ids.shape == (3, 4) and (found.scores[:2] == 0).all()
    assert found.ids[2, 0] == 3


def test_texts_without_words_are_refused() -> None:
    with pytest.raises(ValueError, match="no text"):
        Bm25(["", "!"])


def test_english_words_are_compared_by_their_stems() -> None:
    texts = ["The cat is sleeping on the mats", "a dog and this mat", "the birds"]
    assert (Bm25(texts).search(["is it on a mat"], 3).scores > 0).sum() == 2  # by `is`, `on`, `a` and `mat`
    found = Bm25(texts, english=True).search(["sleep on the mat", "is it on"], 3)
    assert found.ids[0].tolist()[:2] == [0, 1] and (found.scores[0] > 0).tolist() == [True, True, False]
    assert not found.scores[1].any()  # stop words alone

"""BM25 of pairs is what the index finds, from counts that can be stored."""

from pathlib import Path

import numpy as np
import pytest

from allpairs.db.errors import InputError
from allpairs.learner.search.bm25 import Bm25
from allpairs.learner.search.bm25_pairs import WordCounts, count_words, load_word_counts

TEXTS = ["the cat sat on the mat", "the dogs sat", "a cat and a dog", "", "birds fly high in the sky"]
QUERIES = ["cat sat sat", "the sky", "nothing here"]


@pytest.mark.parametrize("english", [False, True])
def test_pairs_have_the_scores_of_the_index(tmp_path: Path, english: bool) -> None:
    count_words(TEXTS, 0.9, 0.4, english).save(tmp_path / "words.json.gz")
    words = load_word_counts(tmp_path / "words.json.gz")
    found = Bm25(TEXTS, 0.9, 0.4, english).search(QUERIES, len(TEXTS))
    pairs = np.array([(query, text) for query, row in enumerate(found.ids.tolist()) for text in row])
    assert words.scores(QUERIES, TEXTS, pairs) == pytest.approx(found.scores.ravel(), abs=1e-5)
    assert found.scores.max() > 0.5


def test_texts_without_words_and_a_broken_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no text"):
        count_words(["", "!"])
    (tmp_path / "words.json.gz").write_text("no gzip")
    with pytest.raises(InputError, match="cannot be read"):
        load_word_counts(tmp_path / "words.json.gz")
    assert WordCounts(1, 1.0, {}).scores(["a"], ["b"], np.empty((0, 2), dtype=np.int64)).shape == (0,)

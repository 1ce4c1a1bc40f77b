"""A trained matcher: the score and the probability that its figures were measured with, for any texts."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from allpairs.arguments import checked, finite, one_text, optional, path_of, texts, whole, wrong
from allpairs.db.errors import InputError

if TYPE_CHECKING:  # the libraries behind them take seconds to load
    import numpy as np
    import pandas as pd

    from allpairs.learner.data.fields import RecordTexts
    from allpairs.learner.scoring.any_pairs import EncodedTexts
    from allpairs.learner.scoring.matcher import PairModel

    Texts: TypeAlias = "Iterable[str] | pd.DataFrame"

SPARE = 50  # texts beyond those asked for that a second stage orders, and among which equal ones come first


class Matcher:
    """A matcher's folder, loaded: from *Download model* on the page Monitor, or `model/` of `allpairs simulate --out`.

    The score is the whole one: the encoder's cosine, lexical similarity, the hubness correction and the second stage,
    by the statistics of the corpus that the model was trained on. A text that this corpus lacks gets its hubness and
    its best candidates from a sample of it; `p_moves` says how far hubness moves p. Texts are lists of texts or, if the
    model was trained on several text columns, data frames with these columns, which it compares one by one.
    """

    def __init__(self, loaded: PairModel, path: str) -> None:
        self.loaded = loaded
        self.path = path

    @classmethod
    @checked(path=path_of, device=optional(one_text))
    def load(cls, path: str | PathLike[str], device: str | None = None) -> Matcher:
        """Load the folder; device: of the encoder, `cpu` or `cuda`; by default the GPU if there is one.

        Raises InputError if the folder is missing, damaged, or not a trained matcher's.
        """
        from allpairs.learner.scoring.matcher import load_matcher

        loaded = load_matcher(str(path), device)
        if loaded.layer is None:
            raise InputError(f"{path} has no output layer: load the folder of a model that Allpairs has trained")
        return cls(loaded, str(path))

    @property
    def threshold(self) -> float | None:
        """The score where p = 1/2; None if the score tells nothing."""
        assert self.loaded.layer is not None
        return self.loaded.layer.threshold

    @property
    def p_moves(self) -> dict[str, float]:
        """How far p of a text's best pair moves if the corpus lacks the text; empty if it does not depend on others.

        Measured on `texts` of the corpus as if they were new: `mean`, `in_95_percent_at_most`, and `most`.
        """
        reference = self.loaded.reference
        return dict(reference.moves) if reference else {}

    @checked(left=texts, right=texts)
    def score(self, left: Texts, right: Texts) -> np.ndarray:
        """Return the score of each pair `left[i]`, `right[i]`, (n,) float32.

        Raises InputError if one list is longer, or if a data frame has not all columns.
        """
        import numpy as np

        from allpairs.learner.scoring.any_pairs import score_pairs

        records = self._records(left, right)
        count, other_count = (len(side.texts) for side in records)
        if count != other_count:
            raise InputError(f"left has {count:,} texts and right {other_count:,}: give as many of both")
        rows = np.arange(count)
        left_seen, right_seen = self._see(records)
        return score_pairs(self.loaded, left_seen, right_seen, rows, rows)

    @checked(left=texts, right=texts)
    def probability(self, left: Texts, right: Texts) -> np.ndarray:
        """Return p of each pair `left[i]`, `right[i]`, (n,) float64; errors as in `score`."""
        return self._p(self.score(left, right))

    @checked(texts=texts, k=whole(), among=optional(texts))
    def search(self, texts: Texts, k: int = 10, among: Texts | None = None) -> pd.DataFrame:
        """Return the k best matches of each text: columns text, match (positions), score, p, reason, rank.

        Equal texts come first: p is 1, the reason `equal`, as in `match`. among: where to look; by default among the
        other texts. Exact; with a second stage the best of the k + 50 that the first one finds. Errors as in `score`.
        """
        import numpy as np
        import pandas as pd

        from allpairs.learner.scoring.any_pairs import equal_first, score_pairs
        from allpairs.learner.search.exact import Neighbours, neighbours
        from allpairs.learner.search.inner_product import as_left, as_right

        loaded = self.loaded
        records = self._records(texts, texts if among is None else among)
        left, right = self._see(records)
        queries = as_left(left.repeated_vectors, loaded.space)
        right_list = as_right(right.repeated_vectors, loaded.space)
        nothing = np.empty((len(queries), 0), dtype=np.int64)
        nearest = Neighbours(nothing, nothing)
        if len(right_list):
            nearest = neighbours(queries, right_list, k + SPARE, symmetric=among is None)
        ids = nearest.ids
        score = nearest.scores
        rows = np.repeat(np.arange(len(ids)), ids.shape[1])
        if loaded.second is not None:
            score = score_pairs(loaded, left, right, rows, ids.ravel()).reshape(ids.shape)
        ids, score, reason = equal_first(records[0].texts, records[1].texts, ids, score, k)
        count, width = ids.shape
        return pd.DataFrame(
            {
                "text": np.repeat(np.arange(count), width),
                "match": ids.ravel(),
                "score": score.ravel(),
                "p": np.where(reason.ravel() == "equal", 1.0, self._p(score.ravel())),
                "reason": reason.ravel(),
                "rank": np.tile(np.arange(1, width + 1), count),
            }
        )

    @checked(
        left=texts, right=optional(texts), threshold=optional(finite), precision=optional(finite), top=optional(whole())
    )
    def match(
        self,
        left: Texts,
        right: Texts | None = None,
        *,
        threshold: float | None = None,
        precision: float | None = None,
        top: int | None = None,
    ) -> pd.DataFrame:
        """Return the best of all pairs, best first: columns left, right (positions), score, p, reason, and both texts.

        right: the other list; by default the pairs within `left`, each once. The list ends at a score, at the lowest
        score where the measured precision was reached, or after so many pairs of different texts: give exactly one of
        the three. Equal texts come first, whatever the cut: p is 1, reason `equal`, without a score within one list.
        Texts with more than 100 pairs of positions are paired with the first position of the other text alone. Raises
        InputError otherwise, if precision was not measured or not reached, and for more than 20 million pairs.
        """
        from allpairs.learner.files.match import Cut, matches_of, threshold_of

        cut = Cut(top, threshold, precision)
        left_records, *more = self._records(left, *([] if right is None else [right]))
        table = matches_of(self.loaded, left_records, more[0] if more else None, cut, threshold_of(self.loaded, cut))
        left_texts = left_records.texts
        right_texts = (more or [left_records])[0].texts
        table["left_text"] = [left_texts[row] for row in table["left"]]
        table["right_text"] = [right_texts[row] for row in table["right"]]
        return table

    def _see(self, records: list[RecordTexts]) -> list[EncodedTexts]:
        from allpairs.learner.scoring.any_pairs import encode_texts

        sides = zip(records, (True, False), strict=True)
        return [encode_texts(self.loaded, side.read(), of_left, side.fields()) for side, of_left in sides]

    def _records(self, *text_lists: Texts) -> list[RecordTexts]:
        """Return the left list and maybe the right one with their columns. Raises InputError unless both are alike."""
        from allpairs.records import read_records

        return read_records(self.loaded.columns, text_lists)

    def _p(self, scores: np.ndarray) -> np.ndarray:
        assert self.loaded.layer is not None
        return self.loaded.layer.probability(scores)


def matcher_or_path(value: Any, argument: str) -> Any:
    """Return a Matcher, or the folder or name of a model."""
    if not isinstance(value, (Matcher, str, PathLike)):
        raise wrong(argument, value, "give a Matcher, its folder, or the name of an encoder")
    return value if isinstance(value, Matcher) else path_of(value, argument)

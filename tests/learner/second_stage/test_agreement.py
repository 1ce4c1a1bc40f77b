"""The agreement of columns: what it learns without labels, and that it finds no doubles where there are none."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import FieldKind, Side, Split
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import sigmoid
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.scoring.untrained import CAREFUL_P
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.second_stage.agreement import MOST, ColumnAgreement, fit_agreement
from allpairs.learner.second_stage.field_features import cuts_of
from allpairs.learner.second_stage.make import Staged, staged_without_labels

KINDS = {"name": FieldKind.NAME, "street": FieldKind.TEXT, "price": FieldKind.PRICE, "day": FieldKind.DATE}
CUTS = cuts_of(KINDS)
# What a column's figure is if two records match, and if they do not: near the best, or anywhere.
ANYWHERE = (1.0, 1.0, 2.0, 9.0)


def candidates(rng: np.random.Generator, matches: int, others: int) -> tuple[np.ndarray, np.ndarray]:
    """Return figures (n, 4) of candidates, a tenth of them missing, and which are matches."""
    figures = rng.random((matches + others, 4)) * ANYWHERE
    equal = rng.random((matches, 4)) < 0.8
    figures[:matches] = np.where(equal, (1.0, 1.0, 0.0, 0.0), figures[:matches])
    figures[rng.random(figures.shape) < 0.1] = np.nan
    return figures, np.arange(matches + others) < matches


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("matches", [20, 300])
def test_matches_are_told_from_others_without_labels(seed: int, matches: int) -> None:
    figures, truth = candidates(np.random.default_rng(seed), matches, 10_000 - matches)
    joined = fit_agreement(figures, CUTS, 1_000).logit(figures) > 0
    assert (joined & truth).sum() > 0.9 * truth.sum()
    assert (joined & truth).sum() > 0.9 * joined.sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("texts", [10, 100, 1_000])
def test_a_list_without_doubles_gets_none(seed: int, texts: int) -> None:
    rng = np.random.default_rng(seed)
    figures, _ = candidates(rng, 0, 10 * texts)
    same_town = rng.random(len(figures)) < 0.3  # one column with few values is no double
    figures[same_town, 1] = 1.0
    joined = sigmoid(fit_agreement(figures, CUTS, texts).logit(figures)) >= CAREFUL_P
    assert joined.sum() <= 1 + texts / 100


FIGURES = arrays.arrays(
    np.float32, st.tuples(st.integers(0, 30), st.just(4)), elements=st.floats(0, 9, width=32) | st.just(np.nan)
)


@given(FIGURES, st.integers(0, 10))
def test_any_figures_have_a_logit_whatever_their_order(figures: np.ndarray, texts: int) -> None:
    agreement = fit_agreement(figures, CUTS, texts)
    logits = agreement.logit(figures)
    assert np.isfinite(logits).all() and (np.abs(logits) <= MOST).all()
    backwards = fit_agreement(figures[::-1], CUTS, texts)
    assert backwards.logit(figures) == pytest.approx(logits, abs=1e-6)


def test_a_missing_value_says_nothing() -> None:
    figures, _ = candidates(np.random.default_rng(0), 300, 3_000)
    agreement = fit_agreement(figures, CUTS, 1_000)
    nothing = np.full((1, 4), np.nan)
    assert agreement.logit(nothing) == pytest.approx([agreement.odds])
    assert agreement.amounts(nothing).tolist() == [[0.0] * 4]


def test_an_agreement_survives_its_file() -> None:
    figures, _ = candidates(np.random.default_rng(0), 300, 3_000)
    agreement = fit_agreement(figures, CUTS, 1_000)
    stored = json.loads(json.dumps(agreement.as_dict()))
    assert ColumnAgreement.read(stored, CUTS) == agreement
    with pytest.raises(ValueError, match="levels"):
        ColumnAgreement.read(stored | {"weights": {name: [1.0] for name in CUTS}}, CUTS)


PEOPLE = [
    ("Anna Schmidt", "Hauptstr. 5", "Berlin"),
    ("Anna Schmitt", "Hauptstraße 5", "Berlin"),
    ("Peter Meier", "Ringweg 17", "Hamburg"),
    ("Klaus Vogel", "Am Markt 3", "Bremen"),
]


@pytest.mark.parametrize(
    ("rows", "joined"), [([], []), ([0], []), ([0, 1], [(0, 1)]), ([0, 2], []), ([3, 0, 2, 1], [(1, 3)])]
)
def test_the_smallest_lists(rows: list[int], joined: list[tuple[int, int]]) -> None:
    staged = staged_people(rows)
    pairs = staged.rescored.pairs
    above = pairs.take(staged.layer.probability(pairs.score) >= CAREFUL_P)
    assert list(zip(above.left.tolist(), above.right.tolist(), strict=True)) == joined


def test_there_is_none_without_columns() -> None:
    dataset = make_dataset(["a", "b"], ["left"] * 2, [Split.TRAIN] * 2, True, np.empty((0, 2), dtype=np.int64))
    assert staged_without_labels(dataset, np.eye(2, 4, dtype=np.float32), BLENDED) is None


def staged_people(rows: list[int]) -> Staged:
    kinds = (FieldKind.NAME, FieldKind.ADDRESS, FieldKind.TEXT)
    columns = TextColumns({Side.LEFT: ("name", "street", "town")}, {Side.LEFT: kinds})
    records = RecordTexts.of_rows([PEOPLE[row] for row in rows], Side.LEFT, columns)
    dataset: Dataset = make_dataset(
        records.texts, records.sides, [Split.TRAIN] * len(rows), True, np.empty((0, 2), dtype=np.int64), records=records
    )
    staged = staged_without_labels(dataset, blended(dataset, load_encoder().encode(dataset.texts), Blend(0.0)), BLENDED)
    assert staged is not None
    return staged

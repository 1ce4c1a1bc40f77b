"""The second stage: what it reads of two texts, that it keeps the order at its floor, and when it is used."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.domain import SecondStageUse
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.data.lexical_features import lexicon_of
from allpairs.learner.loop.round import evaluate_dataset, refit
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search import nearest
from allpairs.learner.search.inner_product import BLENDED, scores
from allpairs.learner.second_stage.competition import CANDIDATES, competition_of
from allpairs.learner.second_stage.make import Staged, make_staged
from allpairs.learner.second_stage.pair_features import TEXT_FEATURES, TextFeatures
from allpairs.learner.second_stage.second_stage import FEATURES, SecondStage, above

LAYER = OutputLayer(20.0, -10.0)


def features(left: str, right: str, symmetric: bool = True) -> dict[str, float]:
    """Return the features of two texts in a small corpus, by name."""
    texts = [left, right, "a common word", "a common thing", "common"]
    values = TextFeatures(texts, lexicon_of(texts), symmetric).values(np.array([0]), np.array([1]))
    return dict(zip(TEXT_FEATURES, values[0].tolist(), strict=True))


def test_the_features_of_two_records() -> None:
    same = features("acme camera x100 12.50", "acme camera x100 lens 12,50")
    assert same["codes_shared"] > 0 == same["codes_odd"] == same["codes_clash"]
    assert same["prices_known"] == 1 and same["prices_apart"] == 0
    other = features("acme camera x100 12.50", "acme camera x200 25.00")
    assert other["codes_clash"] == 1 and other["codes_odd"] > 0 == other["codes_shared"]
    assert other["prices_apart"] == pytest.approx(np.log(2), abs=1e-6)
    missing = features("acme camera", "acme camera 25.00")
    assert missing["containment"] == pytest.approx(1) and missing["rarest_odd_of_one"] == 0
    assert missing["prices_known"] == missing["prices_apart"] == missing["numbers_clash"] == 0


def test_in_one_list_the_order_of_two_texts_means_nothing() -> None:
    one, other = "a common camera", "camera 7 strange words"
    assert features(one, other) == features(other, one)
    assert features(one, other, symmetric=False) != features(other, one, symmetric=False)


@pytest.mark.parametrize("symmetric", [True, False])
def test_competition_is_counted_as_defined(symmetric: bool) -> None:
    dataset, vectors = random_project(symmetric)
    table = all_scores(dataset, vectors)
    left, right = (np.repeat(dataset.left, 3), np.tile(dataset.right[:3], len(dataset.left)))
    keep = left < right if symmetric else np.ones(len(left), dtype=bool)
    left, right = left[keep], right[keep]
    competition = competition_of(dataset, vectors, BLENDED)
    found = competition.values(left, right, table[left, right])
    for at, (row, column) in enumerate(zip(left, right, strict=True)):
        score = table[row, column]
        for side, (text, itself, others) in enumerate([(row, column, dataset.right), (column, row, dataset.left)]):
            rivals = [table[text, other] for other in others if other not in (itself, text)]
            assert found[side][at] == pytest.approx(np.clip(score - max(rivals), -0.3, 0.3), abs=1e-5)
            better = min(CANDIDATES, sum(rival > score for rival in rivals))
            assert found[2 + side][at] == pytest.approx(np.log1p(better), abs=1e-6)


@given(st.lists(st.floats(-1, 2), min_size=2, max_size=20), st.floats(-0.5, 0.5))
def test_scores_keep_their_order_and_stay_above_the_floor(values: list[float], floor: float) -> None:
    ascending = np.sort(np.array(values))
    found = above(ascending, floor)
    assert (np.diff(found) >= 0).all() and (found >= np.float32(floor)).all() and (found <= 1).all()


def test_a_second_stage_survives_its_file() -> None:
    rng = np.random.default_rng(0)
    second = SecondStage(0.1, 0.2, 0.3, *rng.random((3, len(FEATURES))))
    again = SecondStage.read(second.as_dict())
    values = rng.random((5, len(FEATURES))).astype(np.float32)
    assert (again.score(np.full(5, 0.4), values) == second.score(np.full(5, 0.4), values)).all()
    assert sum(second.parts(values[0]).values()) == pytest.approx(second.added(values[:1]).sum())


def test_deciding_numbers_are_learnt_and_measured_over_all_pairs() -> None:
    gained = []
    for seed in range(3):
        dataset, vectors, labelled = products(seed)
        staged = staged_by(dataset, vectors, labelled, "auto")
        before, after = (measured(dataset, vectors, each) for each in (Staged(LAYER), staged))
        gained.append(after - before)
        assert staged.second is not None and (staged.gain or 0) > 0
    assert min(gained) > 0.1


def test_the_labels_keep_their_mean_p() -> None:
    dataset, vectors, labelled = products(1)
    layer = refit(vectors, labelled, BLENDED)
    staged = staged_by(dataset, vectors, labelled, "on", layer)
    first = scores(vectors, labelled.left, labelled.right, BLENDED)
    p = staged.layer.probability(staged.rescored.replace(labelled.left, labelled.right, first))
    assert p.mean() == pytest.approx(labelled.label.mean(), abs=0.02)


def test_it_does_no_harm_where_texts_tell_nothing_more() -> None:
    for seed in range(3):
        dataset, vectors, labelled = products(seed, code=False, each=6)
        with_it = measured(dataset, vectors, staged_by(dataset, vectors, labelled, "auto"))
        assert with_it > measured(dataset, vectors, Staged(LAYER)) - 0.01


def test_labels_by_chance_seldom_make_one() -> None:
    made = 0
    for seed in range(10):
        dataset, vectors, labelled = products(seed % 2)
        by_chance = replace(labelled, label=np.random.default_rng(seed).permutation(labelled.label))
        made += staged_by(dataset, vectors, by_chance, "auto").second is not None
    assert made <= 2  # one in twenty by chance: more than two of ten has a probability of 0.01


def test_off_or_too_few_labels_or_too_many_texts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, vectors, labelled = products(0)
    assert staged_by(dataset, vectors, labelled, "off") == Staged(LAYER)
    few = Labelled(labelled.left[:6], labelled.right[:6], labelled.label[:6])
    assert staged_by(dataset, vectors, few, "on") == Staged(LAYER)
    monkeypatch.setattr(nearest, "EXACT_UP_TO", {"cpu": 100, "cuda": 100})
    assert staged_by(dataset, vectors, labelled, "on") == Staged(LAYER)


def test_a_flat_layer_is_replaced_by_a_steeper_one() -> None:
    dataset, vectors, labelled = products(0)
    staged = staged_by(dataset, vectors, labelled, "on", OutputLayer(0.0, 1.0))
    assert staged.layer.w > 1 and staged.second is not None and staged.second.slope == 1
    assert measured(dataset, vectors, staged) > 0.9


def test_evaluation_texts_teach_it_nothing() -> None:
    dataset, vectors, labelled = products(0)
    scrambled = make_dataset(
        dataset.texts, ["left"] * len(dataset.texts), split_of(dataset), True, np.empty((0, 2), dtype=np.int64)
    )
    one, other = (staged_by(each, vectors, labelled, "on") for each in (dataset, scrambled))
    assert one.second is not None and other.second is not None
    assert one.second.as_dict() == other.second.as_dict()  # gold is no input of it


def staged_by(
    dataset: Dataset, vectors: np.ndarray, labelled: Labelled, use: SecondStageUse, layer: OutputLayer = LAYER
) -> Staged:
    return make_staged(dataset, vectors, labelled, layer, use, np.random.default_rng(0), BLENDED)


def measured(dataset: Dataset, vectors: np.ndarray, staged: Staged) -> float:
    found = evaluate_dataset(dataset, vectors, space=BLENDED, layer=LAYER, rescored=staged.rescored)
    assert found is not None
    return found.estimates["average_precision"].value


def products(seed: int, code: bool = True, each: int = 2) -> tuple[Dataset, np.ndarray, Labelled]:
    """Return 600 texts on products in one list, some of each: their vectors tell little of the product, its code all.

    The labels are pairs of training texts that are near by their vectors.
    """
    rng = np.random.default_rng(seed)
    things, kinds = 600 // each, rng.normal(size=(60, 16))
    kind, thing = rng.integers(60, size=things), np.tile(np.arange(things), each)
    codes = [f" m{1000 + at}" if code else "" for at in range(things)]
    texts = [f"maker{row % 7} thing{kind[at]}{codes[at]}" for row, at in enumerate(thing)]
    vectors = kinds[kind[thing]] + 0.6 * rng.normal(size=(things, 16))[thing] + 0.6 * rng.normal(size=(600, 16))
    vectors = np.column_stack([vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.zeros(600)])
    vectors = vectors.astype(np.float32)
    rows, columns = np.triu_indices(600, 1)
    same = thing[rows] == thing[columns]
    splits = np.where(thing < 2 * things // 3, "train", "evaluation").tolist()
    dataset = make_dataset(texts, ["left"] * 600, splits, True, np.column_stack([rows, columns])[same])
    training = np.isin(rows, dataset.train_left) & np.isin(columns, dataset.train_left)
    rows, columns, same = rows[training], columns[training], same[training]
    near = np.argsort(-scores(vectors, rows, columns, BLENDED))[:600]
    chosen = rng.choice(near, 240, replace=False)
    return dataset, vectors, Labelled(rows[chosen], columns[chosen], same[chosen].astype(np.int64))


def split_of(dataset: Dataset) -> list[str]:
    training = np.isin(np.arange(len(dataset.texts)), dataset.train_left)
    return np.where(training, "train", "evaluation").tolist()


def random_project(symmetric: bool) -> tuple[Dataset, np.ndarray]:
    rng = np.random.default_rng(1)
    sides = ["left"] * (24 if symmetric else 12) + ["right"] * (0 if symmetric else 12)
    vectors = rng.normal(size=(24, 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    offset = rng.random((24, 1)) / 10
    texts = [f"text {at}" for at in range(24)]
    dataset = make_dataset(texts, sides, ["train"] * 24, symmetric, np.empty((0, 2), dtype=np.int64))
    return dataset, np.hstack([vectors, offset]).astype(np.float32)


def all_scores(dataset: Dataset, vectors: np.ndarray) -> np.ndarray:
    rows, columns = np.indices((24, 24)).reshape(2, -1)
    return scores(vectors, rows, columns, BLENDED).reshape(24, 24)

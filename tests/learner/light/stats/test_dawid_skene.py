"""The consensus of annotators who err, against simulated truth and another implementation."""

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import DawidSkene
from hypothesis import given
from hypothesis import strategies as st

from allpairs.annotate.features.review.agreement import Votes, agreement
from allpairs.annotate.features.review.consensus import annotator_scores
from allpairs.db.domain import AnswerKind
from allpairs.learner.light.stats.dawid_skene import TOLERANCE, answers_of, dawid_skene

YES, NO, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE
SEEDS = (21, 39, 49, 53, 63, 84, 138, 198)  # where the likelihood falls on the way, or wants no matches at all


def simulated(
    rng: np.random.Generator, pairs: int, share: float, right: list[tuple[float, float]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return each pair's truth, and answers (pair, annotator, yes) of annotators with these accuracies per class."""
    truth = rng.random(pairs) < share
    pair, annotator = (grid.ravel() for grid in np.meshgrid(np.arange(pairs), np.arange(len(right)), indexing="ij"))
    says_yes = np.where(truth[pair], np.array(right)[annotator, 0], 1 - np.array(right)[annotator, 1])
    return truth, pair, annotator, rng.random(len(pair)) < says_yes


def test_it_finds_who_is_right_how_often() -> None:
    right = [(0.95, 0.98), (0.7, 0.99), (0.9, 0.8), (0.85, 0.95)]
    truth, pair, annotator, yes = simulated(np.random.default_rng(0), 4000, 0.2, right)
    found = dawid_skene(answers_of(pair, annotator, yes))
    assert found.sensitivity == pytest.approx([sensitivity for sensitivity, _ in right], abs=0.04)
    assert found.specificity == pytest.approx([specificity for _, specificity in right], abs=0.02)
    assert found.prevalence == pytest.approx(truth.mean(), abs=0.02)
    majority = np.bincount(pair, yes) > 2
    assert ((found.positive > 0.5) == truth).mean() > (majority == truth).mean()


def test_it_agrees_with_crowd_kit() -> None:
    _, pair, annotator, yes = simulated(np.random.default_rng(1), 300, 0.3, [(0.9, 0.9), (0.8, 0.95), (0.7, 0.85)])
    theirs = DawidSkene(n_iter=1000, tol=1e-12).fit(
        pd.DataFrame({"task": pair, "worker": annotator, "label": yes.astype(int)})
    )
    ours = dawid_skene(answers_of(pair, annotator, yes), prior=0.0)
    assert ours.positive == pytest.approx(theirs.probas_.loc[range(300), 1].to_numpy(), abs=1e-3)
    errors = theirs.errors_.unstack("label")  # columns: what a pair is, what an annotator says
    assert ours.sensitivity == pytest.approx(errors[1, 1].to_numpy(), abs=1e-3)
    assert ours.specificity == pytest.approx(errors[0, 0].to_numpy(), abs=1e-3)


def test_alike_pairs_may_be_given_once() -> None:
    pair, annotator = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 0, 1, 0, 1, 2])
    yes, times = np.array([1, 1, 0, 1, 0, 0, 1]), np.array([3, 2, 4])
    rows = [at for at in range(3) for _ in range(times[at])]
    parts = [np.flatnonzero(pair == at) for at in rows]
    every, order = np.repeat(np.arange(len(rows)), [len(part) for part in parts]), np.concatenate(parts)
    once = dawid_skene(answers_of(pair, annotator, yes, times))
    each = dawid_skene(answers_of(every, annotator[order], yes[order]))
    assert np.repeat(once.positive, times) == pytest.approx(each.positive, abs=1e-6)
    assert once.sensitivity == pytest.approx(each.sensitivity, abs=1e-6)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans()), min_size=1, max_size=40))
def test_any_answers_have_a_consensus(rows: list[tuple[int, int, bool]]) -> None:
    pair, annotator, yes = np.array(rows).T
    pair = np.unique(pair, return_inverse=True)[1]
    found = dawid_skene(answers_of(pair, annotator, yes))
    for values in (found.positive, found.sensitivity, found.specificity):
        assert np.isfinite(values).all() and ((values >= 0) & (values <= 1)).all()


def test_no_further_step_would_change_it() -> None:
    for seed in SEEDS:
        _, pair, annotator, yes = simulated(np.random.default_rng(seed), 30, 0.1, [(0.85, 0.95)] * 4)
        answers = answers_of(pair, annotator, yes)
        one, other = (dawid_skene(answers, tolerance=end) for end in (TOLERANCE, -1.0))
        assert one.positive == pytest.approx(other.positive, abs=0.01), seed
        assert one.sensitivity == pytest.approx(other.sensitivity, abs=0.01), seed
        assert one.prevalence == pytest.approx(other.prevalence, abs=0.01) and one.prevalence > 0.01, seed


def votes_of(pair: np.ndarray, annotator: np.ndarray, yes: np.ndarray) -> Votes:
    answers = zip(pair.tolist(), annotator, yes, strict=True)
    return [(at, at + 1, "abcd"[who], YES if said else NO) for at, who, said in answers]


@pytest.mark.parametrize("pairs", [60, 200])
def test_intervals_hold_the_truth_about_as_often_as_they_say(pairs: int) -> None:
    right, held = [(0.95, 0.99), (0.9, 0.99), (0.98, 0.98)], []
    for seed in range(30):
        _, *answers = simulated(np.random.default_rng(seed), pairs, 0.1, right)
        for one, (sensitivity, specificity) in zip(annotator_scores(votes_of(*answers)), right, strict=True):
            held.append(one.sensitivity.low <= sensitivity <= one.sensitivity.high)
            held.append(one.specificity.low <= specificity <= one.specificity.high)
    assert 0.93 <= np.mean(held) <= 0.99  # nominal: 0.95


def test_two_who_agree_on_all_need_not_be_always_right() -> None:
    votes = [(at, at + 1, who, YES if at < 6 else NO) for at in range(20) for who in "ab"]
    for one in annotator_scores(votes):
        for found in (one.sensitivity, one.specificity, one.agrees):
            assert found.low < 0.9 and found.high > 0.999


def test_annotators_against_their_consensus() -> None:
    _, pair, annotator, yes = simulated(
        np.random.default_rng(2), 300, 0.4, [(0.95, 0.95), (0.95, 0.95), (0.95, 0.95), (0.5, 0.95)]
    )
    persons = annotator_scores([*votes_of(pair, annotator, yes), (999, 1000, "e", YES), (0, 1, "f", UNSURE)])
    assert [(one.name, one.answers) for one in persons] == [(name, 300) for name in "abcd"]
    weak, strong = persons[3].sensitivity, persons[0].sensitivity
    assert weak.low <= 0.5 <= weak.high < strong.low <= 0.95 <= strong.high
    assert annotator_scores([(1, 2, "a", YES)]) == []


def test_how_far_annotators_agree() -> None:
    votes = [(at, 100 + at, who, NO) for at in range(96) for who in "ab"]
    votes += [(at, 100 + at, who, YES) for at in (96, 97) for who in "ab"]
    votes += [(98, 198, "a", YES), (98, 198, "b", NO), (99, 199, "a", NO), (99, 199, "b", YES), (5, 300, "a", YES)]
    found = agreement(votes)
    assert found.pairs == 100
    value = {name: one.value for name, one in found.coefficients.items() if one is not None}
    assert value["On matches (positive-specific)"] == pytest.approx(4 / 6)
    assert value["On others (negative-specific)"] == pytest.approx(192 / 194)
    assert value["Observed"] == pytest.approx(0.98)
    assert value["Gwet's AC1"] > 0.97 > 0.7 > value["Fleiss' kappa"]
    assert "rare" in found.kappa_note
    (two,) = found.twos
    assert (two.first, two.second, two.pairs) == ("a", "b", 100)
    assert two.kappa is not None and two.kappa.value == pytest.approx(value["Fleiss' kappa"], abs=0.01)


def test_nobody_agrees_where_nobody_shares_a_pair() -> None:
    found = agreement([(1, 2, "a", YES), (3, 4, "b", NO)])
    assert (found.pairs, found.twos) == (0, [])
    assert set(found.coefficients.values()) == {None}

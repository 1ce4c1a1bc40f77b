"""Ratings of each model's questions (as in table 7 of Kulshreshtha et al. 2021), and the agreement of raters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from sqlalchemy import Engine

from allpairs.annotate.features.studies.rating_studies import BEGUN
from allpairs.db.estimate import Estimate, Z, wilson
from allpairs.db.projects.studies import CRITERIA, Rated, ratings_of, study_of, units_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Study, StudyUnit
from allpairs.learner.light.stats.agreement import (
    Coefficient,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    observed_agreement,
    specific_agreement,
)
from allpairs.learner.light.stats.agreement_intervals import agreement_estimate, cohen_estimate, why_kappa_is_low

METHOD = "ratings of a sample"
MATCHED = "ratings of the same passages"
# Kulshreshtha et al. (2021), table 7, by model, in the order of the criteria.
PAPER = dict(zip(BEGUN, ((0.68, 0.32, 0.58, 0.68), (0.68, 0.36, 0.58, 0.72), (0.70, 0.44, 0.62, 0.88)), strict=True))
ANSWERS = ("yes", "no")
AGREEMENT: dict[str, Coefficient] = {
    "Agreement": observed_agreement,
    "AC1": gwet_ac1,
    "Kappa": fleiss_kappa,
    "Alpha": krippendorff_alpha,
    "On yes": specific_agreement(0),
    "On no": specific_agreement(1),
}


@dataclass(frozen=True)
class Scores:
    """The share of good questions of one model by each criterion; rated: how many of its questions have a rating."""

    model: str
    rated: int
    shares: Mapping[str, Estimate | None]


@dataclass(frozen=True)
class ModelGain:
    """How much better one model's questions are than another's, on passages where both are rated."""

    better: str
    than: str
    passages: int
    differences: Mapping[str, Estimate]


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement of raters by one criterion, over questions with two or more ratings; None: not defined.

    kappa_note: a sentence if kappa is low because one answer is rare.
    """

    criterion: str
    figures: Mapping[str, Estimate | None]
    kappa_note: str


@dataclass(frozen=True)
class StudyResults:
    """The results of a study so far. raters: their names; common: questions with two or more ratings.

    gain: of back-training over self-training, if both are rated.
    """

    study: Study
    raters: Sequence[str]
    common: int
    scores: Sequence[Scores]
    gain: ModelGain | None
    agreement: Sequence[RaterAgreement]


def results(engine: Engine, project_id: int, study_id: int) -> StudyResults:
    """Return the results of the study so far. Raises InputError if the project has no such study."""
    with reading(engine) as session:
        study = study_of(session, project_id, study_id)
        units = units_of(session, study_id)
        rated = ratings_of(session, study_id)
    raters = sorted({rating.rater for rating in rated})
    by_unit = _by_unit(rated)
    common = [ratings for ratings in by_unit.values() if len(ratings) > 1]
    rng = np.random.default_rng(study.seed)  # so that the figures stay the same when the page is redrawn
    agreement = [_agreement(name, common, rng) for name in CRITERIA] if common else []
    scores = [_scores(model, units, by_unit) for model in study.models]
    return StudyResults(study, raters, len(common), scores, _gain(units, by_unit), agreement)


def _by_unit(rated: Sequence[Rated]) -> dict[int, list[Rated]]:
    by_unit: dict[int, list[Rated]] = {}
    for rating in rated:
        by_unit.setdefault(rating.unit_id, []).append(rating)
    return by_unit


def _scores(model: str, units: Sequence[StudyUnit], by_unit: Mapping[int, list[Rated]]) -> Scores:
    rated = [by_unit[unit.id] for unit in units if model in unit.models and unit.id in by_unit]
    shares = {name: share([[rating.scores[name] for rating in ratings] for ratings in rated]) for name in CRITERIA}
    return Scores(model, len(rated), shares)


def share(questions: Sequence[Sequence[bool]]) -> Estimate | None:
    """Return the mean rating, averaged first by question, then over questions; None without ratings.

    The interval is Wilson's (1927) for a sample of questions, at the effective sample size of Korn and Graubard (1998):
    ratings of the same question are correlated, so n questions whose means have the variance v count as
    p(1 - p)n / v ratings; at most the number of ratings, and at least the number of questions.
    """
    if not questions:
        return None
    means = np.array([np.mean(ratings) for ratings in questions])
    count = sum(map(len, questions))
    p = float(means.mean())
    spread = float(means.var())
    worth = len(questions) * p * (1 - p) / spread if spread > 0 else float(count if 0 < p < 1 else len(questions))
    worth = min(max(worth, len(questions)), count)
    return Estimate(p, *wilson(p * worth, worth), METHOD, count)


def _gain(units: Sequence[StudyUnit], by_unit: Mapping[int, list[Rated]]) -> ModelGain | None:
    """Return the paper's main comparison: back-training's questions against self-training's."""
    baseline, back = BEGUN[1:]
    by_model = {
        model: {unit.passage: by_unit[unit.id] for unit in units if model in unit.models and unit.id in by_unit}
        for model in (baseline, back)
    }
    passages = [passage for passage in by_model[back] if passage in by_model[baseline]]
    if not passages:
        return None

    def mean(model: str, passage: str, name: str) -> float:
        return float(np.mean([rating.scores[name] for rating in by_model[model][passage]]))

    gains = {
        name: [mean(back, passage, name) - mean(baseline, passage, name) for passage in passages] for name in CRITERIA
    }
    return ModelGain(back, baseline, len(passages), {name: difference(values) for name, values in gains.items()})


def difference(gains: Sequence[float]) -> Estimate:
    """Return the mean of gains between -1 and 1, one for each passage, with its 95 % interval.

    The interval is Agresti and Min's (2005) for matched proportions: the normal interval after adding half a passage of
    each kind (better, worse, and twice equal); its width is never 0.
    """
    n = len(gains) + 2
    values = np.array(gains)
    centre = values.sum() / n
    half = Z * sqrt(((values**2).sum() + 1) / n - centre**2) / sqrt(n)
    value = float(values.mean())
    low = max(-1.0, float(centre - half))
    high = min(1.0, float(centre + half))
    return Estimate(value, min(low, value), max(high, value), MATCHED, len(gains))


def _agreement(criterion: str, common: Sequence[Sequence[Rated]], rng: np.random.Generator) -> RaterAgreement:
    yes = np.array([sum(rating.scores[criterion] for rating in ratings) for ratings in common])
    counts = np.stack([yes, np.array([len(ratings) for ratings in common]) - yes], axis=1)
    figures = {name: agreement_estimate(coefficient, counts, rng=rng) for name, coefficient in AGREEMENT.items()}
    if len(pair := sorted({rating.rater for ratings in common for rating in ratings})) == 2:
        figures["Kappa"] = cohen_estimate(_table(criterion, common, pair), rng)
    return RaterAgreement(criterion, figures, why_kappa_is_low(counts, ANSWERS))


def _table(criterion: str, common: Sequence[Sequence[Rated]], pair: Sequence[str]) -> np.ndarray:
    """Return the questions cross-tabulated by the answers (yes, no) of two raters."""
    table = np.zeros((2, 2), dtype=int)
    for ratings in common:
        first, second = sorted(ratings, key=lambda rated: pair.index(rated.rater))
        table[int(not first.scores[criterion]), int(not second.scores[criterion])] += 1
    return table

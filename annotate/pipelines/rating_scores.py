"""What raters say of each model's questions: Table 7 of paper 001, and how far the raters agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from sqlalchemy import Engine

from annotate.pipelines.rating_studies import BEGUN
from annotate.stats.agreement import (
    Coefficient,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    observed_agreement,
    specific_agreement,
)
from annotate.stats.agreement_in_words import why_kappa_is_low
from annotate.stats.agreement_intervals import cohen_estimate, estimate
from db.estimate import Estimate, Z, wilson
from db.projects.studies import CRITERIA, Rated, ratings_of, study_of, units_of
from db.schema.engine import reading
from db.schema.tables import Study, StudyUnit

METHOD, MATCHED = "ratings of a sample", "ratings of the same passages"
# Paper 001, Table 7, by model, in the order of the criteria.
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
    """How good one model's questions are by each criterion; rated: how many of them have a rating."""

    model: str
    rated: int
    shares: Mapping[str, Estimate | None]


@dataclass(frozen=True)
class Gain:
    """How much better one model's questions are than another's, about passages where both are rated."""

    better: str
    than: str
    passages: int
    differences: Mapping[str, Estimate]


@dataclass(frozen=True)
class Agreement:
    """How far raters agree by one criterion, over questions that two or more rated; nothing: it is not defined.

    why: a sentence where kappa is low and one answer rare.
    """

    criterion: str
    figures: Mapping[str, Estimate | None]
    why: str


@dataclass(frozen=True)
class Results:
    """What a study says so far. raters: their names; common: questions that two or more of them rated.

    gain: of back-training over self-training, where both are rated.
    """

    study: Study
    raters: Sequence[str]
    common: int
    scores: Sequence[Scores]
    gain: Gain | None
    agreement: Sequence[Agreement]


def results(engine: Engine, project_id: int, study_id: int) -> Results:
    """What the study says so far. Raises InputError where the project has no such study."""
    with reading(engine) as session:
        study = study_of(session, project_id, study_id)
        units, rated = units_of(session, study_id), ratings_of(session, study_id)
    raters, by_unit = sorted({one.rater for one in rated}), _by_unit(rated)
    common = [found for found in by_unit.values() if len(found) > 1]
    rng = np.random.default_rng(study.seed)  # the same figures whenever the page is drawn
    agreement = [_agreement(name, common, rng) for name in CRITERIA] if common else []
    scores = [_scores(model, units, by_unit) for model in study.models]
    return Results(study, raters, len(common), scores, _gain(units, by_unit), agreement)


def _by_unit(rated: Sequence[Rated]) -> dict[int, list[Rated]]:
    found: dict[int, list[Rated]] = {}
    for one in rated:
        found.setdefault(one.unit_id, []).append(one)
    return found


def _scores(model: str, units: Sequence[StudyUnit], by_unit: Mapping[int, list[Rated]]) -> Scores:
    mine = [by_unit[unit.id] for unit in units if model in unit.models and unit.id in by_unit]
    shares = {name: share([[one.scores[name] for one in found] for found in mine]) for name in CRITERIA}
    return Scores(model, len(mine), shares)


def share(said: Sequence[Sequence[bool]]) -> Estimate | None:
    """The mean of ratings, first of each question and then of all; nothing without any.

    The interval is Wilson's (1927) for questions of which these are a sample, at as many ratings as say as much: what
    raters say of one question is much alike, so that the ratings of n questions whose means have the variance v count
    as p(1 - p)n / v, the effective sample size of Korn and Graubard (1998). No more than there are ratings, and no
    fewer than questions.
    """
    if not said:
        return None
    means, ratings = np.array([np.mean(one) for one in said]), sum(map(len, said))
    p, spread = float(means.mean()), float(means.var())
    worth = len(said) * p * (1 - p) / spread if spread > 0 else float(ratings if 0 < p < 1 else len(said))
    worth = min(max(worth, len(said)), ratings)
    return Estimate(p, *wilson(p * worth, worth), METHOD, ratings)


def _gain(units: Sequence[StudyUnit], by_unit: Mapping[int, list[Rated]]) -> Gain | None:
    """What the paper is about: back-training's questions against self-training's."""
    own, back = BEGUN[1:]
    by_model = {model: {unit.passage: by_unit[unit.id] for unit in units if model in unit.models and unit.id in by_unit}
                for model in (own, back)}  # fmt: skip
    both = [passage for passage in by_model[back] if passage in by_model[own]]
    if not both:
        return None

    def mean(model: str, passage: str, name: str) -> float:
        return float(np.mean([one.scores[name] for one in by_model[model][passage]]))

    gains = {name: [mean(back, passage, name) - mean(own, passage, name) for passage in both] for name in CRITERIA}
    return Gain(back, own, len(both), {name: difference(found) for name, found in gains.items()})


def difference(gains: Sequence[float]) -> Estimate:
    """The mean of gains between -1 and 1, one for each passage, with its 95 % interval.

    The interval is Agresti and Min's (2005) for matched shares: the normal one after half a passage more of each kind
    (better, worse, twice alike); never of width 0.
    """
    n, found = len(gains) + 2, np.array(gains)
    centre = found.sum() / n
    half = Z * sqrt(((found**2).sum() + 1) / n - centre**2) / sqrt(n)
    value = float(found.mean())
    low, high = max(-1.0, float(centre - half)), min(1.0, float(centre + half))
    return Estimate(value, min(low, value), max(high, value), MATCHED, len(gains))


def _agreement(criterion: str, common: Sequence[Sequence[Rated]], rng: np.random.Generator) -> Agreement:
    yes = np.array([sum(one.scores[criterion] for one in found) for found in common])
    counts = np.stack([yes, np.array([len(found) for found in common]) - yes], axis=1)
    figures = {name: estimate(coefficient, counts, rng=rng) for name, coefficient in AGREEMENT.items()}
    if len(pair := sorted({one.rater for found in common for one in found})) == 2:
        figures["Kappa"] = cohen_estimate(_table(criterion, common, pair), rng)
    return Agreement(criterion, figures, why_kappa_is_low(counts, ANSWERS))


def _table(criterion: str, common: Sequence[Sequence[Rated]], pair: Sequence[str]) -> np.ndarray:
    """The questions by what the first of two raters says (yes, no), and the second one."""
    table = np.zeros((2, 2), dtype=int)
    for found in common:
        one, other = sorted(found, key=lambda rated: pair.index(rated.rater))
        table[int(not one.scores[criterion]), int(not other.scores[criterion])] += 1
    return table

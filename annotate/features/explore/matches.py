"""All matches above a threshold: their number, their expected precision and recall, and a table of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from allpairs.annotate.features.groups.groups import answered_pairs, matches_at
from allpairs.annotate.features.labels.formats import NUMBERS
from allpairs.annotate.features.quality.rounds import DIGITS, offered_threshold
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import require
from allpairs.annotate.kit.jobs.prepared import (
    ExploredRound,
    Scored,
    kind_of,
    prepared_best_pairs,
    probability,
    shown_pairs,
)
from allpairs.db.corpus.equal_texts import EQUAL, KNOWN, MODEL, id_pairs
from allpairs.db.corpus.table_files import write_table
from allpairs.db.domain import Kind
from allpairs.db.projects.items import identifiers_of, item_texts
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Evaluation

COLUMNS: dict[str, type] = {
    "id1": str,
    "id2": str,
    "text1": str,
    "text2": str,
    "score": float,
    "p": float,
    "reason": str,
    "label": int,
    "gold": int,
}


@dataclass(frozen=True)
class Expected:
    """Precision and recall of the matcher at a threshold, as measured; low, high: interval of a sampled precision.

    beyond: the threshold lies below all measured positives, so recall is full and precision at most this.
    """

    precision: float
    recall: float
    low: float | None
    high: float | None
    beyond: bool


def expected_at(evaluation: Evaluation, threshold: float) -> Expected | None:
    """Return the curve's figures for the pairs that score at least `threshold`; None if no measured point is as high.

    The curve has a point for each positive (thinned to some hundreds); between two points the stricter one is used.
    """
    scores = np.array(evaluation.curve.get("score", []))
    reached = int((scores >= threshold).sum())
    if not reached:
        return None
    point = {name: evaluation.curve[name][reached - 1] for name in evaluation.curve}
    return Expected(
        point["precision"],
        point["recall"],
        point.get("low"),
        point.get("high"),
        beyond=reached == len(scores) and threshold < scores[-1],
    )


def over_all(precision: float, times: float) -> float:
    """Return the precision if there are `times` as many wrong matches for each right one.

    With evaluation items a random part of all, wrong matches grow like pairs and right ones like items.
    """
    return precision / (precision + times * (1 - precision)) if precision > 0 else 0.0


def start_at(round_: ExploredRound, scored: Scored) -> float:
    """Return the slider's first threshold: p = 1/2; without p, the best F1 of the curve, else the hundredth pair."""
    threshold = offered_threshold(round_.matcher)
    curve = round_.evaluation.curve if round_.evaluation else {}
    if threshold is None and curve.get("score"):
        precision = np.array(curve["precision"])
        recall = np.array(curve["recall"])
        threshold = curve["score"][int(np.argmax(precision * recall / np.maximum(precision + recall, 1e-9)))]
    if threshold is None:
        threshold = float(scored.score[min(100, len(scored)) - 1])
    return float(np.clip(round(threshold, DIGITS), scored.score[-1], scored.score[0]))


def worth_a_look(round_: ExploredRound, scored: Scored) -> tuple[float, float]:
    """Return the lowest and the highest threshold to offer: below the lowest measured positive, nothing is gained."""
    curve = round_.evaluation.curve.get("score") if round_.evaluation else None
    low = float(scored.score[-1])
    high = float(scored.score[0])
    return max(low, min(curve[-1], start_at(round_, scored))) if curve else low, high


def mean_p(round_: ExploredRound, above: Scored, threshold: float) -> float | None:
    """Return the mean probability of those matches that score at least this: the precision that the model expects.

    Those that people or equal texts made matches need no model.
    """
    p = probability(round_.matcher, above.score[above.score >= np.float32(threshold)])
    return None if p is None or not len(p) else float(p.mean())


def curve_table(evaluation: Evaluation, low: float, high: float) -> pd.DataFrame:
    """Return precision and recall by threshold between two scores, the strictest first; columns of the stored curve."""
    table = pd.DataFrame({name: values for name, values in evaluation.curve.items() if len(values)})
    return table[table["score"].between(low, high)] if "score" in table else table


def write_round_matches(engine: Engine, round_: ExploredRound, threshold: float, path: Path) -> int:
    """Write the matches for all ids, equal texts of one list first, to the CSV file and return the number of rows.

    Raises Refused without the right to export the project's data.
    """
    with reading(engine) as session:
        require(session, Right.CHANGE, round_.matcher.project_id)
    return write_table(path, COLUMNS, _rows(engine, round_, threshold), for_people=True)


def _rows(engine: Engine, round_: ExploredRound, threshold: float) -> Iterator[tuple[Any, ...]]:
    best = prepared_best_pairs(round_)
    answered = answered_pairs(engine, round_, best)
    pairs = matches_at(best, threshold, answered)
    equal_texts = answered.texts.tolist() if kind_of(engine, round_.matcher.project_id) == Kind.SYMMETRIC else []
    with reading(engine) as session:
        ids = identifiers_of(session, {*equal_texts, *pairs.left.tolist(), *pairs.right.tolist()})
        texts = item_texts(session, equal_texts)
    for item in equal_texts:
        for names in id_pairs(ids, item, item):
            yield *names, texts[item], texts[item], None, 1.0, EQUAL, None, None
    reasons = dict.fromkeys(map(tuple, answered.yes.tolist()), KNOWN)
    reasons |= dict.fromkeys(map(tuple, answered.equal.tolist()), EQUAL)
    for pair in shown_pairs(engine, round_.matcher, pairs):
        reason = reasons.get((pair.left_id, pair.right_id), MODEL)
        p = 1.0 if reason == EQUAL else pair.p
        answers = NUMBERS.get(pair.label) if pair.label else None, None if pair.gold is None else int(pair.gold)
        for names in id_pairs(ids, pair.left_id, pair.right_id):
            yield *names, pair.left, pair.right, pair.score, p, reason, *answers

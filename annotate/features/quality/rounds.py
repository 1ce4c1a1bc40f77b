"""A project's rounds: what monitoring shows of them, read at one moment, and their models in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.kit.text.measures import estimate
from allpairs.db.domain import AnswerKind, DesignKind, Purpose, Settings, Split
from allpairs.db.labels.audits import newest_design
from allpairs.db.labels.label_counts import Tally, label_tally
from allpairs.db.labels.tasks import open_audit_batch, unanswered
from allpairs.db.projects.evaluations import gold_counts, has_evaluation_items, matchers_with_evaluations
from allpairs.db.projects.items import item_counts
from allpairs.db.projects.projects import project_settings
from allpairs.db.projects.rounds import audit_counts, batches_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Evaluation, Round, StoredModel
from allpairs.db.texts.changes import last_of_measuring, measuring_changed

DIGITS = 3  # of a threshold that a page offers
BIASED = (
    "Labels of batches cannot be used instead. The model chose those pairs because they are hard or similar, so they "
    "are a biased sample, and figures computed from them would say nothing about all pairs."
)


@dataclass(frozen=True)
class MonitorReport:
    """The rows behind the monitoring of one project, read at one moment."""

    matchers: list[tuple[StoredModel, Evaluation | None]]
    rounds: list[Round]
    tally: Sequence[Tally]  # labels by batch, day and annotator
    audits: dict[int, int]  # audit tasks by round
    gold: int  # known positives
    gold_measurable: int  # those that are pairs of evaluation items
    evaluation_items: bool  # whether items are kept for evaluation
    audit_batch: int  # pairs of the open audit batch that nobody has labelled
    settings: Settings
    texts: int = 0  # the newest change by which texts for evaluation came or went
    changed: float = 0.0  # share of the audit's texts that have come or gone since it was drawn, at the most

    @property
    def measured(self) -> list[tuple[StoredModel, Evaluation]]:
        """The matchers that have an estimate, the pre-trained encoder first."""
        return [(m, e) for m, e in self.matchers if e is not None and estimate(e, "average_precision") is not None]

    @property
    def before_texts_changed(self) -> int | None:
        """The last measured round from before the evaluation texts changed, if later ones are measured; else None."""
        before = [matcher.details.get("texts", 0) < self.texts for matcher, _ in self.measured]
        return None if all(before) or not any(before) else self.measured[sum(before) - 1][0].number

    @property
    def answers(self) -> dict[int, dict[AnswerKind, int]]:
        """The number of pairs with each label, by round id, the reserve included.

        Audit tasks are left out: they measure, and belong to no batch that trains.
        """
        counts: dict[int, dict[AnswerKind, int]] = {}
        for row in self.tally:
            if row.round_id is not None and row.purpose == Purpose.TRAIN:
                of_round = counts.setdefault(row.round_id, {})
                of_round[row.answer] = of_round.get(row.answer, 0) + row.count
        return counts

    @property
    def batches(self) -> list[dict[str, object]]:
        """Each batch's strategy, size, answers, and share of positives."""
        answers = self.answers
        return [_batch(batch, self.audits.get(batch.id, 0), answers.get(batch.id, {})) for batch in self.rounds]

    @property
    def audited(self) -> Evaluation | None:
        """The newest evaluation based on audit labels, whether or not they suffice for figures."""
        return next((e for _, e in reversed(self.matchers) if e is not None and e.audit), None)


def _batch(batch: Round, audits: int, answers: dict[AnswerKind, int]) -> dict[str, object]:
    positives = answers.get(AnswerKind.POSITIVE, 0)
    negatives = answers.get(AnswerKind.NEGATIVE, 0)
    decided = positives + negatives
    return {
        "round": batch.number,
        "strategy": batch.strategy,
        "size": batch.size - audits,
        "answered": sum(answers.values()),
        "positives": positives,
        "negatives": negatives,
        "unsure": answers.get(AnswerKind.UNSURE, 0),
        "share_positive": positives / decided if decided else None,
    }


def read_report(engine: Engine, project_id: int, tally: Sequence[Tally] | None = None) -> MonitorReport:
    """Return everything that monitoring shows of a project, read in one transaction, the tally only if not given."""
    with reading(engine) as session:
        gold, measurable = gold_counts(session, project_id)
        audit_batch = open_audit_batch(session, project_id)
        return MonitorReport(
            matchers=matchers_with_evaluations(session, project_id),
            rounds=batches_of(session, project_id),
            tally=label_tally(session, project_id) if tally is None else tally,
            audits=audit_counts(session, project_id),
            gold=gold,
            gold_measurable=measurable,
            evaluation_items=has_evaluation_items(session, project_id),
            audit_batch=unanswered(session, audit_batch) if audit_batch else 0,
            settings=project_settings(session, project_id),
            texts=last_of_measuring(session, project_id),
            changed=_changed(session, project_id),
        )


def _changed(session: Session, project_id: int) -> float:
    design = newest_design(session, project_id, DesignKind.AUDIT)
    if design is None:
        return 0.0
    changed = measuring_changed(session, project_id, design.details.get("texts", 0), design.created_at)
    counts = item_counts(session, project_id).items() if changed else ()
    return changed / max(1, sum(count for (_, split), count in counts if split != Split.TRAIN))


def threshold(matcher: StoredModel) -> float | None:
    """Return the score at which the matcher's probability is one half; None where it has none."""
    if not matcher.w or matcher.b is None:
        return None
    return -matcher.b / matcher.w


def offered_threshold(matcher: StoredModel) -> float | None:
    """Return `threshold` as pages offer it, so that each finds the same matches: with the digits that a slider has."""
    exact = threshold(matcher)
    return None if exact is None else round(exact, DIGITS)


def why_unmeasured(report: MonitorReport) -> str:
    """Return what is missing before known pairs can measure the project; empty where nothing is."""
    if not report.evaluation_items:
        return "The project has no evaluation items: their share was 0 when it was created."
    if not report.gold:
        return "The project has no known pairs, so nothing says which pairs of evaluation items are positives."
    if not report.gold_measurable:
        return f"None of the {report.gold:,} known positives is a pair of two evaluation items."
    return ""


def card(matcher: StoredModel) -> list[tuple[str, str]]:
    """Return what is known of a matcher, as names and values."""
    details = matcher.details
    rows = [
        ("Round", str(matcher.number)),
        ("Base encoder", matcher.encoder),
        ("Labels", f"{matcher.labels:,}"),
        ("Positives", f"{matcher.positives:,}"),
        ("w", _number(matcher.w)),
        ("b", _number(matcher.b)),
        ("Threshold (score where p = ½)", _number(threshold(matcher))),
        ("Lexical similarity (weights; cosine 1)", _weights(details.get("lexical", {}))),
        ("Hubness correction (weight)", _number(details.get("hubness", 0.0))),
        ("Second stage (gain in average precision over the labels)", _second_stage(details.get("second_stage", {}))),
        ("Last answer used (id)", f"{matcher.cutoff:,}" if matcher.number else "–"),
        ("Seed", str(details.get("seed", "–"))),
        ("Loss", _number(details.get("loss"))),
        ("Made", f"{matcher.created_at:%Y-%m-%d %H:%M} UTC"),
    ]
    return rows + [(f"Seconds: {stage}", f"{spent:.1f}") for stage, spent in details.get("seconds", {}).items()]


def _weights(lexical: dict[str, float]) -> str:
    return ", ".join(f"{kind} {weight:.2f}" for kind, weight in lexical.items()) or "none"


def _second_stage(known: dict[str, Any]) -> str:
    if "gain" not in known:
        return "none"
    return f"{known['gain']:+.3f}{'' if 'features' in known else ', not used'}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def round_name(number: int) -> str:
    """Return a matcher's name for people."""
    return f"Round {number}" if number else "Before training"

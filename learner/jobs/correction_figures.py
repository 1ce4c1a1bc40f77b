"""Compute the figures of manual corrections from the labels of their pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import DECIDED, AnswerKind
from allpairs.db.labels.answers import current_labels
from allpairs.db.projects.corrections import correction_designs
from allpairs.db.projects.projects import project_settings
from allpairs.db.schema.tables import Design, Task
from allpairs.learner.evaluation.false_negatives import Checked, compare, corrected_precision

Labels = dict[tuple[int, int], AnswerKind]


def store_figures(session: Session, project_id: int) -> str:
    """Store the figures of every correction whose pairs are all labelled, and return a summary.

    An unfinished correction has no figures: pairs that it shares with an earlier correction, labelled already, are no
    fair sample of its own.
    """
    settings = project_settings(session, project_id)
    labels = {(label.left_id, label.right_id): label.answer for label in current_labels(session, project_id)}
    complete: list[tuple[Design, list[Checked]]] = []
    designs = correction_designs(session, project_id)
    for design in designs:
        answers = _answers(session, design, labels)
        if any(answer is None for _, answer in answers) or (not answers and any(design.details["false"])):
            continue
        checked = [_checked(answers, stratum, size) for stratum, size in enumerate(design.details["false"])]
        rng = np.random.default_rng([settings.seed, design.number])
        comparison = _comparison(design, checked[0], complete)
        design.details = {**design.details, "result": _figures(design, checked, rng) | comparison}
        complete.append((design, checked))
    return f"{len(complete)} of {len(designs)} corrections have figures"


def _answers(session: Session, design: Design, labels: Labels) -> list[tuple[int | None, AnswerKind | None]]:
    """Return the stratum of each of the design's tasks and its pair's label, whoever gave it and on whichever task."""
    tasks = session.execute(select(Task.stratum, Task.left_id, Task.right_id).where(Task.design_id == design.id))
    return [(stratum, labels.get((left, right))) for stratum, left, right in tasks]


def _checked(answers: Sequence[tuple[int | None, AnswerKind | None]], stratum: int, size: int) -> Checked:
    decided = [answer for place, answer in answers if place == stratum and answer in DECIDED]
    return Checked(size, len(decided), decided.count(AnswerKind.NEGATIVE))


def _figures(design: Design, checked: Sequence[Checked], rng: np.random.Generator) -> dict[str, Any]:
    """Return the number of labels, for each stratum those `sampled` and `false`, and the precisions."""
    forms = corrected_precision(design.details["true"], checked, rng)
    return {
        "labels": sum(stratum.labelled for stratum in checked),
        "sampled": [stratum.labelled for stratum in checked],
        "false": [stratum.real for stratum in checked],
    } | {name: estimate.as_dict() for name, estimate in forms.items()}


def _comparison(design: Design, near: Checked, before: Sequence[tuple[Design, Sequence[Checked]]]) -> dict[str, Any]:
    """Compare the near stratum with that of the last correction of another round at the same recall, if any."""
    for earlier, (earlier_near, *_) in reversed(before):
        same = earlier.details["recall"] == design.details["recall"]
        if same and earlier.details["round"] != design.details["round"] and near.labelled and earlier_near.labelled:
            rates = [near.rate, earlier_near.rate]
            return {
                "comparison": {"with_round": earlier.details["round"], "p": compare(near, earlier_near), "rates": rates}
            }
    return {}

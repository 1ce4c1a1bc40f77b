"""Corrections for tests: designs, their audit batches and labels, inserted directly."""

from itertools import combinations, islice
from typing import Any

import numpy as np
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind, DesignKind, Purpose, Split
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Design, Item, Round, Task
from allpairs.learner.evaluation.false_negatives import Checked, correct
from tests.helpers.figures.measured import answer_on

TRUE, FALSE = 120, [340, 55]


def add_correction(
    engine: Engine,
    project_id: int,
    number: int,
    labelled: int = 20,
    recall: float = 0.2,
    drawn: int = 20,
    result: dict[str, Any] | None = None,
) -> int:
    """Add a correction of the round, with an audit batch of `drawn` pairs, the first ones labelled; return its id."""
    with writing(engine) as session:
        matcher = matcher_of(session, project_id, number)
        assert matcher is not None
        details = {"round": number, "recall": recall, "threshold": 0.7312, "true": TRUE, "false": FALSE}
        design = Design(
            project_id=project_id, number=len(session.scalars(select(Design)).all()) + 1, kind=DesignKind.CORRECTION,
            matcher_id=matcher.id, pairs=7_140, strata=[], details=details | ({"result": result} if result else {}),
            folder="",
        )  # fmt: skip
        audit_batch = Round(project_id=project_id, strategy=DesignKind.CORRECTION, size=drawn, matcher_id=matcher.id)
        session.add_all([design, audit_batch])
        session.flush()
        items = session.scalars(select(Item.id).where(Item.project_id == project_id, Item.split == Split.EVALUATION))
        for position, (left, right) in enumerate(islice(combinations(sorted(items), 2), drawn)):
            task = Task(project_id=project_id, round_id=audit_batch.id, left_id=left, right_id=right, position=position,
                        strategy="correction", score=0.8, p=None, inclusion=0.1, stratum=position % 2,
                        design_id=design.id, purpose=Purpose.AUDIT)  # fmt: skip
            session.add(task)
            session.flush()
            if position < labelled:
                session.add(answer_on(task, AnswerKind.NEGATIVE, act=design.id))
        return design.id


def figures(real: tuple[int, int] = (16, 8), sampled: tuple[int, int] = (50, 10), **more: Any) -> dict[str, Any]:
    """Return the result that the job would store for these labels."""
    checked = [Checked(*numbers) for numbers in zip(FALSE, sampled, real, strict=True)]
    forms = correct(TRUE, checked, np.random.default_rng(0))
    return {
        "labels": sum(sampled), "sampled": list(sampled), "false": list(real),
        **{name: estimate.as_dict() for name, estimate in forms.items()}, **more,
    }  # fmt: skip

"""The job `rate` against a local server that plays a judge: what is measured, and what leaves the machine."""

import json
from itertools import combinations

import numpy as np
import pytest
from sqlalchemy import Engine, select, text

from allpairs.annotate.features.raters.project_raters import read_raters, read_worth, set_up
from allpairs.db.domain import AnswerKind
from allpairs.db.errors import InputError
from allpairs.db.estimate import Estimate
from allpairs.db.projects.jobs import RATE, add_job
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Base, Item
from allpairs.learner.jobs import rate as steps
from tests.helpers.factories import make_project
from tests.helpers.raters import allow, answer_pairs, judge, judging, setup

TEXTS = [f"text number {at}" for at in range(40)]
PAIRS = 300
ROUNDING = 1e-9


def labelled(engine: Engine) -> tuple[int, set[tuple[str, str]]]:
    """Return a project in which a person, Zenobia, labelled 300 pairs, and the texts of the matches."""
    project_id = make_project(engine, TEXTS, question="The same?", guidelines="Numbers count.")
    with reading(engine) as session:
        items = list(session.scalars(select(Item.id).order_by(Item.id)))
    texts, rng = dict(zip(items, TEXTS, strict=True)), np.random.default_rng(0)
    pairs = list(combinations(items, 2))[:PAIRS]
    is_match = rng.random(PAIRS) < 0.4
    said = [
        (pair, AnswerKind.POSITIVE if one else AnswerKind.NEGATIVE) for pair, one in zip(pairs, is_match, strict=True)
    ]
    answer_pairs(engine, project_id, said, who="Zenobia")
    return project_id, {(texts[a], texts[b]) for (a, b), one in zip(pairs, is_match, strict=True) if one}


def run(engine: Engine, project_id: int) -> str:
    with writing(engine) as session:
        job_id = add_job(session, project_id, RATE).id
    return steps.rate_pairs(job_id, *steps.plan_rating(project_id, PAIRS))


def holds(found: Estimate | None, true: float) -> bool:
    return found is not None and found.low <= true <= found.high + ROUNDING


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "pauses"),
    [(1.0, 1.0, False), (0.9, 0.95, False), (0.5, 0.5, True), (0.0, 0.0, True)],
)
def test_a_judges_quality_is_measured_and_a_useless_one_pauses(
    engine: Engine, sensitivity: float, specificity: float, pauses: bool
) -> None:
    project_id, matches = labelled(engine)
    with judging(judge(matches, sensitivity, specificity)) as served:
        set_up(engine, project_id, setup(url=served.url, examples=2, price_in=10.0))
        said = run(engine, project_id)
    worth = read_worth(engine, project_id)
    assert worth is not None and worth.quality.pairs == (100 if pauses else PAIRS), said
    assert holds(worth.quality.sensitivity, sensitivity) and holds(worth.quality.specificity, specificity)
    (rater,) = read_raters(engine, project_id)
    assert (rater.paused_at is not None) == pauses
    assert rater.cost == pytest.approx(worth.quality.pairs * 100 * 10 / 1e6)


def test_only_question_guidelines_and_texts_leave(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    project_id, matches = labelled(engine)
    with judging(judge(matches, 1.0, 1.0)) as served:
        allow(monkeypatch, keys="A_KEY@127.0.0.1")
        set_up(engine, project_id, setup(url=served.url, key_name="A_KEY"))
        monkeypatch.delenv("A_KEY", raising=False)
        with pytest.raises(InputError, match="has no A_KEY: start the worker"):
            run(engine, project_id)
        assert served.bodies == []
        monkeypatch.setenv("A_KEY", "sesame-4711")
        run(engine, project_id)
    assert {headers["Authorization"] for headers in served.headers} == {"Bearer sesame-4711"}
    sent = json.dumps(served.bodies)
    assert "Numbers count." in sent and "Zenobia" not in sent and "left-" not in sent and "sesame" not in sent
    with engine.connect() as connection:
        for table in Base.metadata.tables:
            assert "sesame" not in str(connection.execute(text(f'select * from "{table}"')).all()), table

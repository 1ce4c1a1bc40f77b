"""Notices: written with what happened, once, for the webhooks that want them."""

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, NoticeKind, Settings
from allpairs.db.estimate import Estimate
from allpairs.db.labels.answers import answer_at_once, store_answers
from allpairs.db.projects.jobs import add_job, fail_job
from allpairs.db.projects.notices import add_notice, announce_batch, announcing_target
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Delivery, Evaluation, Item, Notice, Round, StoredModel, now
from tests.helpers.factories import make_project
from tests.helpers.services.webhooks import add_webhook, notices

YES, NO, UNSURE, RETRACT = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE, AnswerKind.RETRACT


@pytest.fixture
def project(engine: Engine) -> int:
    return make_project(engine, ["a", "b", "c", "d"])


def test_only_webhooks_that_want_a_kind_are_told(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    wants = add_webhook(engine, project, NoticeKind.BATCH_READY)
    add_webhook(engine, project, NoticeKind.TRAINING_DONE)
    add_webhook(engine, project, NoticeKind.BATCH_READY, active=False)
    add_webhook(engine, other, NoticeKind.BATCH_READY)
    with writing(engine) as session:
        add_notice(session, project, NoticeKind.BATCH_READY, {"batch": 1})
        add_notice(session, project, NoticeKind.TARGET_REACHED, {})
    with reading(engine) as session:
        assert session.scalars(select(Delivery.webhook_id)).all() == [wants]
        (notice,) = session.scalars(select(Notice)).all()
    assert notice.body["type"] == "batch.ready" and notice.body["data"] == {"batch": 1}
    assert notice.body["project"] == {"id": project, "name": "Questions"}


def test_what_is_rolled_back_is_not_told(engine: Engine, project: int) -> None:
    add_webhook(engine, project)
    with pytest.raises(RuntimeError), writing(engine) as session:
        add_notice(session, project, NoticeKind.BATCH_READY, {})
        raise RuntimeError
    assert notices(engine) == []


def test_a_batch_is_told_unless_it_is_empty(engine: Engine, project: int) -> None:
    add_webhook(engine, project)
    with writing(engine) as session:
        for number, size in ((1, 0), (2, 7)):
            announce_batch(session, Round(project_id=project, number=number, strategy="uncertainty", size=size))
    assert notices(engine) == [("batch.ready", {"batch": 2, "pairs": 7, "strategy": "uncertainty"})]


def test_a_failed_round_is_told_once_however_often_it_says_so(engine: Engine, project: int) -> None:
    add_webhook(engine, project)
    with writing(engine) as session:
        job, other = add_job(session, project, "next_round"), add_job(session, project, "search")
        for _ in range(2):
            fail_job(session, job, "out of luck")
            fail_job(session, other, "out of luck, too")
    assert notices(engine) == [("training.failed", {"job": job.id, "error": "out of luck"})]


def give(session: Session, project: int, who: str, answer: AnswerKind, key: str, settles: bool = False) -> None:
    """Store an answer on the project's first pair."""
    items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
    store_answers(session, [
        {"project_id": project, "left_id": items[0], "right_id": items[1], "annotator": who, "answer": answer,
         "key": key, "created_at": now(), "settles": settles}
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("acts", "told"),
    [
        ([("ann", YES), ("bob", YES)], 0),
        ([("ann", YES), ("bob", NO)], 1),
        ([("ann", YES), ("bob", UNSURE)], 1),
        ([("ann", YES), ("ann", NO)], 0),
        ([("ann", YES), ("bob", NO), ("eve", NO)], 1),  # it goes on waiting
        ([("ann", YES), ("bob", NO), ("bob", RETRACT)], 1),
        ([("ann", YES), ("bob", NO), ("bob", YES), ("bob", NO)], 2),  # it waits anew
        ([("ann", YES), ("bob", NO), ("bob", AnswerKind.SKIP)], 1),
        ([("ann", YES), ("bob", NO), ("eve", YES, True)], 1),  # settled
        ([("ann", YES), ("bob", NO), ("eve", YES, True), ("dan", NO)], 2),  # and in dispute again
    ],
)
def test_a_pair_is_told_when_it_begins_to_wait_for_a_review(
    engine: Engine, project: int, acts: list[tuple[str, AnswerKind]], told: int
) -> None:
    add_webhook(engine, project)
    for at, act in enumerate(acts):
        with writing(engine) as session:
            give(session, project, act[0], act[1], f"k{at}", *act[2:])
        with writing(engine) as session:  # sent again
            give(session, project, act[0], act[1], f"k{at}", *act[2:])
    expected = {"number": 1, "pairs": [{"id1": "left-0", "id2": "left-1"}]}
    assert notices(engine) == [("disagreement.waiting", expected)] * told


def test_many_pairs_of_one_act_are_one_notice(engine: Engine, project: int) -> None:
    add_webhook(engine, project)
    with writing(engine) as session:
        items = session.scalars(select(Item.id).order_by(Item.id)).all()
        pairs = [(items[0], items[1]), (items[0], items[2]), (items[0], items[3])]
        answer_at_once(session, project, "ann", pairs, YES, "act-1")
        answer_at_once(session, project, "bob", pairs[1:], NO, "act-2")
    ((_, about),) = notices(engine)
    assert about["number"] == 2 and [pair["id2"] for pair in about["pairs"]] == ["left-2", "left-3"]


def measure(session: Session, project: int, number: int, precision: float) -> None:
    """Store a round's model with this exact precision."""
    row = StoredModel(project_id=project, number=number, encoder="x")
    session.add(row)
    session.flush()
    estimates = {"precision": Estimate(precision, precision, precision, "exact").as_dict()}
    session.add(Evaluation(matcher_id=row.id, pairs=6, positives=1, estimates=estimates, curve={}, histogram={}))


def test_a_target_is_announced_when_reached_and_after_a_loss(engine: Engine, project: int) -> None:
    add_webhook(engine, project)
    target = Settings().target_precision
    for number, precision in enumerate((0.1, target, 0.99, 0.1, 0.98)):
        with writing(engine) as session, announcing_target(session, project):
            measure(session, project, number, precision)
    assert [(kind, about["round"], about["precision"]["value"]) for kind, about in notices(engine)] == [
        ("target.reached", 1, target), ("target.reached", 4, 0.98),
    ]  # fmt: skip


@pytest.mark.parametrize("audited", [True, False])
def test_audit_labels_alone_say_whether_their_target_is_reached(engine: Engine, project: int, audited: bool) -> None:
    add_webhook(engine, project)
    with writing(engine) as session, announcing_target(session, project):
        measure(session, project, 1, 0.999)
        evaluation = session.scalars(select(Evaluation)).one()
        evaluation.audit = {"reached": {"target": 0.8, "precision_low": 0.7, "reached": audited}}
    assert bool(notices(engine)) == audited

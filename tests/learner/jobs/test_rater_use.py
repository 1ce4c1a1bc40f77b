"""What a machine rater's verdicts are used for, if the project says so: training, and the order of a batch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.db.domain import ROUTED, AnswerKind, Purpose, Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.projects.jobs import RATE
from allpairs.db.raters.rows import rater_in_use
from allpairs.db.raters.verdicts import judged_pairs
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, Job, Lease, MachineRater, Project, Task, now
from allpairs.learner.jobs import make_model
from allpairs.learner.jobs import next_round as steps
from allpairs.learner.jobs.data.project_data import read_labels, read_project, with_implied
from allpairs.learner.jobs.rate import plan_rating
from allpairs.learner.jobs.route import route_batch
from allpairs.learner.models.cosine_bert import Weighted
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import NEGATIVE, POSITIVE, answer, matcher_of, newest, run, texts
from tests.helpers.raters import add_rater, add_verdicts, verdicts


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    """Return a project of 30 texts on 6 topics, the last 10 for evaluation; texts of one topic match."""
    settings: dict[str, Any] = {"encoder": str(encoder), "first": 40, "growth": 1.0, "neighbours": 15, "epochs": 1}
    return make_project(engine, texts(), evaluation=10, **settings)


def use(engine: Engine, project_id: int, use: str) -> None:
    with writing(engine) as session:
        row = session.get_one(Project, project_id)
        row.settings = row.settings | {"rater_use": use}


def texts_of(engine: Engine) -> dict[int, str]:
    with reading(engine) as session:
        return dict(session.execute(select(Item.id, Item.text)).tuples().all())


def same(engine: Engine, tasks: list[Task]) -> dict[Pair, bool]:
    """Return whether the texts of each task are of one topic."""
    of = {item: text.split()[0] for item, text in texts_of(engine).items()}
    return {(task.left_id, task.right_id): of[task.left_id] == of[task.right_id] for task in tasks}


def answer_rightly(engine: Engine, project_id: int) -> None:
    batch, tasks = newest(engine, project_id)
    truth = same(engine, tasks)
    for task in tasks[: batch.size]:
        answer(engine, task, POSITIVE if truth[task.left_id, task.right_id] else NEGATIVE)


def rate(engine: Engine, project_id: int, wrong: bool = False) -> None:
    """Let the rater say of each pair of the batch, once, what is right, or the contrary."""
    said = verdicts(engine)
    truth = {pair: match for pair, match in same(engine, newest(engine, project_id)[1]).items() if pair not in said}
    with reading(engine) as session:
        rater = rater_in_use(session, project_id)
    assert rater is not None
    add_verdicts(engine, rater.id, [
        (pair, Verdict.YES if match is not wrong else Verdict.NO, None) for pair, match in truth.items()
    ])  # fmt: skip


def rated(engine: Engine, project_id: int, how: str, wrong: bool = False) -> int:
    """Make the first batch of a project that uses a rater; let both rate it. Return the rater."""
    use(engine, project_id, how)
    rater = add_rater(engine, project_id)
    run(engine, project_id)
    rate(engine, project_id, wrong)
    answer_rightly(engine, project_id)
    return rater


def taught(monkeypatch: pytest.MonkeyPatch) -> list[Weighted | None]:
    """Return where each training's further pairs will be."""
    found: list[Weighted | None] = []
    learn = make_model.train

    def train(*given: Any, **named: Any) -> Any:
        found.append(given[-1])
        return learn(*given, **named)

    monkeypatch.setattr(make_model, "train", train)
    return found


def test_verdicts_train_where_nobody_has_answered(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rater = rated(engine, project, "train")
    batch, tasks = newest(engine, project)
    assert len(tasks) > 3 * batch.size, "it reads beyond what people will label"
    answer(engine, tasks[-1], AnswerKind.UNSURE)
    with writing(engine) as session:
        measuring = session.scalars(select(Item.id).order_by(Item.id.desc())).all()[:2]
    add_verdicts(engine, rater, [((measuring[1], measuring[0]), Verdict.YES, None)])
    found = taught(monkeypatch)
    run(engine, project)
    own = found[0]
    assert own is not None and 0.3 < own.weight < 1
    assert len(own.pairs) == len(tasks) - batch.size - 1, (
        "neither answered pairs, unsure ones too, nor evaluation pairs"
    )
    truth = same(engine, tasks[batch.size : -1])
    assert own.pairs.positives == sum(truth.values())
    assert matcher_of(engine, 1).details["rater"] == {"name": "judge", "verdicts": len(own.pairs), "weight": own.weight}
    assert matcher_of(engine, 1).labels == 40, "verdicts are no labels"


def test_labels_that_others_imply_are_not_the_raters(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rated(engine, project, "train")
    found = taught(monkeypatch)
    run(engine, project)
    with writing(engine) as session:
        row = session.get_one(Project, project)
        row.settings = row.settings | {"implied": True}
    answer_rightly(engine, project)
    rate(engine, project)
    run(engine, project)
    before, own = found[0], found[1]
    assert before is not None and own is not None
    with reading(engine) as session:
        data = read_project(session, project)
        labelled = with_implied(read_labels(session, project, data, 1_000_000), data)
        plain = read_labels(session, project, data, 1_000_000)
    keys = [set(data.dataset.keys(one.left, one.right).tolist()) for one in (labelled, plain, own.pairs)]
    assert keys[0] > keys[1] and not keys[0] & keys[2]
    said = {data.dataset.keys(*data.rows(np.array([[left], [right]]))).item() for left, right in verdicts(engine)}
    assert (keys[0] - keys[1]) & said, "the rater had rated some of the implied pairs"


@pytest.mark.parametrize(("how", "wrong"), [("measure", False), ("train", True)])
def test_nothing_is_learned_from_a_measured_or_useless_rater(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch, how: str, wrong: bool
) -> None:
    rated(engine, project, how, wrong)
    found = taught(monkeypatch)
    run(engine, project)
    assert found == [None] and "rater" not in matcher_of(engine, 1).details


def test_people_are_asked_first_where_it_contradicts_the_matcher(engine: Engine, project: int) -> None:
    rater = rated(engine, project, "route")
    run(engine, project)
    batch, tasks = newest(engine, project)
    held, given = tasks[0], tasks[1]
    answer(engine, given, POSITIVE)
    with writing(engine) as session:
        session.add(Lease(task_id=held.id, annotator="bob", expires_at=now().replace(year=2100)))
    rate(engine, project)
    assert "spot checks" in route_batch(project)
    after = newest(engine, project)[1]
    assert [task.id for task in after[:2]] == [held.id, given.id], "leased and answered pairs keep their places"
    assert sorted(task.position for task in after) == [task.position for task in tasks]
    truth = same(engine, after)
    disputed = [((task.p or 0) > 0.5) != truth.get((task.left_id, task.right_id)) for task in after]
    routed = [task.strategy == ROUTED for task in after]
    audits = [task.id for task in tasks if task.purpose == Purpose.AUDIT]
    assert audits == [task.id for task in after if task.purpose == Purpose.AUDIT] and len(audits) == 8
    free = [one for task, one in zip(after[2 : batch.size], routed[2:], strict=False) if task.id not in audits]
    assert free.count(False) == round(0.2 * len(free))
    where = [at for at, is_disputed in enumerate(disputed) if is_disputed and routed[at]]
    assert 3 < len(where) < len(free) and where[-1] < batch.size, "people see all that is disputed"
    assert route_batch(project) == "", "once"
    answer_rightly(engine, project)
    with reading(engine) as session:
        seen = judged_pairs(session, session.get_one(MachineRater, rater))
    chosen = {(task.left_id, task.right_id) for task in after if task.strategy == ROUTED}
    assert not chosen & {one.pair for one in seen}, "what it errs in more often does not measure it"


@pytest.mark.parametrize(("how", "wrong"), [("train", False), ("route", True)])
def test_the_strategys_order_stays_without_a_useful_rater(engine: Engine, project: int, how: str, wrong: bool) -> None:
    rated(engine, project, how, wrong)
    run(engine, project)
    rate(engine, project, wrong)
    before = [task.id for task in newest(engine, project)[1]]
    assert route_batch(project) == ""
    assert [task.id for task in newest(engine, project)[1]] == before


def test_each_batch_is_rated_if_the_project_uses_its_rater(engine: Engine, project: int) -> None:
    run(engine, project)
    rater = add_rater(engine, project)
    assert steps.follow_with_rating("round-1", project) is None
    use(engine, project, "train")
    job_id, _, asked = steps.follow_with_rating("round-1", project) or pytest.fail("no job")
    tasks = newest(engine, project)[1]
    assert (job_id, asked) == (f"{RATE}-round-1", (2 * len(tasks),))
    assert steps.follow_with_rating("round-1", project) == (job_id, "cpu", asked)  # a step that runs again
    at_work, to_rate = plan_rating(project, *asked)
    assert at_work == rater and to_rate == [(task.left_id, task.right_id) for task in tasks]
    assert steps.follow_with_rating("round-2", project) is None  # the first one is open
    with writing(engine) as session:
        job = session.get_one(Job, job_id)
        assert job.kind == RATE
        job.state = "done"
    assert steps.follow_with_rating("round-2", project) is not None
    with writing(engine) as session:
        session.get_one(MachineRater, rater).paused_at = now()
    assert steps.follow_with_rating("round-3", project) is None

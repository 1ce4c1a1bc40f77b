"""The job `correction`, step by step: which pairs are drawn, once, and the figures from their labels."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import AnswerKind, DesignKind, Purpose, Split
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Design, Gold, Item, Job, Round, StoredModel, Task
from allpairs.learner.evaluation import false_negatives as correction
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.jobs import correction as steps
from allpairs.learner.models.encoder import load_encoder
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.projects.rounds import count, texts
from tests.helpers.services.webhooks import add_webhook, notices
from tests.helpers.tiny import tiny_encoder

POSITIVE, NEGATIVE, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE
EVALUATION = 40
keys = itertools.count()


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [tiny_encoder(tmp_path_factory.mktemp("correction"), texts(50), seed) for seed in range(2)]


@pytest.fixture
def project(engine: Engine, encoders: list[Path], monkeypatch: pytest.MonkeyPatch) -> int:
    """Return 50 texts, 40 for evaluation, a few pairs of one topic known; the encoder, and a matcher of round 1."""
    monkeypatch.setattr(correction, "NEAR", 2)
    project_id = make_project(engine, texts(50), evaluation=EVALUATION, encoder=str(encoders[0]))
    (artifacts() / "one").mkdir(parents=True)
    (artifacts() / "one" / "model").symlink_to(encoders[1])
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.split == Split.EVALUATION).order_by(Item.id)).all()
        session.add_all(
            Gold(project_id=project_id, left_id=items[i], right_id=items[i + 6], positive=True) for i in range(20)
        )
        session.add(StoredModel(project_id=project_id, number=0, encoder=str(encoders[0])))
        session.add(
            StoredModel(project_id=project_id, number=1, encoder=str(encoders[0]), folder="one/model", w=9.0, b=-6.0)
        )
    return project_id


def run(engine: Engine, project_id: int, number: int = 0, recall: float = 0.5, draw: int = 10) -> str:
    """Run the workflow's steps in order, and return the job's id."""
    with writing(engine) as session:
        job_id = add_job(session, project_id, steps.NAME).id
    if draw:
        for model in steps.MODELS:
            steps.encode_evaluation_items(job_id, project_id, number, model)
        steps.draw_false_positives(job_id, project_id, number, recall, draw)
    steps.measure_corrections(job_id, project_id)
    return job_id


def newest(engine: Engine) -> tuple[Design, list[Task]]:
    """Return the newest design and its tasks in order."""
    with reading(engine) as session:
        design = session.scalars(select(Design).order_by(Design.number.desc())).first()
        assert design is not None
        tasks = session.scalars(select(Task).where(Task.design_id == design.id).order_by(Task.position))
        return design, list(tasks)


def answer(engine: Engine, tasks: list[Task], kinds: Callable[[int], AnswerKind]) -> None:
    """Answer the i-th task with `kinds(i)`."""
    with writing(engine) as session:
        session.add_all(
            Answer(project_id=task.project_id, task_id=task.id, left_id=task.left_id, right_id=task.right_id,
                   annotator="ann", answer=kinds(i), key=f"key-{next(keys)}")
            for i, task in enumerate(tasks)
        )  # fmt: skip


def pair_of(task: Task) -> tuple[int, int]:
    return task.left_id, task.right_id


def pairs(tasks: list[Task]) -> set[tuple[int, int]]:
    return set(map(pair_of, tasks))


def expected(engine: Engine, encoder: Path, recall: float) -> dict[tuple[int, int], float]:
    """Return every putative false positive by its items, with its score."""
    with reading(engine) as session:
        items = session.scalars(select(Item).where(Item.split == Split.EVALUATION).order_by(Item.id)).all()
        gold = {(pair.left_id, pair.right_id) for pair in session.scalars(select(Gold))}
    vectors = load_encoder(str(encoder)).encode([item.text for item in items])
    scores = {
        (items[i].id, items[j].id): float(vectors[i] @ vectors[j])
        for i, j in itertools.combinations(range(EVALUATION), 2)
    }
    threshold = sorted((scores[pair] for pair in gold), reverse=True)[round(recall * len(gold)) - 1] - 1e-6
    return {pair: score for pair, score in scores.items() if score >= threshold and pair not in gold}


def near_pairs(engine: Engine, encoder: Path) -> set[tuple[int, int]]:
    """Return the pairs of evaluation items of which one is among the other's two nearest."""
    with reading(engine) as session:
        items = session.scalars(select(Item).where(Item.split == Split.EVALUATION).order_by(Item.id)).all()
    vectors = load_encoder(str(encoder)).encode([item.text for item in items])
    best = np.argsort(3 * np.eye(EVALUATION) - vectors @ vectors.T, axis=1)[:, :2]
    found = [(i, int(j)) for i in range(EVALUATION) for j in best[i]]
    return {(items[min(pair)].id, items[max(pair)].id) for pair in found}


def test_near_pairs_are_near_under_the_pre_trained_encoder(engine: Engine, project: int, encoders: list[Path]) -> None:
    run(engine, project, number=1)
    design, tasks = newest(engine)
    near = near_pairs(engine, encoders[0])
    assert [task.stratum for task in tasks] == [int(pair not in near) for pair in map(pair_of, tasks)]
    assert design.details["false"][0] == len(near & set(expected(engine, encoders[1], 0.5)))


def test_the_audit_batch_holds_pairs_of_both_strata(engine: Engine, project: int, encoders: list[Path]) -> None:
    add_webhook(engine, project)
    job_id = run(engine, project, number=1)
    design, tasks = newest(engine)
    about = {"batch": None, "pairs": len(tasks), "strategy": DesignKind.CORRECTION}
    assert notices(engine) == [("batch.ready", about)]
    every = expected(engine, encoders[1], 0.5)
    assert design.details["true"] == 10 and design.details["positives"] == 20
    assert sum(design.details["false"]) == len(every)
    assert pairs(tasks) <= set(every)
    assert [task.score for task in tasks] == pytest.approx([every[pair_of(task)] for task in tasks], abs=1e-5)
    assert [task.p for task in tasks] == pytest.approx(
        [1 / (1 + np.exp(6 - 9 * task.score)) for task in tasks], abs=1e-5
    )
    for stratum, size in enumerate(design.details["false"]):
        drawn = [task for task in tasks if task.stratum == stratum]
        assert len(drawn) == 10 < size
        assert {task.inclusion for task in drawn} == {10 / size}
    assert [task.stratum for task in tasks] != sorted(task.stratum or 0 for task in tasks)  # nobody can tell
    assert {(task.purpose, task.strategy) for task in tasks} == {(Purpose.AUDIT, "correction")}
    assert (design.kind, design.number, design.pairs) == (DesignKind.CORRECTION, 1, EVALUATION * (EVALUATION - 1) // 2)
    assert [stratum["name"] for stratum in design.strata] == ["near", "random"]
    with reading(engine) as session:
        audit_batch = session.scalars(select(Round)).one()
    assert (audit_batch.number, audit_batch.size, audit_batch.strategy) == (None, 20, "correction")
    assert audit_batch.matcher_id == design.matcher_id
    assert not (artifacts() / f"project-{project}" / job_id).exists()


def test_the_threshold_is_that_of_the_evaluation(engine: Engine, project: int, encoders: list[Path]) -> None:
    run(engine, project, recall=0.25)
    details = newest(engine)[0].details
    vectors = load_encoder(str(encoders[0])).encode(texts(50)[-EVALUATION:])
    measured = evaluate_exact(vectors, vectors, np.array([[i, i + 6] for i in range(20)]), True)
    assert measured is not None
    at = int(np.searchsorted(measured.curve.recall, 0.25 - 1e-9))
    assert details["true"] / (details["true"] + sum(details["false"])) == pytest.approx(measured.curve.precision[at])


def test_figures_come_when_all_pairs_are_labelled(engine: Engine, project: int) -> None:
    run(engine, project, number=1)
    design, tasks = newest(engine)
    assert "result" not in design.details
    answer(engine, tasks[:-1], lambda i: POSITIVE if i % 4 == 0 else NEGATIVE)
    run(engine, project, draw=0)
    assert "result" not in newest(engine)[0].details
    answer(engine, tasks[-1:], lambda i: UNSURE)
    run(engine, project, draw=0)
    design, _ = newest(engine)
    result, sizes, true = design.details["result"], design.details["false"], design.details["true"]
    assert result["labels"] == sum(result["sampled"]) == 19
    assert sum(result["false"]) == 14
    rates = [real / n for real, n in zip(result["false"], result["sampled"], strict=True)]
    real = sum(rate * size for rate, size in zip(rates, sizes, strict=True))
    assert result["uncorrected"]["value"] == pytest.approx(true / (true + sum(sizes)))
    assert result["consistent"]["value"] == pytest.approx(1 - real / (true + sum(sizes)))
    assert result["paper"]["value"] == pytest.approx(true / (true + real))
    assert result["consistent"]["low"] < result["consistent"]["value"] < result["consistent"]["high"]
    assert count(engine, Round) == 1
    assert "comparison" not in result


def test_all_are_drawn_where_fewer_exist_with_no_uncertainty(engine: Engine, project: int) -> None:
    run(engine, project, recall=0.1, draw=10_000)
    design, tasks = newest(engine)
    assert len(tasks) == sum(design.details["false"])
    assert {task.inclusion for task in tasks} == {1.0}
    answer(engine, tasks, lambda i: POSITIVE if i % 2 else NEGATIVE)
    run(engine, project, draw=0)
    found = newest(engine)[0].details["result"]["consistent"]
    assert found["low"] == found["value"] == found["high"]


def test_a_second_matcher_is_compared_and_shares_labels(engine: Engine, project: int) -> None:
    run(engine, project, number=0, draw=15)
    first = newest(engine)[1]
    answer(engine, first, lambda i: NEGATIVE)
    run(engine, project, number=1, draw=15)
    design, second = newest(engine)
    shared = pairs(first) & pairs(second)
    assert design.number == 2 and shared  # the same numbers are drawn
    answer(engine, [task for task in second if pair_of(task) not in shared], lambda i: POSITIVE)
    run(engine, project, draw=0)
    result = newest(engine)[0].details["result"]
    assert result["labels"] == 30
    assert sum(result["false"]) == len(shared)
    comparison = result["comparison"]
    assert comparison["with_round"] == 0
    assert comparison["rates"] == [result["false"][0] / 15, 1.0]
    assert 0 < comparison["p"] < 0.01


def test_other_recalls_and_the_same_round_are_not_compared(engine: Engine, project: int) -> None:
    for number, recall in ((0, 0.5), (0, 0.5), (1, 0.3)):
        run(engine, project, number=number, recall=recall)
        answer(engine, newest(engine)[1], lambda i: NEGATIVE)
        run(engine, project, draw=0)
        assert "comparison" not in newest(engine)[0].details["result"]


def test_a_larger_draw_goes_on_where_the_first_ended(engine: Engine, project: int) -> None:
    run(engine, project, draw=5)
    small = pairs(newest(engine)[1])
    with pytest.raises(InputError, match="audit batch is open"):
        run(engine, project, draw=12)
    answer(engine, newest(engine)[1], lambda i: NEGATIVE)
    run(engine, project, draw=12)
    assert small < pairs(newest(engine)[1])


def test_every_step_may_run_twice(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        job_id = add_job(session, project, steps.NAME).id
    for model in steps.MODELS * 2:
        steps.encode_evaluation_items(job_id, project, 1, model)
    for _ in range(2):
        steps.draw_false_positives(job_id, project, 1, 0.5, 10)
    assert [steps.measure_corrections(job_id, project) for _ in range(2)] == ["0 of 1 corrections have figures"] * 2
    assert (count(engine, Design), count(engine, Round), count(engine, Task)) == (1, 1, 20)
    answer(engine, newest(engine)[1], lambda i: POSITIVE if i % 3 else NEGATIVE)
    told = [(steps.measure_corrections(job_id, project), newest(engine)[0].details["result"]) for _ in range(2)]
    assert told[0] == told[1] and told[0][0].startswith("1 of 1")


def test_nothing_to_check_is_a_precision_of_one(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = correction.Pairs(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, np.float32)))
    monkeypatch.setattr(steps, "find_putative", lambda *_: correction.Putative(0.9, 4, found))
    run(engine, project)
    design, tasks = newest(engine)
    assert tasks == [] and count(engine, Round) == 0
    assert design.details["result"]["consistent"]["value"] == 1.0


def test_a_dropped_audit_batch_without_labels_has_no_figures(engine: Engine, project: int) -> None:
    run(engine, project)
    with writing(engine) as session:
        session.delete(session.scalars(select(Round)).one())
    run(engine, project, draw=0)
    assert "result" not in newest(engine)[0].details


def test_a_replaced_matchers_correction_stays_as_it_was(engine: Engine, project: int) -> None:
    run(engine, project, number=1)
    answer(engine, newest(engine)[1], lambda i: NEGATIVE)
    with writing(engine) as session:
        session.execute(Round.__table__.update().values(matcher_id=None))
        session.delete(session.scalars(select(StoredModel).where(StoredModel.number == 1)).one())
    run(engine, project, draw=0)
    assert "result" not in newest(engine)[0].details


def test_a_project_of_two_lists(engine: Engine, encoders: list[Path]) -> None:
    project = make_project(engine, texts(20), right=texts(40)[20:], name="Two", evaluation=10, encoder=str(encoders[0]))
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
        session.add_all(
            Gold(project_id=project, left_id=items[10 + i], right_id=items[20 + i], positive=True) for i in range(8)
        )
        session.add(StoredModel(project_id=project, number=0, encoder=str(encoders[0])))
    run(engine, project, draw=3)
    with reading(engine) as session:
        sides = {item.id: (item.side, item.split) for item in session.scalars(select(Item))}
    _, tasks = newest(engine)
    assert tasks
    for task in tasks:
        assert sides[task.left_id] == ("left", "evaluation")
        assert sides[task.right_id] == ("right", "both")


def test_an_unknown_round_and_a_project_without_gold_are_told(engine: Engine, project: int) -> None:
    with pytest.raises(InputError, match="round 7 has no model"):
        run(engine, project, number=7)
    with writing(engine) as session:
        session.query(Gold).delete()
    with pytest.raises(InputError, match="none of the known"):
        run(engine, project)


@pytest.mark.parametrize("step", ["encode", "draw"])
def test_a_cancelled_job_stops(engine: Engine, project: int, step: str) -> None:
    with writing(engine) as session:
        job_id = add_job(session, project, steps.NAME).id
    calls: dict[str, Callable[[], Any]] = {
        "encode": lambda: [steps.encode_evaluation_items(job_id, project, 0, model) for model in steps.MODELS],
        "draw": lambda: steps.draw_false_positives(job_id, project, 0, 0.5, 10),
    }
    if step == "draw":
        calls["encode"]()
    with writing(engine) as session:
        session.get_one(Job, job_id).cancel = True
    with pytest.raises(Cancelled):
        calls[step]()
    assert count(engine, Design) == 0


def test_the_app_asks_for_the_job_by_its_name() -> None:
    assert jobs.CORRECTION == steps.NAME


def test_no_two_jobs_have_a_step_of_one_name() -> None:
    """The queue identifies a step by its function's name alone: a second one would replace the first."""
    sources = "\n".join(path.read_text() for path in (ROOT / "learner" / "jobs").rglob("*.py"))
    names = re.findall(r"^@(?:job_step|job_workflow\(.*\))\ndef (\w+)", sources, re.MULTILINE)
    assert len(names) >= 9 and len(names) == len(set(names))

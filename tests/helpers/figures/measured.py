"""Projects with measured rounds for tests: matchers, evaluations, batches and answers, inserted directly."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, Queue, Side, Split
from allpairs.db.estimate import Estimate
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Answer, Evaluation, Gold, Item, Job, Round, StoredModel, Task, Worker
from tests.helpers.factories import make_project, make_round

SIZES = (40, 60, 90, 135)  # n1 = 40, growth 3/2
POSITIVES = (9, 24, 41, 58)
EVALUATION = 120


def make_measured_project(
    engine: Engine,
    name: str = "Help desk questions",
    rounds: int = 5,
    half_width: float = 0.0,
    stated: bool = False,
    audit_needs: int | None = None,
) -> int:
    """Make a project with the pre-trained encoder and `rounds - 1` trained rounds, measured by gold; return its id.

    `half_width` gives the estimates an interval, as a sampled evaluation would; `stated` adds figures on known pairs;
    `audit_needs` adds an audit of the other pairs, which needs so many more labels.
    """
    project_id = _make_help_desk(engine, name)
    add_gold(engine, project_id, 30)
    evaluations = [deepcopy(_by_gold(number, half_width, stated)) for number in range(rounds)]
    if audit_needs is not None:
        for number, evaluation in enumerate(evaluations):
            audited = _by_audit(number, audit_needs, {})
            evaluation["audit"] = audited["audit"] | ({} if audit_needs else {"estimates": audited["estimates"]})
            if audit_needs:
                evaluation["audit"]["strata"] = [_unlabelled(one) for one in audited["audit"]["strata"]]
    _add_rounds(engine, project_id, evaluations)
    return project_id


def _unlabelled(stratum: dict[str, Any]) -> dict[str, Any]:
    """Return the stratum as it is before any of its pairs is labelled."""
    kept = {name: value for name, value in stratum.items() if not name.startswith("rate")}
    return kept | {"sampled": 0, "positives": 0, "weight": None}


def make_audited_project(
    engine: Engine, name: str = "Help desk questions", rounds: int = 5, needed: int = 0, **audit: Any
) -> int:
    """Make a project without gold, measured by audit labels; `audit` replaces parts of the audit. Return its id.

    While labels are needed, nothing is measured.
    """
    project_id = _make_help_desk(engine, name)
    _add_rounds(engine, project_id, [_by_audit(number, needed, audit) for number in range(rounds)])
    return project_id


def _make_help_desk(engine: Engine, name: str) -> int:
    texts = [f"How do I reset the password of account {i}?" for i in range(EVALUATION + 60)]
    return make_project(engine, texts, name=name, evaluation=EVALUATION, auto_train=False)


def _add_rounds(engine: Engine, project_id: int, evaluations: list[dict[str, Any]]) -> None:
    """Add a matcher for each evaluation, and an answered batch between any two."""
    for number, evaluation in enumerate(evaluations):
        add_matcher(engine, project_id, number, evaluation)
        if number < len(evaluations) - 1:
            answer_round(engine, make_round(engine, project_id, SIZES[number]), POSITIVES[number], day=number)


def add_gold(engine: Engine, project_id: int, positives: int, split: Split = Split.EVALUATION) -> None:
    """Make the first items of the split positives of their neighbours."""
    with writing(engine) as session:
        items = _items(session, project_id, split)
        session.add_all(
            Gold(project_id=project_id, left_id=items[2 * i], right_id=items[2 * i + 1], positive=True)
            for i in range(positives)
        )


def _items(session: Session, project_id: int, split: Split) -> list[int]:
    wanted = select(Item.id).where(Item.project_id == project_id, Item.split == split, Item.side == Side.LEFT)
    return list(session.scalars(wanted.order_by(Item.id)))


def add_matcher(engine: Engine, project_id: int, number: int, evaluation: dict[str, Any]) -> int:
    """Add a matcher with an evaluation of these columns and return its id."""
    w, b = _layer(number)
    with writing(engine) as session:
        matcher = StoredModel(
            project_id=project_id,
            number=number,
            folder=f"matchers/{project_id}-{number}" if number else None,
            encoder="all-MiniLM-L6-v2",
            w=w,
            b=b,
            cutoff=sum(SIZES[:number]),
            labels=sum(SIZES[:number]),
            positives=sum(POSITIVES[:number]),
            details={
                "seed": 7,
                "hubness": 0.25,
                "lexical": {"ngrams": 0.42, "words": 0.1},
                "loss": 0.31,
                "seconds": {"train": 14.2, "encode": 3.1, "search": 0.4},
            }
            if number
            else {},
        )
        session.add(matcher)
        session.flush()
        session.add(Evaluation(matcher_id=matcher.id, **evaluation))
        return matcher.id


def _layer(number: int) -> tuple[float | None, float | None]:
    """Return w and b of a round; None for the pre-trained encoder."""
    return (14.0 + number, -9.0 - number / 2) if number else (None, None)


@cache
def _by_gold(number: int, half_width: float, stated: bool) -> dict[str, Any]:
    """Return an evaluation over random scores that separate positives better from round to round."""
    rng = np.random.default_rng(number)
    positive = np.clip(rng.normal(0.56 + 0.035 * number, 0.15, 600), -1, 1)
    negative = np.clip(rng.normal(0.13, 0.16, 200_000), -1, 1)
    score = np.sort(positive)[::-1]
    true = np.arange(1, len(score) + 1)
    false = len(negative) - np.searchsorted(np.sort(negative), score)
    recall, precision = true / len(score), true / (true + false)
    values = {
        "average_precision": float(np.sum(np.diff(recall, prepend=0) * precision)),
        "precision_at_recall_20": float(precision[np.searchsorted(recall, 0.2)]),
        **_at_threshold(number, positive, negative),
        **(STATED_FIGURES if stated else {}),
    }
    edges = np.linspace(score[-1], 1.0001, 61)
    kept = slice(None, None, 2)
    return {
        "pairs": len(negative) + len(score),
        "positives": len(score),
        "estimates": {name: _stored(value, half_width) for name, value in values.items()}
        | {"positives": _stored(len(score), 0.0)},
        "curve": {"recall": recall[kept].tolist(), "precision": precision[kept].tolist(), "score": score[kept].tolist()}
        | (_band(precision[kept], half_width) if half_width else {}),
        "histogram": {
            "edges": edges.tolist(),
            "negatives": np.histogram(negative, edges)[0].tolist(),
            "positives": np.histogram(positive, edges)[0].tolist(),
            "below": int((negative < edges[0]).sum()),
        },
    }


STATED_FIGURES = {"stated_accuracy": 0.912, "stated_f1": 0.884}


def _at_threshold(number: int, positive: np.ndarray, negative: np.ndarray) -> dict[str, float]:
    """Return the figures at the matcher's threshold; empty for the pre-trained encoder."""
    w, b = _layer(number)
    if w is None or b is None:
        return {}
    true, false = int((positive >= -b / w).sum()), int((negative >= -b / w).sum())
    precision, recall = true / (true + false), true / len(positive)
    f1 = 2 * precision * recall / (precision + recall)
    return {"precision": precision, "recall": recall, "f1": f1, "calibration_error": 0.021 - 0.002 * number}


def _band(precision: np.ndarray, half_width: float) -> dict[str, list[float]]:
    low, high = np.clip(precision - half_width, 0, 1), np.clip(precision + half_width, 0, 1)
    return {"low": low.tolist(), "high": high.tolist()}


def _stored(value: float, half_width: float, method: str = "near-random", labels: int = 0) -> dict[str, Any]:
    low, high = (value, value) if value > 1 else (max(0.0, value - half_width), min(1.0, value + half_width))
    return Estimate(value, low, high, method if half_width else "exact", labels).as_dict()


RATES = (0.92, 0.8, 0.62, 0.41, 0.22, 0.1, 0.04, 0.012, 0.003, 0.0006)  # of positives, by stratum
AUDITED_SIZES = (128, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
FAR_SIZE = 4_432_964
SAMPLED = 18  # labels of each stratum
AUDITED_AP = (0.31, 0.44, 0.53, 0.58, 0.6)


def _by_audit(number: int, needed: int, replaced: dict[str, Any]) -> dict[str, Any]:
    """Return an evaluation from audit labels of ten strata and the tail."""
    audit = _audit(number) | {"needed": needed} | replaced
    average = AUDITED_AP[number]
    recall = np.linspace(0.01, 1, 100)
    precision = (0.55 + average / 2) * (1 - recall ** (1 + 3 * average)) + 0.02
    edges = np.linspace(-0.2, 1, 61)
    middle = (edges[1:] + edges[:-1]) / 2
    density = np.exp(-(((middle - 0.13) / 0.16) ** 2) / 2)
    pairs = np.round(density / density.sum() * (sum(AUDITED_SIZES) + FAR_SIZE)).astype(int)
    return {
        "pairs": sum(AUDITED_SIZES) + FAR_SIZE,
        "positives": None,
        "estimates": {} if needed else _audited_figures(number, audit["labels"]),
        "curve": {} if needed else {"recall": recall.tolist(), "precision": precision.tolist(),
                                    "score": (0.95 - 0.5 * recall).tolist(), **_band(precision, 0.08)},
        "histogram": {"edges": edges.tolist(), "pairs": pairs.tolist()},
        "audit": audit,
    }  # fmt: skip


def _audited_figures(number: int, labels: int) -> dict[str, Any]:
    average = AUDITED_AP[number]
    values = {"average_precision": average, "precision_at_recall_20": 0.5 + average * 0.7}
    if number:
        values |= {"precision": 0.6 + 0.05 * number, "recall": 0.48 + 0.03 * number, "f1": 0.55 + 0.03 * number}
    positives = Estimate(1348.0, 1020.0, 1790.0, "audit", labels).as_dict()
    return {name: _stored(value, 0.08, "audit", labels) for name, value in values.items()} | {"positives": positives}


def _audit(number: int) -> dict[str, Any]:
    strata = [_stratum(place, rate, size) for place, (rate, size) in enumerate(zip(RATES, AUDITED_SIZES, strict=True))]
    top = sum(AUDITED_SIZES)
    below = {"name": f"pairs {top + 1:,} to {top + FAR_SIZE:,}", "low": -1.0, "high": 0.42, "size": FAR_SIZE,
             "sampled": 20, "positives": 0, "far": True, "rate": 2e-5, "rate_low": 1e-7, "rate_high": 9e-5}  # fmt: skip
    gained = AUDITED_AP[number] - AUDITED_AP[number - 1]
    changes = {
        "average_precision": {"value": gained, "low": gained - 0.03, "high": gained + 0.03, "since": number - 1},
        "precision_at_recall_20": {"value": 0.7 * gained, "low": 0.01, "high": 0.2, "since": number - 1},
    }
    return {
        "design": 1,
        "labels": SAMPLED * len(RATES) + 20,
        "positives": sum(stratum["positives"] for stratum in strata),
        "unsure": 3,
        "needed": 0,
        "strata": [*strata, below],
        "top": {
            "pairs": sum(AUDITED_SIZES),
            "estimates": {
                "average_precision": _stored(AUDITED_AP[number] + 0.07, 0.04, "audit", SAMPLED * len(RATES)),
                "precision_at_recall_20": _stored(0.53 + AUDITED_AP[number] * 0.7, 0.05, "audit", SAMPLED * len(RATES)),
            },
        },
        "halve": 480,
        "below": 0.8,
        "reached": {"target": 0.8, "precision_low": 0.697, "reached": False} if number else None,
        "changes": changes if number else {},
        "beyond": 0.034 if number else 0.0,
        "reliability": [_tenth(place, number) for place in range(10)] if number else [],
    }


def _tenth(place: int, number: int) -> dict[str, Any]:
    """Return a tenth of p; the earlier the round, the more its probabilities are too high."""
    p = 0.0004 if place == 0 else place / 10 + 0.05
    share = p ** (1.8 - 0.15 * number)
    pairs = 4_400_000 if place == 0 else 2_000 - 190 * place
    return {"p_from": place / 10, "p_to": (place + 1) / 10, "p": p, "share": share, "low": share * 0.7,
            "high": min(1.0, share * 1.25 + 0.01), "pairs": pairs}  # fmt: skip


def _stratum(place: int, rate: float, size: int) -> dict[str, Any]:
    low, high, end = 0.95 - 0.05 * (place + 1), 0.95 - 0.05 * place, sum(AUDITED_SIZES[: place + 1])
    return {"name": f"pairs {end - size + 1:,} to {end:,}", "low": low, "high": high, "size": size, "sampled": SAMPLED,
            "positives": round(rate * SAMPLED), "weight": size / SAMPLED, "far": False, "rate": rate,
            "rate_low": rate * 0.5, "rate_high": min(1.0, rate * 1.6 + 0.01 * rate)}  # fmt: skip


MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def answer_round(engine: Engine, round_id: int, positives: int, unsure: int = 2, day: int = 0) -> None:
    """Answer every task of the batch, some as positive and unsure, by Ada and Ben alternately.

    The answers are given so many days after a Monday.
    """
    rng = np.random.default_rng(round_id)
    with writing(engine) as session:
        batch = session.get_one(Round, round_id)
        tasks = session.scalars(select(Task).where(Task.round_id == round_id).order_by(Task.position)).all()
        for task in tasks[: batch.size]:
            kind = AnswerKind.NEGATIVE
            if task.position < positives + unsure:
                kind = AnswerKind.POSITIVE if task.position < positives else AnswerKind.UNSURE
            answer = answer_on(task, kind, "ben" if task.position % 3 == 2 else "ada")
            answer.created_at = MONDAY + timedelta(days=day, seconds=8 * task.position)
            answer.seconds = round(float(rng.lognormal(1.5 if answer.annotator == "ada" else 1.9, 0.7)), 3)
            session.add(answer)


def answer_on(task: Task, kind: AnswerKind, annotator: str = "ada", act: int = 0) -> Answer:
    """Return an annotator's answer on a task's pair; a further answer on the same pair needs another `act`."""
    return Answer(project_id=task.project_id, task_id=task.id, left_id=task.left_id, right_id=task.right_id,
                  annotator=annotator, answer=kind, key=f"{annotator}-{task.id}-{act}")  # fmt: skip


def add_job(engine: Engine, project_id: int, id_: str = "job-1", **columns: object) -> str:
    """Add a job row and return its id."""
    with writing(engine) as session:
        session.add(Job(id=id_, project_id=project_id, **({"kind": "next_round"} | columns)))
    return id_


def add_worker(engine: Engine, host: str = "desk", device: str = "cpu") -> None:
    """Add a worker that has just reported."""
    with writing(engine) as session:
        session.add(Worker(executor_id=f"{host}-1", host=host, pid=4711, device=device, queue=Queue.CPU))


def write_model_folder(home: Path, folder: str) -> Path:
    """Write the folder of a trained matcher, with small files instead of weights, and return it."""
    path = home / "artifacts" / folder
    (path / "1_Pooling").mkdir(parents=True)
    (path / "matcher.json").write_text('{"w": 15.0, "b": -9.5}')
    (path / "model.safetensors").write_bytes(bytes(range(256)) * 512)
    (path / "1_Pooling" / "config.json").write_text("{}")
    return path

"""A label is the answer that counts for a pair. Every page, the API and the exports count the same ones."""

from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import look, record, serve
from allpairs.annotate.features.labels.export import page_of_labels
from allpairs.annotate.features.projects.lifecycle import holdings
from allpairs.annotate.features.projects.list_view import read_overview
from allpairs.annotate.features.projects.projects import list_projects
from allpairs.annotate.features.quality.activity import read_tally
from allpairs.annotate.features.settings.progress import situation_of
from allpairs.db.domain import AnswerKind, Purpose
from allpairs.db.projects import metrics
from allpairs.db.schema.engine import reading
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round
from tests.helpers.web import browser, site

TRAINED, AUDITED = 6, 3


def answer_everything(engine: Engine, project_id: int) -> None:
    """Give answers of every kind: counting ones, a changed one, one undone, a skip, and those of an audit set."""
    batch = [pair.task_id for pair in serve(engine, project_id, "ada")[0]]
    audits = [pair.task_id for pair in serve(engine, project_id, "ada", audit_batch=True)[0]]
    *counting, undone, skipped = batch
    _answer(engine, project_id, [*counting, undone, *audits], AnswerKind.POSITIVE)
    _answer(engine, project_id, counting[:2], AnswerKind.NEGATIVE)
    _answer(engine, project_id, [undone], AnswerKind.RETRACT)
    _answer(engine, project_id, [skipped], AnswerKind.SKIP)


def _answer(engine: Engine, project_id: int, tasks: list[int], kind: AnswerKind) -> None:
    events = [{"key": f"{kind}-{task}", "task_id": task, "answer": kind} for task in tasks]
    assert len(record(engine, project_id, "ada", events).stored) == len(tasks)


def test_every_place_counts_the_same_labels(engine: Engine) -> None:
    project_id = make_project(
        engine, [f"text {i}" for i in range(30)], evaluation=8, auto_train=False, repeat_share=0.5
    )
    make_round(engine, project_id, TRAINED + 2)
    make_design(engine, project_id)
    make_audit_batch(engine, project_id, AUDITED)
    answer_everything(engine, project_id)
    (row,) = list_projects(engine)
    overview = read_overview(engine, project_id)
    with reading(engine) as session:
        exported_metrics = sum(count for _, _, count in metrics.label_numbers(session))
    counts = {
        "Overview and Projects": overview.labels.total(),
        "command line and API": sum(row.answers.values()),
        "Monitor": sum(one.count for one in read_tally(engine, project_id)),
        "Export": len(page_of_labels(engine, project_id, 0, 1000)[0]),
        "Settings": situation_of(engine, project_id).labels,
        "deletion": holdings(engine, project_id).labels,
        "Prometheus": exported_metrics,
        "API": browser(site(forced=False)).get("/projects").json()["projects"][0]["labels"],
    }
    assert set(counts.values()) == {TRAINED + AUDITED}, counts
    assert overview.labels == {Purpose.TRAIN: TRAINED, Purpose.AUDIT: AUDITED}
    positives = sum(one.count for one in read_tally(engine, project_id) if one.answer == AnswerKind.POSITIVE)
    assert look(engine, project_id, "ada").progress.all_positives == positives == row.answers[AnswerKind.POSITIVE]
    assert sum(overview.days) == TRAINED + AUDITED + 2  # answers: those that were changed, too, not those undone

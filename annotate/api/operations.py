"""What each address of the REST API does: it calls the page's service and converts the result to a response model."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Engine

from allpairs.annotate.access.roles import Right
from allpairs.annotate.api import models as m
from allpairs.annotate.explore.kept_groups import Told, read_changes, read_groups
from allpairs.annotate.jobs import requests as jobs
from allpairs.annotate.labelling.queue import record, serve
from allpairs.annotate.labelling.shown_pairs import Pair
from allpairs.annotate.labels.export import page_of_labels
from allpairs.annotate.monitor.rounds import read_report
from allpairs.annotate.projects import change_texts as texts
from allpairs.annotate.projects import webhooks as hooks
from allpairs.annotate.projects.projects import ProjectRow, list_projects, project_by_name
from allpairs.annotate.publish import matching, publications
from allpairs.annotate.text.measures import TITLES, estimate
from allpairs.annotate.web.problems import AWAY, Wrong
from allpairs.db.domain import DeliveryState, Scope, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.webhooks import Logged
from allpairs.db.schema.tables import (
    Evaluation,
    GroupUpdate,
    Job,
    Matcher,
    Project,
    Publication,
    ShadowCounts,
    Webhook,
)


@dataclass(frozen=True)
class Call:
    """A checked request: who asks for what."""

    engine: Engine  # for whoever asks
    annotator: str
    project: Project | None
    job_id: str = ""
    webhook_id: int = 0
    given: Any = None  # the body, or the query

    @property
    def here(self) -> Project:
        """The project that the address names."""
        assert self.project is not None
        return self.project


@dataclass(frozen=True)
class Operation:
    """An address with its method, and everything that its description says."""

    method: str
    path: str
    answer: Callable[[Call], BaseModel]
    result: type[BaseModel]
    scope: Scope  # of the token
    takes: type[BaseModel] | None = None  # the body of a POST, the query of a GET
    right: Right | None = None  # in the project; without one: any role
    status: int = 200
    problems: dict[int, str] = field(default_factory=dict)  # beyond those of every address

    @property
    def name(self) -> str:
        """The operation's id in the OpenAPI document."""
        return self.answer.__name__


def projects(call: Call) -> m.Projects:
    """List the projects in which the token's person has a role, without archived ones."""
    return m.Projects(projects=[_project(row) for row in list_projects(call.engine)])


def project(call: Call) -> m.Project:
    """Show one project, with its question and guidelines."""
    return _project(project_by_name(call.engine, call.here.name))


def _project(row: ProjectRow) -> m.Project:
    return m.Project(
        id=row.id, name=row.name, kind=row.kind, state="archived" if row.state == "archived" else "active",
        question=row.settings.question, guidelines=row.settings.guidelines, created_at=row.created_at,
        rounds=row.rounds, labels=sum(row.answers.values()),
    )  # fmt: skip


def next_tasks(call: Call) -> m.Tasks:
    """Lease the next pairs to the token's person for ten minutes; pairs they already hold come first."""
    if call.here.archived_at is not None:
        raise InputError(f"the project {call.here.name!r} is archived: restore it on the page “Projects” first")
    pairs, standing = serve(call.engine, call.here.id, call.annotator, call.given.n, call.given.audit_batch)
    progress = standing.progress
    return m.Tasks(
        tasks=[_task(pair) for pair in pairs],
        reason=standing.reason,
        free_at=standing.free_at,
        progress=m.Progress(number=progress.number, size=progress.size, answered=progress.answered),
    )


def _task(pair: Pair) -> m.Task:
    rows = [m.Row(column=column, left=left, right=right) for column, left, right in pair.rows]
    return m.Task(id=pair.task_id, left=pair.left, right=pair.right, rows=rows)


def answers(call: Call) -> m.Receipt:
    """Store acts of the token's person: answers, skips and retractions.

    An act that is already stored is not stored again. An answer counts even if its lease has expired, as in the app, so
    that no label is lost. It is stored under the person's name, whoever now holds the lease. Starts the training that
    is due.
    """
    # A key is unique in the whole database: another person's or project's key must not collide with this one.
    keys = {_key(call, act.key): act.key for act in call.given.answers}
    events = [act.model_dump() | {"key": _key(call, act.key)} for act in call.given.answers]
    receipt = record(call.engine, call.here.id, call.annotator, events)
    return m.Receipt(
        stored=[keys[key] for key in receipt.stored],
        refused=[
            m.Refusal(key=key, reason=receipt.refused[own]) for own, key in keys.items() if own in receipt.refused
        ],
    )


def _key(call: Call, key: str) -> str:
    return f"api-{sha256(f'{call.here.id} {key} {call.annotator}'.encode()).hexdigest()}"


def labels(call: Call) -> m.Labels:
    """List the labels that count now, one for each pair, in the order in which they were given."""
    rows, cursor = page_of_labels(call.engine, call.here.id, call.given.cursor, call.given.limit)
    return m.Labels(labels=[m.Label(**row) for row in rows], cursor=cursor, more=len(rows) == call.given.limit)


def groups(call: Call) -> m.Groups:
    """List the project's groups with their ids and texts, as the last search for matches made them."""
    asked = call.given
    only = None if asked.group is None else int(asked.group.removeprefix("g"))
    found = read_groups(call.engine, call.here.id, asked.cursor, asked.limit, only)
    return m.Groups(
        groups=[
            m.Group(id=one.id, texts=[m.GroupedText(side=Side(side), ids=ids) for side, ids in one.texts])
            for one in found.groups
        ],
        update=found.update and _group_update(found.update),
        cursor=found.cursor,
        more=only is None and len(found.groups) == asked.limit,
        changes_cursor=found.changes,
    )


def _group_update(row: GroupUpdate) -> m.GroupUpdate:
    return m.GroupUpdate(
        at=row.created_at, round=row.matcher, threshold=row.threshold, p=row.p, clustering=row.clustering,
        groups=row.groups, texts=row.texts,
    )  # fmt: skip


def group_changes(call: Call) -> m.GroupChanges:
    """List what became of the project's groups: made, joined, divided, ended, or with other texts."""
    found = read_changes(call.engine, call.here.id, call.given.cursor, call.given.limit)
    cursor = found[-1].cursor if found else call.given.cursor
    return m.GroupChanges(changes=[_change(one) for one in found], cursor=cursor, more=len(found) == call.given.limit)


def _change(told: Told) -> m.GroupChange:
    texts = {
        name: [m.NamedText(side=Side(side), id=id_) for side, id_ in getattr(told, name)]
        for name in ("texts_added", "texts_removed")
    }
    return m.GroupChange.model_validate(vars(told) | {"round": told.matcher} | texts)


def metrics(call: Call) -> m.Metrics:
    """Report the figures over all pairs, round by round, with their intervals."""
    report = read_report(call.engine, call.here.id, tally=())
    return m.Metrics(evaluations=[_evaluation(*each) for each in report.measured])


def _evaluation(matcher: Matcher, evaluation: Evaluation) -> m.Evaluation:
    found = {measure: estimate(evaluation, measure) for measure in TITLES}
    return m.Evaluation(
        round=matcher.number, labels=matcher.labels, positives=matcher.positives, pairs=evaluation.pairs,
        figures={measure: m.Figure(**one.as_dict()) for measure, one in found.items() if one is not None},
    )  # fmt: skip


def list_jobs(call: Call) -> m.Jobs:
    """List the newest jobs of the project."""
    found = jobs.list_jobs(call.engine, call.here.id, call.given.limit)
    return m.Jobs(jobs=[_job(one) for one in found])


def job(call: Call) -> m.Job:
    """Show one job of the project."""
    return _job(_found_job(call))


def start_job(call: Call) -> m.Job:
    """Start training and choosing the next batch; if such a job is already active, return that one."""
    return _job_of(call, jobs.request_round(call.engine, call.here.id))


def cancel_job(call: Call) -> m.Job:
    """Cancel a job: at once if it waits, within seconds if it runs. A job that has ended stays as it is."""
    found = _found_job(call)
    jobs.cancel(call.engine, found.id)
    return _job_of(call, found.id)


def _found_job(call: Call) -> Job:
    """Return the job that the address names. Raises Wrong if the project has no such job."""
    found = jobs.find_job(call.engine, call.here.id, call.job_id)
    if found is None:
        raise Wrong(404, f"project {call.here.id} has no job {call.job_id!r}")
    return found


def _job_of(call: Call, job_id: str) -> m.Job:
    found = jobs.find_job(call.engine, call.here.id, job_id)
    assert found is not None
    return _job(found)


def _job(row: Job) -> m.Job:
    return m.Job.model_validate(row, from_attributes=True)


def list_webhooks(call: Call) -> m.Webhooks:
    """List the project's webhooks, without their secrets."""
    found = hooks.list_webhooks(call.engine, call.here.id)
    return m.Webhooks(webhooks=[m.Webhook.model_validate(row, from_attributes=True) for row in found])


def add_webhook(call: Call) -> m.NewWebhook:
    """Add a webhook: messages to an address of yours when something happens in the project."""
    made = hooks.add(call.engine, call.here.id, call.given.url, call.given.kinds)
    row = m.Webhook.model_validate(_found_webhook(call, made.webhook_id), from_attributes=True)
    return m.NewWebhook(**row.model_dump(), secret=made.secret)


def delete_webhook(call: Call) -> m.Webhook:
    """Delete a webhook with what waits for it, and show it a last time."""
    row = _found_webhook(call, call.webhook_id)
    hooks.remove(call.engine, call.here.id, row.id)
    return m.Webhook.model_validate(row, from_attributes=True)


def list_deliveries(call: Call) -> m.Deliveries:
    """List the newest messages to a webhook and what became of them; they are kept for 30 days."""
    row = _found_webhook(call, call.webhook_id)
    found = hooks.deliveries(call.engine, call.here.id, row.id, call.given.limit)
    return m.Deliveries(deliveries=[_delivery(one) for one in found])


def _found_webhook(call: Call, webhook_id: int) -> Webhook:
    """Return the project's webhook of this number. Raises Wrong if there is none."""
    for row in hooks.list_webhooks(call.engine, call.here.id):
        if row.id == webhook_id:
            return row
    raise Wrong(404, f"project {call.here.id} has no webhook {webhook_id}")


def _delivery(one: Logged) -> m.Delivery:
    row = one.delivery
    waits = row.state == DeliveryState.WAITING
    return m.Delivery(
        id=row.id, kind=one.kind, state=row.state, attempts=row.attempts, status=row.status, error=row.error,
        created_at=one.at, next_at=row.next_at if waits else None, delivered_at=row.delivered_at,
    )  # fmt: skip


def match(call: Call) -> m.Matches:
    """Find the best candidates of up to 100 texts or records under the published model.

    The answer comes from a process of its own, which has to be started: `allpairs serve --match`.
    """
    try:
        return m.Matches.model_validate(matching.match(call.engine, call.here.id, call.given.model_dump(mode="json")))
    except matching.NotAnswering as error:
        raise Wrong(AWAY, str(error)) from None


def publish(call: Call) -> m.Publication:
    """Publish a round's model, so that it answers `match`, or name it as the shadow of the published one."""
    given = call.given
    return _publication(publications.publish(call.engine, call.here.id, given.round, given.note, given.kind))


def list_publications(call: Call) -> m.Publications:
    """Show what is in service, how far the shadow agrees with it, and all publications, the newest first."""
    found = publications.read_service(call.engine, call.here.id)
    return m.Publications(
        published=found.published and _publication(found.published),
        shadow=found.shadow and _publication(found.shadow),
        agreement=found.agreement and _agreement(found.agreement),
        publications=[_publication(one) for one in found.history],
    )


def _publication(row: Publication) -> m.Publication:
    return m.Publication(id=row.id, kind=row.kind, round=row.number, note=row.note, who=row.who, at=row.at)


def _agreement(row: ShadowCounts) -> m.Agreement:
    texts, pairs = max(1, row.texts), max(1, row.pairs)
    return m.Agreement(
        texts=row.texts, same_best=row.same_best / texts, shared=row.shared / texts, pairs=row.pairs,
        p_mean_difference=row.more / pairs, p_mean_distance=row.away / pairs, gained=row.gained, lost=row.lost,
    )  # fmt: skip


def change_texts(call: Call) -> m.TextsChanged:
    """Add and change texts of the project, or withdraw some, as one change; with `dry_run`, only count.

    Withdrawn texts leave batches, matches and figures; their answers stay in the record.
    """
    given, act = call.given, texts.preview if call.given.dry_run else texts.apply
    with texts.sent([_record(one) for one in given.texts], given.withdraw, given.side) as source:
        found = act(call.engine, call.here.name, source)
    return m.TextsChanged(**found.as_dict())


def _record(one: m.TextRecord) -> dict[str, str]:
    if (one.text is None) == (one.columns is None):
        raise InputError(f"the text {one.id!r} needs either text or columns")
    return {"text": one.text, "id": one.id} if one.text is not None else {**(one.columns or {}), "id": one.id}


def text_changes(call: Call) -> m.TextChanges:
    """List the last hundred changes of the project's texts."""
    found = texts.list_changes(call.engine, call.here.id)
    return m.TextChanges(changes=[m.TextChange.model_validate(one, from_attributes=True) for one in found])


def undo_texts(call: Call) -> m.TextChange:
    """Undo the newest change of the project's texts that stands: every id names what it named before."""
    found = texts.undo(call.engine, call.here.id, call.given.number)
    return m.TextChange.model_validate(found, from_attributes=True)


ONE = "/projects/{project_id}"
HOOK = f"{ONE}/webhooks/{{webhook_id}}"
BUSY = {409: "The state of the project does not allow it; the problem says why, and what to do."}
UNANSWERED = {
    409: "No model is published, the project is archived, or a record does not fit it; the problem says which.",
    AWAY: "No process answers `match`, or it is loading the model, or the database does not answer; the problem says.",
}
OPERATIONS = (
    Operation("GET", "/projects", projects, m.Projects, Scope.READ),
    Operation("GET", ONE, project, m.Project, Scope.READ),
    Operation("POST", f"{ONE}/tasks", next_tasks, m.Tasks, Scope.LABEL, m.Lease, Right.LABEL, problems=BUSY),
    Operation("POST", f"{ONE}/answers", answers, m.Receipt, Scope.LABEL, m.Answers, Right.LABEL),
    Operation("GET", f"{ONE}/labels", labels, m.Labels, Scope.READ, m.LabelsAfter, Right.CHANGE),
    Operation("GET", f"{ONE}/groups", groups, m.Groups, Scope.READ, m.GroupsAfter, Right.SEE),
    Operation("GET", f"{ONE}/groups/changes", group_changes, m.GroupChanges, Scope.READ, m.ChangesAfter, Right.SEE),
    Operation("POST", f"{ONE}/texts", change_texts, m.TextsChanged, Scope.TRAIN, m.Texts, Right.CHANGE, problems=BUSY),
    Operation("GET", f"{ONE}/texts/changes", text_changes, m.TextChanges, Scope.READ, None, Right.CHANGE),
    Operation(
        "POST", f"{ONE}/texts/undo", undo_texts, m.TextChange, Scope.TRAIN, m.TextUndo, Right.CHANGE, problems=BUSY
    ),
    Operation("GET", f"{ONE}/metrics", metrics, m.Metrics, Scope.READ, None, Right.SEE),
    Operation("GET", f"{ONE}/jobs", list_jobs, m.Jobs, Scope.READ, m.JobsAsked, Right.SEE),
    Operation("POST", f"{ONE}/jobs", start_job, m.Job, Scope.TRAIN, m.JobStart, Right.CHANGE, 202, BUSY),
    Operation("GET", f"{ONE}/jobs/{{job_id}}", job, m.Job, Scope.READ, None, Right.SEE),
    Operation("DELETE", f"{ONE}/jobs/{{job_id}}", cancel_job, m.Job, Scope.TRAIN, None, Right.CHANGE),
    Operation("GET", f"{ONE}/webhooks", list_webhooks, m.Webhooks, Scope.READ, None, Right.CHANGE),
    Operation(
        "POST",
        f"{ONE}/webhooks",
        add_webhook,
        m.NewWebhook,
        Scope.TRAIN,
        m.WebhookAdd,
        Right.CHANGE,
        201,
        {409: "The address is private, or the project has 20 webhooks; the problem says which."},
    ),
    Operation("GET", f"{HOOK}/deliveries", list_deliveries, m.Deliveries, Scope.READ, m.DeliveriesAsked, Right.CHANGE),
    Operation("DELETE", HOOK, delete_webhook, m.Webhook, Scope.TRAIN, None, Right.CHANGE),
    Operation("POST", f"{ONE}/match", match, m.Matches, Scope.READ, m.MatchAsked, Right.SEE, problems=UNANSWERED),
    Operation("POST", f"{ONE}/publications", publish, m.Publication, Scope.TRAIN, m.Publish, Right.CHANGE, 201, BUSY),
    Operation("GET", f"{ONE}/publications", list_publications, m.Publications, Scope.READ, None, Right.SEE),
)

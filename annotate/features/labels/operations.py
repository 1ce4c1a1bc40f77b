"""Tasks to label, answers, and current labels."""

from hashlib import sha256

from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.label.shown_pairs import Pair
from allpairs.annotate.features.labels import schemas as m
from allpairs.annotate.features.labels.export import page_of_labels
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api.operation import BUSY, ONE, Call, Operation
from allpairs.db.domain import Scope


def next_tasks(call: Call) -> m.Tasks:
    """Lease the next pairs to the token's person for ten minutes; pairs they already hold come first."""
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
    # A key is unique in the project: another person's key must not collide with this one.
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
    """List the labels that count now, one for each pair of ids, in the order in which they were given."""
    page = page_of_labels(call.engine, call.here.id, call.given.cursor, call.given.limit)
    return m.Labels(labels=[m.Label(**row) for row in page.rows], cursor=page.cursor, more=page.more)


OPERATIONS = (
    Operation("POST", f"{ONE}/tasks", next_tasks, m.Tasks, Scope.LABEL, m.Lease, Right.LABEL, problems=BUSY),
    Operation("POST", f"{ONE}/answers", answers, m.Receipt, Scope.LABEL, m.Answers, Right.LABEL),
    Operation("GET", f"{ONE}/labels", labels, m.Labels, Scope.READ, m.LabelsAfter, Right.CHANGE),
)

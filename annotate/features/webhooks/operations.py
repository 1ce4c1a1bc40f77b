"""Webhooks and messages to them."""

from allpairs.annotate.features.webhooks import schemas as m
from allpairs.annotate.features.webhooks import webhooks as hooks
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.web.problems import Wrong
from allpairs.annotate.kit.api.operation import ONE, Call, Operation
from allpairs.db.domain import DeliveryState, Scope
from allpairs.db.projects.webhooks import Logged
from allpairs.db.schema.tables import Webhook


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
        id=row.id,
        kind=one.kind,
        state=row.state,
        attempts=row.attempts,
        status=row.status,
        error=row.error,
        created_at=one.at,
        next_at=row.next_at if waits else None,
        delivered_at=row.delivered_at,
    )


HOOK = f"{ONE}/webhooks/{{webhook_id}}"
OPERATIONS = (
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
)

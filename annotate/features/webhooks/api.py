"""Operations of webhooks and messages to them."""

from typing import Literal

from pydantic import Field

from allpairs.annotate.features.webhooks import webhooks as services
from allpairs.annotate.features.webhooks.webhooks import DeliveryDetails, NewWebhook, WebhookDetails
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.web.problems import Wrong
from allpairs.annotate.kit.api import PROJECT_PATH, URL_HOST, ApiInput, ApiOutput, Call, NewestRequest, Operation
from allpairs.db.domain import NoticeKind, Scope
from allpairs.db.projects.webhook_addresses import LONGEST


class WebhookRequest(ApiInput):
    """A webhook to add: where messages go, and what they tell."""

    url: str = Field(
        max_length=LONGEST,
        pattern=rf"^https?://{URL_HOST}(:[1-9][0-9]{{0,4}})?([/?][!-\"$-~]*)?$",
        description="Private addresses are refused unless the operator allows their network.",
    )
    kinds: list[
        Literal[
            NoticeKind.BATCH_READY,
            NoticeKind.TRAINING_DONE,
            NoticeKind.TRAINING_FAILED,
            NoticeKind.TARGET_REACHED,
            NoticeKind.DISAGREEMENT,
            NoticeKind.GROUP_CHANGED,
        ]
    ] = Field(min_length=1)


class WebhookList(ApiOutput):
    """The webhooks, the oldest first."""

    webhooks: list[WebhookDetails]


class DeliveryList(ApiOutput):
    """The deliveries, the newest first."""

    deliveries: list[DeliveryDetails]


def list_webhooks(call: Call) -> WebhookList:
    """List the project's webhooks, without their secrets."""
    return WebhookList(webhooks=services.webhooks_of_project(call.engine, call.project_id))


def add_webhook(call: Call, request: WebhookRequest) -> NewWebhook:
    """Add a webhook: messages to an address of yours when something happens in the project."""
    return services.add(call.engine, call.project_id, request.url, request.kinds)


def delete_webhook(call: Call) -> WebhookDetails:
    """Delete a webhook with what waits for it, and show it a last time."""
    webhook = _webhook(call)
    services.remove_webhook(call.engine, call.project_id, webhook.id)
    return webhook


def list_deliveries(call: Call, request: NewestRequest) -> DeliveryList:
    """List the newest messages to a webhook and what became of them; they are kept for 30 days."""
    webhook = _webhook(call)
    deliveries = services.deliveries(call.engine, call.project_id, webhook.id, request.limit)
    return DeliveryList(deliveries=deliveries)


def _webhook(call: Call) -> WebhookDetails:
    """Return the webhook that the path names. Raises Wrong if there is none."""
    for webhook in services.webhooks_of_project(call.engine, call.project_id):
        if webhook.id == call.webhook_id:
            return webhook
    raise Wrong(404, f"project {call.project_id} has no webhook {call.webhook_id}")


WEBHOOKS = f"{PROJECT_PATH}/webhooks"
WEBHOOK = f"{WEBHOOKS}/{{webhook_id}}"
UNUSABLE = {409: "The address is private, or the project has 20 webhooks; the problem says which."}
OPERATIONS = (
    Operation("GET", WEBHOOKS, list_webhooks, Scope.READ, Right.CHANGE),
    Operation("POST", WEBHOOKS, add_webhook, Scope.TRAIN, Right.CHANGE, 201, UNUSABLE),
    Operation("GET", f"{WEBHOOK}/deliveries", list_deliveries, Scope.READ, Right.CHANGE),
    Operation("DELETE", WEBHOOK, delete_webhook, Scope.TRAIN, Right.CHANGE),
)

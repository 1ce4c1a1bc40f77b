"""Webhooks and messages to them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from allpairs.annotate.kit.api.schema import Asked, Given
from allpairs.db.domain import DeliveryState, NoticeKind
from allpairs.db.projects.webhook_addresses import LONGEST as LONGEST_URL

MOST_DELIVERIES = 100


Told = Literal[
    NoticeKind.BATCH_READY,
    NoticeKind.TRAINING_DONE,
    NoticeKind.TRAINING_FAILED,
    NoticeKind.TARGET_REACHED,
    NoticeKind.DISAGREEMENT,
    NoticeKind.GROUP_CHANGED,
]


HOST = r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"


class WebhookAdd(Asked):
    """A webhook to add: where messages go, and what they tell."""

    url: str = Field(
        max_length=LONGEST_URL,
        pattern=rf"^https?://{HOST}(:[1-9][0-9]{{0,4}})?([/?][!-\"$-~]*)?$",
        description="Private addresses are refused unless the operator allows their network.",
    )
    kinds: list[Told] = Field(min_length=1)


class Webhook(Given):
    """A webhook of the project. Its secret is shown only when it is added."""

    id: int
    url: str
    kinds: list[str]
    active: bool
    created_at: datetime


class NewWebhook(Webhook):
    """A new webhook, with the secret that signs its messages: it is not shown again."""

    secret: str


class Webhooks(Given):
    """The webhooks, the oldest first."""

    webhooks: list[Webhook]


class DeliveriesAsked(Asked):
    """How many deliveries to list."""

    limit: int = Field(20, ge=1, le=MOST_DELIVERIES)


class Delivery(Given):
    """A message on its way to a webhook."""

    id: int
    kind: NoticeKind
    state: DeliveryState
    attempts: int
    status: int | None = Field(description="The HTTP status of the last answer; null: there was none.")
    error: str | None = Field(description="Why the last attempt failed.")
    created_at: datetime
    next_at: datetime | None = Field(description="The next attempt, if it waits for one.")
    delivered_at: datetime | None


class Deliveries(Given):
    """The deliveries, the newest first."""

    deliveries: list[Delivery]

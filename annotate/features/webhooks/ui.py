"""The webhooks of a project: which systems are told what, and what became of the messages."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from allpairs.annotate.features.webhooks import webhooks as services
from allpairs.annotate.features.webhooks.webhooks import DeliveryDetails, NewWebhook, WebhookDetails
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.drafts import DRAFT, refill, take_refill
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.paged import draw_page
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.domain import DeliveryState, NoticeKind
from allpairs.db.errors import InputError
from allpairs.db.projects.webhook_addresses import LONGEST
from allpairs.db.projects.webhooks import LOG_AGE

TITLES: dict[str, str] = {
    NoticeKind.BATCH_READY: "Batch ready",
    NoticeKind.TRAINING_DONE: "Training done",
    NoticeKind.TRAINING_FAILED: "Training failed",
    NoticeKind.TARGET_REACHED: "Target reached",
    NoticeKind.DISAGREEMENT: "Disagreement waiting",
    NoticeKind.GROUP_CHANGED: "Group changed",
    NoticeKind.TEST: "Test",
}
POLL_SECONDS = 5.0  # seconds between two looks while messages wait
State = Literal["orange", "green", "red"]
STATES: dict[DeliveryState, tuple[State, str]] = {
    DeliveryState.WAITING: ("orange", ":material/schedule:"),
    DeliveryState.DELIVERED: ("green", ":material/check:"),
    DeliveryState.GIVEN_UP: ("red", ":material/error:"),
}


def webhooks(project_id: int) -> None:
    """Draw the project's webhooks with their messages, and the form that adds one."""
    st.subheader("Webhooks", anchor=False)
    st.write(
        "Tell another system what happens here. Each message is signed, and sent again for up to a day, until the "
        "system takes it. Messages hold ids, never texts."
    )
    listed = st.container()
    new_webhook = _form(project_id)
    with listed:  # the new one, too
        hooks = services.webhooks_of_project(engine(), project_id)
        draw_page(hooks, lambda row: _listed(project_id, row, new_webhook), f"webhooks_page_{project_id}")


def _form(project_id: int) -> NewWebhook | None:
    """Draw the form that adds a webhook; return the one that it has just added."""
    url_key, kinds_key, new_key = (f"webhook_{name}_{project_id}" for name in ("url", "kinds", "new"))
    take_refill()
    with st.container(border=True):
        url = st.text_input("Address", key=url_key, max_chars=LONGEST, placeholder="https://", persist_state=DRAFT)
        kinds = st.pills(
            "Tell it about",
            services.OFFERED,
            selection_mode="multi",
            default=services.OFFERED,
            format_func=TITLES.__getitem__,
            key=kinds_key,
            persist_state=DRAFT,
        )
        if st.button("Add webhook", key=f"webhook_add_{project_id}", icon=":material/webhook:"):
            webhook = _secret_of(lambda: services.add(engine(), project_id, url, kinds))
            if webhook is not None:
                st.session_state[new_key] = webhook
                refill({url_key: "", kinds_key: list(services.OFFERED)})
    new_webhook: NewWebhook | None = st.session_state.pop(new_key, None)
    return new_webhook


def _listed(project_id: int, row: WebhookDetails, new_webhook: NewWebhook | None) -> None:
    """Draw a webhook, what can be done with it, and its log. new_webhook: the webhook whose secret is shown."""
    with st.container(border=True, key=f"webhook_{row.id}"):
        _acts(project_id, row, new_webhook)


def _acts(project_id: int, row: WebhookDetails, new_webhook: NewWebhook | None) -> None:
    st.markdown(f"**{literal(row.url)}**")
    kinds = ", ".join(TITLES[kind].lower() for kind in row.kinds)
    st.caption(f"{'' if row.active else 'Off. '}Told about: {kinds}. Added {ago(row.created_at)}.")
    with st.container(horizontal=True):
        st.button(
            "Send a test",
            key=f"test_{row.id}",
            icon=":material/send:",
            disabled=not row.active,
            on_click=_act,
            args=(services.send_test, project_id, row.id),
        )
        st.button(
            "Switch off" if row.active else "Switch on",
            key=f"switch_{row.id}",
            on_click=_act,
            icon=":material/pause:" if row.active else ":material/play_arrow:",
            args=(services.switch, project_id, row.id, not row.active),
        )
        if st.button("Replace the secret", key=f"secret_{row.id}", icon=":material/key:"):
            new_webhook = _secret_of(lambda: services.renew_secret(engine(), project_id, row.id))
        with st.popover("Delete", icon=":material/delete:", key=f"delete_webhook_{row.id}"):
            st.write("Messages that still wait are not sent, and its log is deleted.")
            st.button(
                "Delete webhook",
                key=f"remove_{row.id}",
                on_click=_act,
                args=(services.remove_webhook, project_id, row.id),
            )
    if new_webhook is not None and new_webhook.id == row.id:
        st.success("Copy the secret now. It will not be shown again.", icon=":material/check:")
        st.code(new_webhook.secret, language=None)
    with st.expander("Messages", key=f"log_{row.id}"):
        messages = services.deliveries(engine(), project_id, row.id)
        waits = any(message.state == DeliveryState.WAITING for message in messages)
        st.fragment(_log, run_every=POLL_SECONDS if waits else None)(project_id, row.id, waits)


def _log(project_id: int, webhook_id: int, waited: bool) -> None:
    """Draw the newest messages; redraw the page once none waits any more."""
    try:
        messages = services.deliveries(engine(), project_id, webhook_id)
    except InputError:  # deleted in another browser, meanwhile
        st.rerun()
    if waited and not any(message.state == DeliveryState.WAITING for message in messages):
        st.rerun()
    kept_note = f"The newest messages; they are kept for {LOG_AGE.days} days."
    st.caption(kept_note if messages else "There are no messages yet.")
    for message in messages:
        _message(project_id, message)


def _message(project_id: int, message: DeliveryDetails) -> None:
    colour, icon = STATES[message.state]
    waits = f", next at {message.next_at:%H:%M} UTC" if message.next_at and message.attempts else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(message.state, icon=icon, color=colour)
        st.markdown(f"**{TITLES[message.kind]}**", width="content")
        attempts = counted(message.attempts, "attempt")
        st.caption(f"{message.created_at:%Y-%m-%d %H:%M} UTC, {attempts}{waits}", width="content")
        if message.state != DeliveryState.DELIVERED and message.attempts:
            st.button(
                "Send again",
                key=f"again_{message.id}",
                icon=":material/refresh:",
                on_click=_act,
                args=(services.send_delivery_again, project_id, message.id),
            )
    if message.error:
        st.caption(f":red[{literal(message.error)}]")


def _act(act: Callable[..., None], project_id: int, number: int, *more: bool) -> None:
    """Do something with a webhook or a message, or say why it cannot be done."""
    with told(st.toast):  # deleted in another browser, meanwhile
        act(engine(), project_id, number, *more)


def _secret_of(act: Callable[[], NewWebhook]) -> NewWebhook | None:
    """Return what the act makes, or show why it cannot be done."""
    with told():
        return act()
    return None

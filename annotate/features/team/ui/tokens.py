"""The person's API tokens: listed, made, revoked."""

import streamlit as st

from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.access.logins import Guest
from allpairs.annotate.frame.access.tokens import LONGEST_PURPOSE, USUAL
from allpairs.annotate.frame.web.base_path import REFERENCE
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.drafts import DRAFT, refill, take_refill
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.paged import draw_page
from allpairs.annotate.kit.ui.state import system_engine
from allpairs.db.domain import Scope
from allpairs.db.schema.engine import as_person
from allpairs.db.schema.tables import ApiToken, now

NEW_TOKEN = "token_made"  # in the session: the token that is shown once
LIVES = {30: "30 days", 90: "90 days", 365: "a year", None: "until I revoke it"}
SCOPES = {
    Scope.READ: "read projects, labels, groups, figures and jobs; match new records",
    Scope.LABEL: "get pairs and answer them",
    Scope.TRAIN: "start and cancel jobs, change texts, publish models, ask machine raters, add and delete webhooks",
    Scope.ADMINISTER: "read the metrics of the installation, set machine raters up",
}


def api_tokens(guest: Guest) -> str | None:
    """Draw the person's tokens, and the form that makes one; return the token that it has just made."""
    with st.container(border=True):
        st.subheader("Tokens", anchor=False)
        st.caption("A program with a token uses the API as you. It may do what you may, within the token's scopes.")
        listed = st.container()
        token = _form(guest)
        with listed:  # the new one, too
            draw_page(
                tokens.list_tokens(system_engine(), guest.person_id), lambda row: _listed(guest, row), "tokens_page"
            )
    return token


def reference() -> None:
    """Draw the link to the description of every address."""
    st.link_button("Open the API reference", f".{REFERENCE}", icon=":material/menu_book:")


def _listed(guest: Guest, row: ApiToken) -> None:
    used = f"last used {ago(row.used_at)}" if row.used_at else "never used"
    validity = "valid until revoked"
    if row.expires_at is not None:
        validity = f"valid until {row.expires_at:%Y-%m-%d}" if row.expires_at > now() else "**expired**"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        description = f"{tokens.scopes_in_words(row.scopes)}; created {ago(row.created_at)}, {validity}, {used}."
        st.markdown(f"**{literal(row.purpose)}**: {description}", width="stretch")
        st.button(
            "Revoke", key=f"withdraw_{row.id}", icon=":material/delete:", on_click=_withdraw, args=(guest, row.id)
        )


def _explained() -> str:
    return "\n".join(f"- **{scope.capitalize()}**: {description}" for scope, description in SCOPES.items())


def _withdraw(guest: Guest, token_id: int) -> None:
    with told(st.toast):  # in another browser, meanwhile
        tokens.withdraw_token(as_person(system_engine(), guest.person_id), guest.person_id, token_id)


def _form(guest: Guest) -> str | None:
    """Draw the form and, once only, the token that it has just made; return that one."""
    take_refill()
    purpose = st.text_input(
        "Purpose of the new token", key="token_purpose", max_chars=LONGEST_PURPOSE, persist_state=DRAFT
    )
    scopes = st.pills(
        "Scopes",
        list(SCOPES),
        selection_mode="multi",
        default=USUAL,
        key="token_scopes",
        format_func=str.capitalize,
        help=_explained(),
        persist_state=DRAFT,
    )
    days = st.selectbox("Valid for", list(LIVES), 1, format_func=LIVES.__getitem__, key="token_days", width=220)
    if st.button("Create token", key="token_make", icon=":material/vpn_key:"):
        with told():
            engine = as_person(system_engine(), guest.person_id)
            token = tokens.make(engine, guest.person_id, purpose, now(), days, guest.login_id, scopes)
            st.session_state[NEW_TOKEN] = token
            refill({"token_purpose": "", "token_scopes": list(USUAL)})
    new_token: str | None = st.session_state.pop(NEW_TOKEN, None)
    if new_token is not None:
        st.success("Copy the token now. It will not be shown again.", icon=":material/check:")
        st.code(new_token, language=None)
    return new_token

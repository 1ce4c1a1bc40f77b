"""The tokens of one's programs: listed, made, withdrawn."""

import streamlit as st

from annotate.access import tokens
from annotate.access.logins import Guest
from annotate.access.tokens import LONGEST_PURPOSE
from annotate.text.formatting import ago, literal
from annotate.ui.state import system_engine
from annotate.web.api_paths import DESCRIPTION
from db.errors import InputError
from db.schema.engine import as_person
from db.schema.tables import ApiToken, now

LIVES = {30: "30 days", 90: "90 days", 365: "a year", None: "until I withdraw it"}


def api_tokens(guest: Guest) -> None:
    """Nothing; draws the person's tokens, and the form that makes one."""
    with st.container(border=True):
        st.subheader("Tokens for programs", anchor=False)
        about = "A program that shows a token uses the REST API as you: it may label and read whatever you may."
        st.caption(f"{about} The addresses: [{DESCRIPTION}]({DESCRIPTION})")
        listed = st.container()
        _form(guest)
        with listed:  # the new one, too
            for row in tokens.list_tokens(system_engine(), guest.person_id):
                _listed(guest, row)


def _listed(guest: Guest, row: ApiToken) -> None:
    used = f"last used {ago(row.used_at)}" if row.used_at else "never used"
    until = "until withdrawn"
    if row.expires_at is not None:
        until = f"until {row.expires_at:%Y-%m-%d}" if row.expires_at > now() else "**too old**"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{literal(row.purpose)}**: made {ago(row.created_at)}, {until}, {used}.", width="stretch")
        st.button("Withdraw", key=f"withdraw_{row.id}", icon=":material/delete:", on_click=_withdraw,
                  args=(guest, row.id))  # fmt: skip


def _withdraw(guest: Guest, token_id: int) -> None:
    try:
        tokens.withdraw(as_person(system_engine(), guest.person_id), guest.person_id, token_id)
    except InputError as error:  # in another browser, meanwhile
        st.toast(literal(str(error)))


def _form(guest: Guest) -> None:
    """Nothing; draws the form, and the token that it has made: it is shown this once."""
    with st.form("new_token", clear_on_submit=True, border=False):
        purpose = st.text_input("What a new token is for", key="token_purpose", max_chars=LONGEST_PURPOSE)
        days = st.selectbox("Good for", list(LIVES), 1, format_func=LIVES.__getitem__, key="token_days", width=220)
        made = st.form_submit_button("Make a token", icon=":material/vpn_key:")
    if not made:
        return
    try:
        engine = as_person(system_engine(), guest.person_id)
        token = tokens.make(engine, guest.person_id, purpose, now(), days, guest.login_id)
    except InputError as error:
        st.error(literal(f"{str(error)[0].upper()}{str(error)[1:]}."), icon=":material/error:")
    else:
        st.success("Copy the token now: it is not shown again.", icon=":material/check:")
        st.code(token, language=None)

"""The person's own account: password, browsers that are signed in, and API tokens."""

import streamlit as st

from allpairs.annotate.access import logins
from allpairs.annotate.access.logins import Guest
from allpairs.annotate.access.passwords import SHORTEST
from allpairs.annotate.access.people import has_password, where_logged_in
from allpairs.annotate.text.formatting import ago, literal
from allpairs.annotate.text.measures import counted
from allpairs.annotate.ui.account.tokens import api_tokens
from allpairs.annotate.ui.state import forget_who_asks, system_engine, who_asks
from allpairs.db.errors import InputError
from allpairs.db.schema.tables import now


def main() -> None:
    """Draw the page."""
    guest = who_asks().guest
    if guest is None:
        return
    st.title("Account", anchor=False)
    st.write(f"You are signed in as **{literal(guest.name)}**. Your answers are stored under this name.")
    browsers(guest)
    if has_password(system_engine(), guest.person_id):
        password(guest)
    else:
        st.caption("You sign in through your organisation's identity provider, so there is no password here.")
    api_tokens(guest)


def browsers(guest: Guest) -> None:
    """Draw where the person is signed in, and the buttons that sign out."""
    found = where_logged_in(system_engine(), guest.person_id, now())
    with st.container(border=True):
        st.subheader("Signed in", anchor=False)
        for login in found:
            here = "**This browser**" if login.id == guest.login_id else "Another browser"
            st.markdown(f"{here}: signed in {ago(login.created_at)}, last used {ago(login.seen_at)}.")
        with st.container(horizontal=True):
            st.button("Sign out", key="log_out", icon=":material/logout:", on_click=_log_out, args=(guest, False))
            if len(found) > 1:
                title = f"Sign out everywhere ({counted(len(found), 'browser')})"
                st.button(title, key="log_out_everywhere", icon=":material/logout:", on_click=_log_out,
                          args=(guest, True), help="Also revokes your tokens.")  # fmt: skip


def _log_out(guest: Guest, everywhere: bool) -> None:
    logins.log_out(system_engine(), guest, now(), everywhere)
    forget_who_asks()
    if st.user.get("is_logged_in"):  # otherwise the identity provider would sign them in again at once
        st.logout()


def password(guest: Guest) -> None:
    """Draw the form that changes the password, and its outcome."""
    with st.form("password", clear_on_submit=True):
        st.subheader("Password", anchor=False)
        old = st.text_input("Current password", type="password", key="old_password")
        new = st.text_input(
            "New password", type="password", key="new_password", help=f"At least {SHORTEST} characters."
        )
        again = st.text_input("New password again", type="password", key="new_password_again")
        st.caption("This signs out all your other browsers and revokes all tokens below.")
        changed = st.form_submit_button("Change password", icon=":material/key:", type="primary")
    if not changed:
        return
    try:
        if new != again:
            raise InputError("the two new passwords differ")
        address = str(st.context.ip_address or "this machine")
        logins.change_own_password(system_engine(), guest, old, new, address, now())
    except InputError as error:
        st.error(literal(f"{str(error)[0].upper()}{str(error)[1:]}."), icon=":material/error:")
    else:
        st.success("Your password has been changed.", icon=":material/check:")


main()

"""One's own account: the password, where one is logged in, and the tokens of one's programs."""

import streamlit as st

from annotate.access import logins
from annotate.access.logins import Guest
from annotate.access.passwords import SHORTEST
from annotate.access.people import has_password, where_logged_in
from annotate.text.formatting import ago, literal
from annotate.text.measures import counted
from annotate.ui.account.tokens import api_tokens
from annotate.ui.state import forget_who_asks, system_engine, who_asks
from db.errors import InputError
from db.schema.tables import now


def main() -> None:
    """Nothing; draws the page."""
    guest = who_asks().guest
    if guest is None:
        return
    st.title("Account", anchor=False)
    st.write(f"You are logged in as **{literal(guest.name)}**: the name under which your answers are kept.")
    browsers(guest)
    if has_password(system_engine(), guest.person_id):
        password(guest)
    else:
        st.caption("You have no password here: you log in with whom your organisation uses for that.")
    api_tokens(guest)


def browsers(guest: Guest) -> None:
    """Nothing; draws where the person is logged in, and the buttons that end it."""
    found = where_logged_in(system_engine(), guest.person_id, now())
    with st.container(border=True):
        st.subheader("Logged in", anchor=False)
        for login in found:
            here = "**This browser**" if login.id == guest.login_id else "Another browser"
            st.markdown(f"{here}: since {ago(login.created_at)}, last opened {ago(login.seen_at)}.")
        with st.container(horizontal=True):
            st.button("Log out", key="log_out", icon=":material/logout:", on_click=_log_out, args=(guest, False))
            if len(found) > 1:
                title = f"Log out everywhere ({counted(len(found), 'browser')})"
                st.button(title, key="log_out_everywhere", icon=":material/logout:", on_click=_log_out,
                          args=(guest, True), help="Withdraws your tokens as well.")  # fmt: skip


def _log_out(guest: Guest, everywhere: bool) -> None:
    logins.log_out(system_engine(), guest, now(), everywhere)
    forget_who_asks()
    if st.user.get("is_logged_in"):  # else whoever vouches for them would let them in again at once
        st.logout()


def password(guest: Guest) -> None:
    """Nothing; draws the form that changes the password, and what came of it."""
    with st.form("password", clear_on_submit=True):
        st.subheader("Password", anchor=False)
        old = st.text_input("The password that you have", type="password", key="old_password")
        new = st.text_input("A new one", type="password", key="new_password", help=f"{SHORTEST} characters or more.")
        again = st.text_input("The new one again", type="password", key="new_password_again")
        st.caption("Every other browser is logged out, and every token below is withdrawn.")
        changed = st.form_submit_button("Change the password", icon=":material/key:", type="primary")
    if not changed:
        return
    try:
        if new != again:
            raise InputError("the two new passwords are not the same")
        address = str(st.context.ip_address or "this machine")
        logins.change_own_password(system_engine(), guest, old, new, address, now())
    except InputError as error:
        st.error(literal(f"{str(error)[0].upper()}{str(error)[1:]}."), icon=":material/error:")
    else:
        st.success("The password is changed.", icon=":material/check:")


main()

"""The person's own account: password, and browsers that are signed in."""

import streamlit as st

from allpairs.annotate.frame.access import logins
from allpairs.annotate.frame.access.logins import Guest
from allpairs.annotate.frame.access.passwords import SHORTEST
from allpairs.annotate.frame.access.people import has_password, where_logged_in
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.language import _, words
from allpairs.annotate.kit.ui.state import forget_who_asks, system_engine, who_asks
from allpairs.db.errors import InputError
from allpairs.db.schema.tables import now

DIFFERENT = later("the two passwords differ: type them again")


def main() -> None:
    """Draw the page."""
    guest = who_asks().guest
    if guest is None:
        return
    st.title(_("Account"), anchor=False)
    greeting = _("You are signed in as **{name}**. Your answers are stored under this name.", name=literal(guest.name))
    st.write(greeting)
    browsers(guest)
    if has_password(system_engine(), guest.person_id):
        password(guest)
    else:
        st.caption(_("You sign in through your organisation's identity provider, so there is no password here."))
    st.page_link("../pages/rest_api.py", label=_("API tokens"), icon=":material/vpn_key:")


def browsers(guest: Guest) -> None:
    """Draw where the person is signed in, and the buttons that sign out."""
    logins = where_logged_in(system_engine(), guest.person_id, now())
    with st.container(border=True):
        st.subheader(_("Signed in"), anchor=False)
        for login in logins:
            times = {"created": ago(login.created_at, words()), "seen": ago(login.seen_at, words())}
            this_browser = _("**This browser**: signed in {created}, last used {seen}.", **times)
            another_browser = _("Another browser: signed in {created}, last used {seen}.", **times)
            st.markdown(this_browser if login.id == guest.login_id else another_browser)
        with st.container(horizontal=True):
            st.button(_("Sign out"), key="log_out", icon=":material/logout:", on_click=_log_out, args=(guest, False))
            if len(logins) > 1:
                title = _("Sign out everywhere ({n} browsers)", n=len(logins))
                st.button(
                    title,
                    key="log_out_everywhere",
                    icon=":material/logout:",
                    on_click=_log_out,
                    args=(guest, True),
                    help=_("Also revokes your tokens."),
                )


def _log_out(guest: Guest, everywhere: bool) -> None:
    logins.log_out(system_engine(), guest, now(), everywhere)
    forget_who_asks()
    if st.user.get("is_logged_in"):  # otherwise the identity provider would sign them in again at once
        st.logout()


def password(guest: Guest) -> None:
    """Draw the form that changes the password, and its outcome."""
    with st.form("password", clear_on_submit=True):
        st.subheader(_("Password"), anchor=False)
        old = st.text_input(_("Current password"), type="password", key="old_password")
        new = st.text_input(
            _("New password"), type="password", key="new_password", help=_("At least {n} characters.", n=SHORTEST)
        )
        repeated = st.text_input(_("New password again"), type="password", key="new_password_again")
        st.caption(_("This signs out all your other browsers and revokes all your API tokens."))
        changed = st.form_submit_button(_("Change password"), icon=":material/key:", type="primary")
    if not changed:
        return
    with told():
        if new != repeated:
            raise InputError(DIFFERENT)
        address = str(st.context.ip_address or "this machine")
        logins.change_own_password(system_engine(), guest, old, new, address, now())
        st.success(_("Your password has been changed."), icon=":material/check:")


main()

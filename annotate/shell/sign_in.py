"""What the app shows to people who are not signed in: the way to the sign-in page or to an identity provider."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from html import escape
from typing import Any
from urllib.parse import quote

import streamlit as st

from allpairs.annotate.frame.access import cookies, invitations, logins, provider_groups
from allpairs.annotate.frame.access.roles import NAMES
from allpairs.annotate.frame.language.links import language_links
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.frame.web.middleware import LOG_IN, LOGIN
from allpairs.annotate.frame.web.security_headers import LEAVE_SCRIPT
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.language import _, words
from allpairs.annotate.kit.ui.state import system_engine
from allpairs.db.errors import InputError
from allpairs.db.schema.tables import now

DEFAULT = "default"  # the provider configured in [auth] itself
NO_LINK = later("Ask an administrator of your project for an invitation link, open it, and sign in from there.")
FRESH = timedelta(minutes=15)  # age up to which a provider's word counts; some date it back by five minutes


def providers() -> dict[str, str]:
    """Return the title of each OpenID Connect provider in Streamlit's secrets, by its name."""
    if not st.secrets.load_if_toml_exists():
        return {}
    section: Mapping[str, Any] = st.secrets.get("auth", {})
    named = {name: name.replace("_", " ").capitalize() for name, part in section.items() if isinstance(part, Mapping)}
    return ({DEFAULT: later("single sign-on")} if "client_id" in section else {}) | named


def sign_in() -> None:
    """Send whoever is not signed in to the sign-in page or provider.

    What a provider said a while ago counts as not said: Streamlit keeps it in the browser for 30 days.
    """
    st.title("Allpairs", anchor=False)
    known_providers = providers()
    if known_providers and st.user.is_logged_in and _is_fresh(st.user.get("iat")):
        _vouched_for()
    elif (provider := st.query_params.get(LOG_IN)) in known_providers:
        st.login(None if provider == DEFAULT else provider)
    else:
        st.write(_("You are not signed in."))
        _go(LOGIN, _("Sign in"), come_back=True)


def _is_fresh(issued: object) -> bool:
    """Return whether a token of this time (seconds since 1970; OpenID Connect requires it) was issued just now."""
    return isinstance(issued, int | float) and abs(now().timestamp() - issued) <= FRESH.total_seconds()


def role_groups() -> tuple[provider_groups.ProviderGroup, ...]:
    """Return the groups in Streamlit's secrets that give roles."""
    entries = st.secrets.get("groups", ()) if st.secrets.load_if_toml_exists() else ()
    return provider_groups.groups_from(entries)


def _vouched_for() -> None:
    """Sign in the person that the provider identifies, if they have an account or may make one; else say why not."""
    issuer = str(st.user.get("iss") or "")
    subject = str(st.user.get("sub") or "")
    called = str(st.user.get("name") or st.user.get("email") or subject)
    if not issuer or not subject:
        st.error(_("Your identity provider did not send an issuer and a subject (iss and sub). Ask an administrator."))
    else:
        roles = provider_groups.wanted_roles(role_groups(), issuer, st.user.get("groups"))
        provider_groups.follow(system_engine(), issuer, subject, roles, now())
        if _enter(issuer, subject):
            return
        message = _("Your provider identifies you as **{name}**, but you have no account here.", name=literal(called))
        st.write(message)
        if any(roles.values()):
            of_groups = partial(provider_groups.join, issuer=issuer, subject=subject, roles=roles)
            _join(issuer, subject, called, lambda name: of_groups(system_engine(), name, time=now()))
        else:
            _invited(issuer, subject, called)
    st.button(_("Use another account"), key="leave_provider", icon=":material/logout:", on_click=st.logout)
    st.html(language_links(words(), "/"))


def _enter(issuer: str, subject: str) -> bool:
    """Return whether the person is known; if so, send them through the address that sets the cookie."""
    browser_id = browser()
    ticket = logins.ticket_for(system_engine(), issuer, subject, browser_id, now()) if browser_id else None
    if ticket is not None:
        _go(f"{LOGIN}/ticket/{quote(ticket)}", _("Continue"))
    return ticket is not None


def browser() -> str:
    """Return what identifies this browser; empty unless a provider has identified somebody in it."""
    return cookies.browser_of(st.context.cookies.to_dict())


def invitation_token() -> str:
    """Return the token of the invitation opened in this browser; empty where none was."""
    return st.context.cookies.get(cookies.INVITED, "")


def _invited(issuer: str, subject: str, called: str) -> None:
    """Draw the invitation opened in this browser if it is valid, or say how to get one."""
    token = invitation_token()
    try:
        offer = invitations.offer_of(system_engine(), token, now())
    except InputError as error:
        st.error(words().sentence(error) if token else _(NO_LINK))
        return
    role = _(NAMES[offer.role])
    st.write(_("You are invited to **{project}**, as {role}.", project=literal(offer.project), role=role))
    accept = partial(invitations.accept_by_subject, issuer=issuer, subject=subject)
    _join(issuer, subject, called, lambda name: accept(system_engine(), token, name, time=now()))


def _join(issuer: str, subject: str, called: str, make: Callable[[str], None]) -> None:
    """Draw the choice of a name, and the button that makes the account."""
    name = st.text_input(_("Your name (stored with your answers)"), called[:80], key="vouched_name", max_chars=80)
    if not st.button(_("Join"), key="join", type="primary"):
        return
    with told():
        make(name)
        _enter(issuer, subject)


def _go(address: str, label: str, come_back: bool = False) -> None:
    """Send the browser to another address of this server; without scripts, draw a link."""
    back = "?next=" if come_back else ""
    link = f'<a href="{escape(f".{address}")}" target="_self" data-leave="{back}">{escape(label)}</a>'
    st.html(f"{link}<script>{LEAVE_SCRIPT}</script>", unsafe_allow_javascript=True)

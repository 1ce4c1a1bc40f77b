"""The address of an invitation: what it offers to whoever opens it, or why it offers nothing."""

from collections.abc import Callable, Mapping
from datetime import datetime
from html import escape
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from allpairs.annotate.frame.access import cookies, invitations, logins
from allpairs.annotate.frame.access.invitations import Offer, UsedError
from allpairs.annotate.frame.access.logins import Guest
from allpairs.annotate.frame.access.roles import NAMES, ROLES_IN_WORDS
from allpairs.annotate.frame.language.translator import Words, later
from allpairs.annotate.frame.web import login_forms
from allpairs.annotate.frame.web.login_forms import Reader
from allpairs.annotate.frame.web.login_routes import (
    SignInDesk,
    entering,
    form_field,
    page_reader,
    sign_in_address,
    signed_in,
    with_engine,
)
from allpairs.annotate.frame.web.middleware import is_secure
from allpairs.db.errors import InputError
from allpairs.db.schema.tables import now

DIFFERENT = later("the two passwords differ: type them again")
LEAVE = "leave"  # the field of the form that signs out


def invitation_routes(providers: Callable[[], Mapping[str, str]], clock: Callable[[], datetime] = now) -> list[Route]:
    """Return the routes; providers: the title of each OpenID Connect provider by its name, read at each request."""
    desk = SignInDesk(providers, clock)
    address = f"/{invitations.PATH}/{{token}}"
    return [
        Route(address, desk.answering(offer), methods=["GET"]),
        Route(address, desk.answering(accept_invitation), methods=["POST"]),
    ]


def offer(desk: SignInDesk, request: Request, form: FormData, wrong: InputError | None = None) -> Response:
    """Show what the invitation offers, and how to accept it. Whoever has used it is in their project at once."""
    token = request.path_params["token"]
    guest = signed_in(request)
    reader, _ = page_reader(request, f"/{invitations.PATH}/{token}")
    person_id = guest.person_id if guest is not None else 0
    try:
        offered = with_engine(lambda engine: invitations.offer_of(engine, token, desk.clock(), person_id))
    except InputError as error:
        return _closed(reader, guest, error)
    if offered.joined:
        return _into(offered.project)
    if guest is not None:
        return _offer_to_guest(reader, guest, offered, _.sentence(wrong) if wrong else "")
    return _offer_to_stranger(desk, request, reader, offered, form_field(form, "name"), wrong)


def accept_invitation(desk: SignInDesk, request: Request, form: FormData) -> Response:
    """Add a known or new person to the project; or show the form again with the error."""
    token = request.path_params["token"]
    guest = signed_in(request)
    name = form_field(form, "name")
    try:
        if guest is not None and form_field(form, LEAVE):
            return _leave(desk, request, guest)
        if guest is not None:
            return _into(with_engine(lambda engine: invitations.accept(engine, token, guest.person_id, desk.clock())))
        if form_field(form, "password") != form_field(form, "again"):
            raise InputError(DIFFERENT)
        password = form_field(form, "password")
        login = with_engine(lambda engine: invitations.accept_as_new(engine, token, name, password, desk.clock()))
    except InputError as error:
        return offer(desk, request, form, error)
    return entering(request, login, f"/{invitations.PATH}/{quote(token, safe='')}")


def _closed(reader: Reader, guest: Guest | None, error: InputError) -> Response:
    """Return the page of an invitation that nobody can accept; whoever may have used it is offered to sign in."""
    _ = reader.words
    link = login_forms.main_link("/", _("Open the app"))
    if isinstance(error, UsedError) and guest is None:
        link = login_forms.main_link(sign_in_address(reader.address), _("Sign in"))
    body = f"<h1>{escape(_('Invitation'))}</h1><p>{escape(_.sentence(error))}</p>{link}"
    return login_forms.page(reader, _("Invitation"), body + (_not_you(_, guest) if guest is not None else ""), 404)


def _offer_to_guest(reader: Reader, guest: Guest, offered: Offer, wrong: str) -> Response:
    _ = reader.words
    parts = [_title(_)]
    if offered.current_role is not None:
        name = f"<b>{escape(offered.project)}</b>"
        role = escape(_(NAMES[offered.current_role]))
        parts.append(f"<p>{escape(_('You are in {project} as {role}.')).format(project=name, role=role)}</p>")
    if offered.gains:
        parts += [_what(_, offered), login_forms.form("", _("Join as {name}", name=guest.name), "", wrong)]
    else:
        unused = _("The invitation gives you nothing more, and stays good for somebody else.")
        link = f"/?project={quote(offered.project, safe='')}"
        parts += [f"<p>{escape(unused)}</p>", login_forms.main_link(link, _("Open the project"))]
    return login_forms.page(reader, _("Invitation"), "".join(parts) + _not_you(_, guest))


def _not_you(_: Words, guest: Guest) -> str:
    """Return the way out for somebody else at the same browser."""
    label = _("Sign out, I am not {name}", name=guest.name)
    return login_forms.form(login_forms.hidden(LEAVE, "1"), label, second=True)


def _offer_to_stranger(
    desk: SignInDesk, request: Request, reader: Reader, offered: Offer, name: str, wrong: InputError | None
) -> Response:
    _ = reader.words
    ways = desk.ways(reader.words)
    fields = (
        login_forms.text("name", _("Your name (stored with your answers)"), name, "username")
        + login_forms.text("password", _("A password, 10 characters or more"), "", "new-password", "password")
        + login_forms.text("again", _("Repeat the password"), "", "new-password", "password")
    )
    account = login_forms.form(fields, _("Create account"), "", _.sentence(wrong) if wrong else "")
    sign_in = f'<a href="{login_forms.link_to(sign_in_address(reader.address))}">{escape(_("Sign in first"))}</a>'
    known = f'<p class="last">{escape(_("Already have an account?"))} {sign_in}</p>'
    body = _title(_) + _what(_, offered) + account + login_forms.buttons(ways) + known
    response = login_forms.page(reader, _("Invitation"), body, 400 if wrong else 200)
    if ways:  # the provider sends the user back without the link
        token = request.path_params["token"]
        response.set_cookie(
            cookies.INVITED, token, max_age=900, secure=is_secure(request), httponly=True, samesite="lax"
        )
    return response


def _title(_: Words) -> str:
    return f"<h1>{escape(_('You are invited'))}</h1>"


def _what(_: Words, offered: Offer) -> str:
    """Return what somebody joins, as HTML."""
    sentence = escape(_("Join the project {project} as {role}: {about}.")).format(
        project=f"<b>{escape(offered.project)}</b>",
        role=escape(_(NAMES[offered.role])),
        about=escape(_(ROLES_IN_WORDS[offered.role])),
    )
    return f"<p>{sentence}</p>"


def _leave(desk: SignInDesk, request: Request, guest: Guest) -> Response:
    """Sign the person out of this browser, and show the invitation again."""
    with_engine(lambda engine: logins.log_out(engine, guest, desk.clock()))
    response = RedirectResponse(request.url.path, status_code=303)
    cookies.forget_provider(response, request.cookies)
    return response


def _into(project: str) -> Response:
    return RedirectResponse(f"/?project={quote(project, safe='')}", status_code=303)

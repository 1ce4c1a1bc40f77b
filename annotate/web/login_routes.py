"""The addresses where people sign in. They set the cookie, which a page of the app cannot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import TypeVar
from urllib.parse import quote, urlsplit

from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from allpairs.annotate.access import cookies, invitations, logins
from allpairs.annotate.access.addresses import is_own, public_urls
from allpairs.annotate.access.logins import Guest, TooMany
from allpairs.annotate.access.roles import ABOUT
from allpairs.annotate.web import login_forms
from allpairs.annotate.web.middleware import LOG_IN, LOGIN, address_of, is_secure
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import make_engine
from allpairs.db.schema.tables import now

LONGEST_FORM = 20_000  # bytes; read before anybody is signed in
FOREIGN = "this form was not sent from its own page: open the page again and send it from there"
NO_TICKET = "Signing in with your provider took too long, or was done in another browser. Sign in again."
T = TypeVar("T")
Answer = Callable[["Desk", Request, FormData], Response]


def routes(providers: Callable[[], Mapping[str, str]], clock: Callable[[], datetime] = now) -> list[Route]:
    """Return the routes; providers: the title of each OpenID Connect provider by its name, read at each request."""
    desk = Desk(providers, clock)
    get, post = ["GET"], ["POST"]
    return [
        Route(LOGIN, desk.answering(Desk.ask), methods=get),
        Route(LOGIN, desk.answering(Desk.log_in), methods=post),
        Route(f"{LOGIN}/ticket/{{ticket}}", desk.answering(Desk.redeem), methods=get),
        Route(f"/{invitations.PATH}/{{token}}", desk.answering(Desk.offer), methods=get),
        Route(f"/{invitations.PATH}/{{token}}", desk.answering(Desk.accept), methods=post),
    ]


@dataclass(frozen=True)
class Desk:
    """The handlers, with what they need."""

    providers: Callable[[], Mapping[str, str]]
    clock: Callable[[], datetime]

    def answering(self, answer: Answer) -> Callable[[Request], object]:
        """Wrap a handler to run off the event loop; forms from other sites are refused."""

        async def endpoint(request: Request) -> Response:
            form = FormData()
            if request.method == "POST":
                if not _is_own(request) or int(request.headers.get("content-length") or LONGEST_FORM) >= LONGEST_FORM:
                    return login_forms.notice("Refused", f"{FOREIGN[0].upper()}{FOREIGN[1:]}.", 403)
                form = await request.form(max_files=0, max_fields=10)
            return await run_in_threadpool(answer, self, request, form)

        return endpoint

    def ask(self, request: Request, form: FormData) -> Response:
        """Show the sign-in page; whoever is signed in is redirected at once."""
        wanted = safe_next(request.query_params.get("next", ""))
        if _guest(request) is not None:
            return RedirectResponse(wanted, status_code=303)
        return login_forms.login_page(wanted, self._ways())

    def log_in(self, request: Request, form: FormData) -> Response:
        """Redirect with a new token, or show the form again with the error."""
        name, password, wanted = _field(form, "name"), _field(form, "password"), safe_next(_field(form, "next"))
        old = cookies.token_in(request.cookies, is_secure(request))
        try:
            token = _with_engine(
                lambda engine: logins.log_in(engine, name, password, address_of(request), self.clock(), old)
            )
        except InputError as error:
            status = 429 if isinstance(error, TooMany) else 401
            return login_forms.login_page(wanted, self._ways(), name, str(error), status)
        return _entering(request, token, wanted)

    def redeem(self, request: Request, form: FormData) -> Response:
        """Sign in a provider's user by the ticket that the page made."""
        ticket, browser = request.path_params["ticket"], cookies.browser_of(request.cookies)
        token = _with_engine(lambda engine: logins.redeem(engine, ticket, browser, self.clock())) if browser else None
        return (
            _entering(request, token, "/") if token else login_forms.notice("Sign in", NO_TICKET, 403, LOGIN, "Sign in")
        )

    def offer(self, request: Request, form: FormData, name: str = "", wrong: str = "") -> Response:
        """Show what the invitation offers, and how to accept it."""
        token = request.path_params["token"]
        try:
            found = _with_engine(lambda engine: invitations.offer_of(engine, token, self.clock()))
        except InputError as error:
            return login_forms.notice("Invitation", f"{str(error)[0].upper()}{str(error)[1:]}.", 404)
        guest, ways = _guest(request), self._ways()
        what = f"Join the project <b>{escape(found.project)}</b> as {found.role}: {escape(ABOUT[found.role])}."
        head = f"<h1>You are invited</h1><p>{what}</p>"
        if guest is not None:
            return login_forms.page("Invitation", head + login_forms.form("", f"Join as {guest.name}", "", wrong))
        fields = (
            login_forms.text("name", "Your name (stored with your answers)", name, "username")
            + login_forms.text("password", "A password, 10 characters or more", "", "new-password", "password")
            + login_forms.text("again", "Repeat the password", "", "new-password", "password")
        )
        back = f"{LOGIN}?next={quote(f'/{invitations.PATH}/{token}', safe='')}"
        known = f'<p class="last">Already have an account? <a href="{escape(back)}">Sign in first</a>.</p>'
        body = head + login_forms.form(fields, "Create account", "", wrong) + login_forms.buttons(ways) + known
        response = login_forms.page("Invitation", body, 400 if wrong else 200)
        if ways:  # the provider sends the user back without the link
            response.set_cookie(
                cookies.INVITED, token, max_age=900, secure=is_secure(request), httponly=True, samesite="lax"
            )
        return response

    def accept(self, request: Request, form: FormData) -> Response:
        """Add a known or new person to the project; or show the form again with the error."""
        token, guest, name = request.path_params["token"], _guest(request), _field(form, "name")
        try:
            if guest is not None:
                _with_engine(lambda engine: invitations.accept(engine, token, guest.person_id, self.clock()))
                return RedirectResponse("/", status_code=303)
            if _field(form, "password") != _field(form, "again"):
                raise InputError("the two passwords are not the same")
            password = _field(form, "password")
            login = _with_engine(lambda engine: invitations.accept_as_new(engine, token, name, password, self.clock()))
        except InputError as error:
            return self.offer(request, form, name, str(error))
        return _entering(request, login, "/")

    def _ways(self) -> dict[str, str]:
        """Return the title of each provider's link by its address."""
        found = self.providers().items()
        return {f"/?{LOG_IN}={quote(name, safe='')}": f"Sign in with {title}" for name, title in found}


def safe_next(wanted: str) -> str:
    """Return the address if it belongs to this app, else its start page, so that no link leads elsewhere."""
    plain = wanted.isprintable() and "\\" not in wanted  # browsers drop tabs and read \ as /
    if not plain or not wanted.startswith("/") or wanted.startswith("//"):
        return "/"
    parts = urlsplit(wanted)
    inside = not parts.scheme and not parts.netloc and parts.path not in (LOGIN, f"{LOGIN}/")
    return quote(wanted, safe="/?&=%+:,;@!$'()*~-._#") if inside else "/"


def _is_own(request: Request) -> bool:
    """Return whether the form was sent from a page of this very site."""
    origin = request.headers.get("origin")
    if origin is None:
        return request.headers.get("sec-fetch-site") == "same-origin"
    return is_own(origin, request.headers.get("host"), public_urls())


def _guest(request: Request) -> Guest | None:
    """Return who is signed in, as the auth middleware has found."""
    return request.scope.get("state", {}).get("guest")


def _field(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def _entering(request: Request, token: str, to: str) -> Response:
    response = RedirectResponse(to, status_code=303)
    cookies.set_token(response, token, is_secure(request))
    response.headers["Cache-Control"] = "no-store"
    return response


def _with_engine(act: Callable[[Engine], T]) -> T:
    engine = make_engine()
    try:
        return act(engine)
    finally:
        engine.dispose()

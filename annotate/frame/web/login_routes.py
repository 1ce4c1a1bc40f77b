"""The addresses where people sign in. They set the cookie, which a page of the app cannot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote, urlsplit

from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from allpairs.annotate.frame.access import cookies, invitations, logins
from allpairs.annotate.frame.access.addresses import is_own, local_path
from allpairs.annotate.frame.access.logins import Guest, TooMany
from allpairs.annotate.frame.language.translator import Words, later
from allpairs.annotate.frame.web import login_forms
from allpairs.annotate.frame.web.language_routes import words_for
from allpairs.annotate.frame.web.login_forms import Reader
from allpairs.annotate.frame.web.middleware import LOG_IN, LOGIN, address_of, is_secure
from allpairs.annotate.frame.web.proxies import other_host
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import make_engine
from allpairs.db.schema.tables import now

LONGEST_FORM = 20_000  # bytes; read before anybody is signed in
FOREIGN = later("This form was not sent from its own page. Open the page again and send it from there.")
TOO_LONG = later("This form is too long: shorten what you typed.")
NO_TICKET = later("Signing in with your provider took too long, or was done in another browser. Sign in again.")
T = TypeVar("T")
Answer = Callable[["SignInDesk", Request, FormData], Response]


def login_routes(providers: Callable[[], Mapping[str, str]], clock: Callable[[], datetime] = now) -> list[Route]:
    """Return the routes; providers: the title of each OpenID Connect provider by its name, read at each request."""
    desk = SignInDesk(providers, clock)
    get = ["GET"]
    post = ["POST"]
    return [
        Route(LOGIN, desk.answering(SignInDesk.ask), methods=get),
        Route(LOGIN, desk.answering(SignInDesk.log_in), methods=post),
        Route(f"{LOGIN}/ticket/{{ticket}}", desk.answering(SignInDesk.redeem), methods=get),
    ]


@dataclass(frozen=True)
class SignInDesk:
    """The handlers, with what they need."""

    providers: Callable[[], Mapping[str, str]]
    clock: Callable[[], datetime]

    def answering(self, answer: Answer) -> Callable[[Request], object]:
        """Wrap a handler to run off the event loop; forms from other sites are refused."""

        async def endpoint(request: Request) -> Response:
            form = FormData()
            if request.method == "POST":
                reader, _ = page_reader(request, LOGIN)
                if not _is_own(request):
                    return login_forms.notice(reader, _("Refused"), other_host(request, _) or _(FOREIGN), 403)
                if int(request.headers.get("content-length") or LONGEST_FORM) >= LONGEST_FORM:
                    return login_forms.notice(reader, _("Refused"), _(TOO_LONG), 413)
                form = await request.form(max_files=0, max_fields=10)
            return await run_in_threadpool(answer, self, request, form)

        return endpoint

    def ask(self, request: Request, form: FormData) -> Response:
        """Show the sign-in page; whoever is signed in is redirected at once."""
        next_address = safe_next(request.query_params.get("next", ""))
        if signed_in(request) is not None:
            return RedirectResponse(next_address, status_code=303)
        reader, _ = page_reader(request, sign_in_address(next_address))
        return login_forms.login_page(reader, next_address, self.ways(_))

    def log_in(self, request: Request, form: FormData) -> Response:
        """Redirect with a new token, or show the form again with the error."""
        name = form_field(form, "name")
        password = form_field(form, "password")
        next_address = safe_next(form_field(form, "next"))
        old = cookies.token_in(request.cookies, is_secure(request))
        try:
            token = with_engine(
                lambda engine: logins.log_in(engine, name, password, address_of(request), self.clock(), old)
            )
        except InputError as error:
            status = 429 if isinstance(error, TooMany) else 401
            reader, _ = page_reader(request, sign_in_address(next_address))
            return login_forms.login_page(reader, next_address, self.ways(_), name, _.sentence(error), status)
        return entering(request, token, next_address)

    def redeem(self, request: Request, form: FormData) -> Response:
        """Sign in a provider's user by the ticket that the page made."""
        ticket = request.path_params["ticket"]
        browser = cookies.browser_of(request.cookies)
        token = (
            with_engine(lambda engine: logins.redeem_ticket(engine, ticket, browser, self.clock())) if browser else None
        )
        if token:
            invited = request.cookies.get(cookies.INVITED, "")
            response = entering(request, token, f"/{invitations.PATH}/{quote(invited, safe='')}" if invited else "/")
            response.delete_cookie(cookies.INVITED)
            return response
        reader, _ = page_reader(request, LOGIN)
        return login_forms.notice(reader, _("Sign in"), _(NO_TICKET), 403, LOGIN, _("Sign in"))

    def ways(self, _: Words) -> dict[str, str]:
        """Return the title of each provider's link by its address."""
        providers = self.providers().items()
        return {
            f"/?{LOG_IN}={quote(name, safe='')}": _("Sign in with {provider}", provider=_(title))
            for name, title in providers
        }


def safe_next(address: str) -> str:
    """Return the address if it belongs to this app and is not the sign-in page, else the start page."""
    path = local_path(address)
    return path if urlsplit(path).path not in (LOGIN, f"{LOGIN}/") else "/"


def sign_in_address(next_address: str) -> str:
    """Return the address of the sign-in page that leads on to this one."""
    return LOGIN if next_address == "/" else f"{LOGIN}?next={quote(next_address, safe='')}"


def page_reader(request: Request, address: str) -> tuple[Reader, Words]:
    """Return who reads the page of this address, and the texts in their language."""
    words = words_for(request)
    return Reader(words, address), words


def _is_own(request: Request) -> bool:
    """Return whether the form was sent from a page of this very site."""
    origin = request.headers.get("origin")
    if origin is None:
        return request.headers.get("sec-fetch-site") == "same-origin"
    return is_own(origin, request.headers.get("host"))


def signed_in(request: Request) -> Guest | None:
    """Return who is signed in, as the auth middleware has found."""
    return request.scope.get("state", {}).get("guest")


def form_field(form: FormData, name: str) -> str:
    """Return what somebody typed; empty if the form has no such field."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def entering(request: Request, token: str, to: str) -> Response:
    """Return the way to this address for whoever has just signed in."""
    response = RedirectResponse(to, status_code=303)
    cookies.set_token(response, token, is_secure(request))
    cookies.forget_provider(response, request.cookies)
    response.headers["Cache-Control"] = "no-store"
    return response


def with_engine(act: Callable[[Engine], T]) -> T:
    """Return what the act returns, given an engine of its own."""
    engine = make_engine()
    try:
        return act(engine)
    finally:
        engine.dispose()

"""Authentication of every request and of every message of an open page, before anything answers.

Where users must sign in, only the sign-in page, the choice of a language, the app's empty frame and the description of
the REST API answer without it. The API and the metrics accept only tokens of programs, no cookie. Where nobody signs
in, only requests from the same machine are answered. Health checks always answer, even while the database is
unreachable.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from urllib.parse import quote, urlsplit

from sqlalchemy import Engine
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from allpairs.annotate.frame.access import cookies, logins, mode, tokens
from allpairs.annotate.frame.access.addresses import is_own
from allpairs.annotate.frame.access.logins import Guest, TooMany
from allpairs.annotate.frame.language.links import PATH as LANGUAGE
from allpairs.annotate.frame.web.base_path import DESCRIPTION, REFERENCE, ROOT
from allpairs.annotate.frame.web.health import LIVES, READY
from allpairs.annotate.frame.web.problems import problem
from allpairs.annotate.frame.web.prometheus import PATH as METRICS
from allpairs.annotate.frame.web.proxies import FORWARDED, REPORT, MisconfiguredProxies
from allpairs.annotate.frame.web.security_headers import guarding
from allpairs.annotate.frame.web.sessions import Sessions
from allpairs.annotate.frame.web.sockets import PageSocket, page_headers
from allpairs.annotate.frame.web.uploads import PATH as UPLOADS
from allpairs.annotate.frame.web.uploads import Uploads
from allpairs.annotate.frame.web.work import Threads
from allpairs.db.errors import InputError
from allpairs.db.files.logs import about
from allpairs.db.loopback import is_loopback
from allpairs.db.maintenance.error_messages import if_possible
from allpairs.db.schema.engine import as_person, database_url, make_engine
from allpairs.db.schema.tables import now

LOGIN = "/login"
# Streamlit's frame contains nothing private: the script draws the page in it, and checks who asks.
OPEN = frozenset(
    {LOGIN, DESCRIPTION, REFERENCE, "/_stcore/health", "/_stcore/host-config", "/oauth2callback", "/favicon.png"}
)
OPEN_BELOW = (f"{LOGIN}/", f"{LANGUAGE}/", "/invitation/", "/auth/", f"{REPORT}/")
FRAME = "/static/"
PROBES = (LIVES, READY)
THREADS = 20  # that look up who asks
LONGEST_PATH = 2_000  # characters; Python reads no number of more than 4,300 digits
LOG_IN = "log_in"  # `?log_in=NAME`: the page that redirects to the provider
STREAMLIT = "/_stcore/"
COMPONENTS = "/_stcore/bidi-components/"
NOT_LOGGED_IN = "You are not signed in: open the app and sign in."
TWO_LENGTHS = "Send either Content-Length or Transfer-Encoding, not both."
NO_TOKEN = "send a token (Authorization: Bearer …): make one on the page API, or ask an administrator for one"
STANDALONE = (
    "This app runs without sign-in, so it only answers requests from its own machine, at localhost. To let others in, "
    "create accounts: allpairs people add NAME --administrator"
)


class AuthMiddleware:
    """The middleware; is_forced: whether users must sign in even without accounts, called at the first request."""

    def __init__(
        self,
        app: ASGIApp,
        is_forced: Callable[[], bool],
        clock: Callable[[], datetime] = now,
        sessions: Sessions | None = None,
    ) -> None:
        self.app = app
        self.is_forced = is_forced
        self.clock = clock
        self.sessions = sessions or Sessions()
        self.uploads = Uploads(app, self.sessions)
        self.proxies = MisconfiguredProxies()
        self.engines: dict[str, Engine] = {}
        self.threads = Threads(THREADS)
        self.probes = Threads(2)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        asking = HTTPConnection(scope)
        self.proxies.look(asking)
        if scope["type"] == "http":
            send = guarding(send, is_secure(asking))
        if len(scope["path"]) > LONGEST_PATH:
            await _refuse(PlainTextResponse("The address is too long.", 414), scope, receive, send)
        elif "content-length" in asking.headers and "transfer-encoding" in asking.headers:
            # The server would read on past the stated length, by which forms and uploads are limited.
            await _refuse(PlainTextResponse(TWO_LENGTHS, 400), scope, receive, send)
        elif scope["path"].startswith(FRAME) or scope["path"] in PROBES:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket" and not is_own(_origin(asking), asking.headers.get("host")):
            await _refuse(PlainTextResponse(), scope, receive, send)
        elif await self._threads_for(scope).run(self._login_needed):
            await (self._by_token if _is_for_programs(scope) else self._guarded)(scope, receive, send)
        elif not _is_alone(asking):
            await _refuse(_not_alone(scope), scope, receive, send)
        elif _is_for_programs(scope):
            scope.setdefault("state", {}).update(engine=self._engine(), annotator=mode.ANNOTATOR)
            await self.app(scope, receive, send)
        else:
            await self._pass(lambda: not self._login_needed(), True, scope, receive, send)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        asking = HTTPConnection(scope)
        token = cookies.token_in(asking.cookies, is_secure(asking))
        guest = await self.threads.run(self._guest, token) if token else None
        scope.setdefault("state", {}).update(person=guest.person_id if guest else 0, guest=guest)
        if scope["type"] == "websocket":
            good = partial(self._still, guest) if guest is not None else lambda: True
            await self._pass(good, guest is not None, scope, receive, send)
        elif guest is not None:
            if _is_page(asking) and guest.unseen:
                with if_possible():
                    await self.threads.run(logins.seen, self._engine(), guest, self.clock())
            if _is_page(asking) and guest.rotate:
                send = await self._rotating(guest, asking, send)
            with about(person=guest.person_id):
                await self._pass(lambda: True, True, scope, receive, send)
        elif _is_open(asking):
            await self.app(scope, receive, send)
        else:
            await _refuse(_to_login(asking), scope, receive, send)

    async def _pass(self, good: Callable[[], bool], known: bool, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what a page asks of Streamlit, and nothing else of Streamlit's."""
        path = scope["path"]
        if scope["type"] == "websocket":
            scope["headers"] = page_headers(scope, known, urlsplit(_origin(HTTPConnection(scope))).netloc)
            await PageSocket(self.app, good, known, self.sessions).run(scope, receive, send)
        elif path.startswith(UPLOADS):
            await self.uploads(scope, receive, send)
        elif path.startswith(STREAMLIT) and path not in OPEN and not path.startswith(COMPONENTS):
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _by_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a program that sends a valid token; a cookie will not do, so no page of another site gets through."""
        asking = HTTPConnection(scope)
        if scope["path"] in OPEN:
            await self.app(scope, receive, send)
            return
        kind, _, token = asking.headers.get("authorization", "").partition(" ")
        try:
            if kind.lower() != "bearer":
                raise InputError(NO_TOKEN)
            bearer = await self._threads_for(scope).run(
                tokens.bearer_of, self._engine(), token.strip(), address_of(asking), self.clock()
            )
        except InputError as error:
            status = 429 if isinstance(error, TooMany) else 401
            await _refuse(problem(status, str(error), {"WWW-Authenticate": "Bearer"}), scope, receive, send)
            return
        engine = as_person(self._engine(), bearer.person_id, bearer.scopes)
        scope.setdefault("state", {}).update(engine=engine, annotator=bearer.name)
        with about(person=bearer.person_id):
            await self.app(scope, receive, send)

    async def _rotating(self, guest: Guest, asking: HTTPConnection, send: Send) -> Send:
        """Return a `send` that gives the browser a new token in place of the old one."""
        token = None
        with if_possible():
            token = await self.threads.run(logins.rotated, self._engine(), guest, self.clock())
        if token is None:
            return send
        carrier = Response()
        cookies.set_token(carrier, token, is_secure(asking))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("set-cookie", carrier.headers["set-cookie"])
            await send(message)

        return sending

    def _threads_for(self, scope: Scope) -> Threads:
        """Return where to look up who asks: whoever reads the metrics waits for nobody else."""
        return self.probes if scope["path"] == METRICS else self.threads

    def _login_needed(self) -> bool:
        return mode.login_needed(self._engine(), self.is_forced())

    def _guest(self, token: str) -> Guest | None:
        return logins.guest_of(self._engine(), token, self.clock())

    def _still(self, guest: Guest) -> bool:
        return logins.still(self._engine(), guest, self.clock())

    def _engine(self) -> Engine:
        url = database_url()
        return self.engines.get(url) or self.engines.setdefault(url, make_engine(url))


def engine_for(request: HTTPConnection, engine: Engine) -> Engine:
    """Return the engine for whoever asks, as the middleware has found."""
    person = request.scope.get("state", {}).get("person")
    return engine if person is None else as_person(engine, person)


def is_secure(asking: HTTPConnection) -> bool:
    """Return whether the browser used TLS."""
    return asking.scope["scheme"] in ("https", "wss")


def address_of(asking: HTTPConnection) -> str:
    """Return where the request came from; the server has already applied a local proxy's header."""
    return asking.client.host if asking.client is not None else ""


def _is_alone(asking: HTTPConnection) -> bool:
    """Return whether the request comes directly from a browser on this very machine and names this app: not by a
    proxy, and by a host name that nobody else can point here.
    """
    forwarded = any(header in asking.headers for header in FORWARDED)
    named = is_loopback(mode.host_without_port(asking.headers.get("host", "")))
    return named and not forwarded and is_loopback(address_of(asking))


def _origin(asking: HTTPConnection) -> str:
    return asking.headers.get("origin", "")


def _is_for_programs(scope: Scope) -> bool:
    """Return whether the address belongs to the API or the metrics."""
    path = scope["path"]
    return bool(scope["type"] == "http" and (f"{path}/".startswith(f"{ROOT}/") or path == METRICS))


def _not_alone(scope: Scope) -> Response:
    return problem(403, STANDALONE) if _is_for_programs(scope) else PlainTextResponse(STANDALONE, status_code=403)


def _is_open(asking: HTTPConnection) -> bool:
    path = asking.scope["path"]
    leads_to_login = path == "/" and (LOG_IN in asking.query_params or cookies.PROVIDER in asking.cookies)
    return path in OPEN or path.startswith(OPEN_BELOW) or leads_to_login


def _is_page(asking: HTTPConnection) -> bool:
    return asking.scope["method"] == "GET" and "text/html" in asking.headers.get("accept", "")


def _to_login(asking: HTTPConnection) -> Response:
    """Redirect a person to the sign-in page, and refuse everything else."""
    path = asking.scope["path"]
    query = asking.url.query
    if not _is_page(asking) or path.startswith(("/_stcore/", "/media/", "/component/")):
        return PlainTextResponse(NOT_LOGGED_IN, status_code=401)
    next_address = path + (f"?{query}" if query else "")
    return RedirectResponse(
        LOGIN if next_address == "/" else f"{LOGIN}?next={quote(next_address, safe='')}", status_code=303
    )


async def _refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    else:
        await response(scope, receive, send)

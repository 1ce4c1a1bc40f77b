"""Responses while the disk is full or read-only, or the database is away: the reason in place of a bare error."""

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from allpairs.annotate.frame.web.base_path import ROOT
from allpairs.annotate.frame.web.language_routes import words_for
from allpairs.annotate.frame.web.login_forms import Reader, notice
from allpairs.annotate.frame.web.middleware import is_secure
from allpairs.annotate.frame.web.problems import Wrong, problem, wrong_fault
from allpairs.annotate.frame.web.security_headers import guarding


class FaultMiddleware:
    """The outermost middleware: it answers for every route and for the auth middleware; the API answers for itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = scope["type"] != "http"

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception as error:
            wrong = None if begun else wrong_fault(error)
            if wrong is None:
                raise
            asking = HTTPConnection(scope)
            await _response(asking, wrong)(scope, receive, guarding(send, is_secure(asking)))


def _response(asking: HTTPConnection, wrong: Wrong) -> Response:
    """Return a page where a person opens one, else a problem document, which no proxy in front of the app sends."""
    is_for_programs = f"{asking.scope['path']}/".startswith(f"{ROOT}/")
    if is_for_programs or "text/html" not in asking.headers.get("accept", ""):
        return problem(wrong.status, wrong.detail)
    reader = Reader(words_for(asking), "/")
    return notice(reader, reader.words("Try again later"), wrong.detail, wrong.status)

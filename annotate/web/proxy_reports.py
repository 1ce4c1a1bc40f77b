"""The address at which a browser asks why a page does not open, or why a file did not arrive: the log tells it, too."""

import logging

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from allpairs.annotate.language.translator import ENGLISH_WORDS
from allpairs.annotate.web.language_routes import words_for
from allpairs.annotate.web.proxies import FILE_TOO_LONG, MOST, NO_SOCKET, REPORT, other_host

REASONS = {"socket": NO_SOCKET, "upload": FILE_TOO_LONG}

log = logging.getLogger(__name__)


class ProxyReports:
    """Answers in the person's language, and logs the first reports: anybody may send some."""

    def __init__(self) -> None:
        self.logged = 0

    def route(self) -> Route:
        """Return the route."""
        return Route(f"{REPORT}/{{what}}", self._answer, methods=["POST"])

    def _answer(self, request: Request) -> Response:
        reason = REASONS.get(request.path_params["what"])
        if reason is None:
            return PlainTextResponse("Not Found", 404)
        self._log(other_host(request, ENGLISH_WORDS) or reason)
        words = words_for(request)
        return PlainTextResponse(other_host(request, words) or words(reason))

    def _log(self, line: str) -> None:
        self.logged += 1
        if self.logged <= MOST:
            log.warning("a browser reports: %s", line)

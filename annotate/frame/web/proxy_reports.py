"""The address at which a browser asks why a page does not open, or why a file did not arrive: the log tells it, too."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from allpairs.annotate.frame.language.translator import ENGLISH_WORDS, Words
from allpairs.annotate.frame.web.language_routes import words_for
from allpairs.annotate.frame.web.proxies import FILE_TOO_LONG, NO_SOCKET, REPORT, UPGRADE, FewLines, other_host

REASONS = {"socket": NO_SOCKET, "upload": FILE_TOO_LONG}


class ProxyReports:
    """Answers in the person's language, and logs the first reports."""

    def __init__(self) -> None:
        self.log = FewLines()

    def route(self) -> Route:
        """Return the route."""
        return Route(f"{REPORT}/{{what}}", self._answer, methods=["POST"])

    def _answer(self, request: Request) -> Response:
        reason = REASONS.get(request.path_params["what"])
        if reason is None:
            return PlainTextResponse("Not Found", 404)
        self.log.warn(f"a browser reports: {_report(request, reason, ENGLISH_WORDS)}")
        return PlainTextResponse(_report(request, reason, words_for(request)))


def _report(request: Request, reason: str, words: Words) -> str:
    return other_host(request, words) or words(reason, upgrade=UPGRADE)

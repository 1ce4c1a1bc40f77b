"""The address at which a browser remembers the language that somebody chose."""

from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from allpairs.annotate.frame.access.addresses import local_path
from allpairs.annotate.frame.language.catalog import COOKIE, LANGUAGES, LASTS, chosen
from allpairs.annotate.frame.language.links import PATH
from allpairs.annotate.frame.language.translator import Words, words_in
from allpairs.annotate.frame.web.middleware import is_secure


def language_route() -> Route:
    """Return the route `/language/CODE?next=ADDRESS`."""
    return Route(f"{PATH}/{{code}}", _choose, methods=["GET"])


def words_for(asking: HTTPConnection) -> Words:
    """Return the texts in the language of whoever asks."""
    return words_in(chosen(asking.cookies.get(COOKIE), asking.headers.get("accept-language", "")))


def _choose(request: Request) -> Response:
    """Remember the language, unless there is no such one, and go back."""
    response = RedirectResponse(local_path(request.query_params.get("next", "")), status_code=303)
    code = request.path_params["code"]
    if code in LANGUAGES:
        response.set_cookie(
            COOKIE, code, max_age=LASTS, path="/", secure=is_secure(request), httponly=True, samesite="lax"
        )
    return response

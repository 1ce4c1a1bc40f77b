"""Streamlit's empty frame at the address of each page of ours, told at once where the app is, in a person's language.

From a page's address alone the frame would have to try out where the app begins, and would be refused at first.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlencode

import streamlit
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from allpairs.annotate.frame.access.cookies import DEVICE
from allpairs.annotate.frame.language.catalog import LANGUAGES, Language
from allpairs.annotate.frame.language.translator import browser_words
from allpairs.annotate.frame.web.language_routes import words_for
from allpairs.annotate.frame.web.middleware import is_secure
from allpairs.annotate.frame.web.security_headers import APP_SCRIPT, FRAME_SCRIPT, YEAR

MISSING = "missing"  # in the query: an address that is no page's
STREAMLITS = ("/_stcore", "/media/", "/component/", "/static/", "/app/static/", "/oauth2callback", "/auth/")
INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
NAMES = (
    "language.js",
    "input.js",
    "history.js",
    "changes.js",
    "menu.js",
    "accessibility.js",
    "unsent_answers.js",
    "connection.js",
    "uploads.js",
    "drafts.js",
)
STYLE = Path(__file__).with_name("frame.css")
FROM_RIGHT = Path(__file__).with_name("right_to_left.css")
SCRIPTS = [Path(__file__).with_name(name) for name in NAMES]


def frame_routes(pages: Mapping[str, str]) -> list[Route]:
    """Return the routes of the start page, of these pages (titles by address), and of the scripts that all of them run.

    Any other address leads to the page that is called so, or to the start page with a word about it.
    """
    index = INDEX.read_text(encoding="utf-8")
    answer = _answer({language: framed(index, language) for language in LANGUAGES.values()})
    scripts = [Route(f"/{script.name}", _script(script)) for script in SCRIPTS]
    frames = [Route(f"/{page}", answer) for page in ("", *pages)]
    return [*scripts, *frames, _Elsewhere("/{path:path}", _leading(pages))]


def framed(index: str, language: Language) -> str:
    """Return the frame with our scripts, their texts in this language, our style, and our name."""
    texts = browser_words(language).replace("<", "\\u003c")
    head = f'<script type="application/json" id="allpairs-words">{texts}</script>'
    for style in (STYLE, FROM_RIGHT) if language.from_right else (STYLE,):
        head += f"<style>{style.read_text(encoding='utf-8')}</style>"
    head += "".join(f'<script type="module" src="./{script.name}"></script>' for script in SCRIPTS)
    document = index.replace(FRAME_SCRIPT, APP_SCRIPT).replace("<title>Streamlit<", "<title>Allpairs<")
    document = document.replace('<html lang="en">', f'<html lang="{language.code}" dir="{language.direction}">')
    return document.replace("</head>", f"{head}</head>")


class _Elsewhere(Route):
    """Any address that is neither a file's nor Streamlit's own."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether the route takes the request."""
        path = _path_in_app(scope)
        is_ours = scope["type"] == "http" and "." not in path and not path.startswith(STREAMLITS)
        return super().matches(scope) if is_ours else (Match.NONE, {})


def _leading(pages: Mapping[str, str]) -> Callable[[Request], Response]:
    by_name = {_letters(name): page for page, title in pages.items() for name in (page, title)}

    def lead(request: Request) -> Response:
        path = request.path_params["path"].strip("/")
        page = by_name.get(_letters(path))
        query = dict(request.query_params)
        query |= {} if page else {MISSING: path}
        up = "../" * _path_in_app(request.scope)[1:].count("/")  # browsers count the empty part of //label, too
        return RedirectResponse(f"{up or './'}{page or ''}{'?' if query else ''}{urlencode(query)}", 302)

    return lead


def _path_in_app(scope: Scope) -> str:
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _script(script: Path) -> Callable[[Request], Response]:
    return lambda request: FileResponse(script, headers={"Cache-Control": "no-cache"})


def _answer(frames: Mapping[Language, str]) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        response = HTMLResponse(frames[words_for(request).language], headers={"Cache-Control": "no-cache"})
        if DEVICE not in request.cookies:
            response.set_cookie(
                DEVICE, token_hex(8), max_age=YEAR, secure=is_secure(request), samesite="lax", httponly=True
            )
        return response

    return answer

"""Uploads to Streamlit: from whom, to which page, and how much at once."""

import asyncio
import re
from contextlib import suppress
from weakref import WeakSet, WeakValueDictionary

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from allpairs.annotate.frame.web.sessions import Sessions, Visit

PATH = "/_stcore/upload_file/"
ADDRESS = re.compile(rf"{PATH}([^/]+)/([^/]+)")
LIMIT = 600 * 2**20  # bytes of one person: three of the longest files, as many as a page asks for
NO_PAGE = "This page takes no files: open the page that does, and upload from there."
NO_LENGTH = "An upload must say how long it is (Content-Length)."
TOO_MUCH = "The files that you have uploaded exceed 600 MB: leave the page that they are on, which frees them."


class Uploads:
    """The uploads of all open pages. One person's go one after another, so that they cannot exceed the limit."""

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        self.app = app
        self.sessions = sessions
        self.visits: WeakSet[Visit] = WeakSet()  # those with files; a visit ends with its page
        self.turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request about a file on to Streamlit, or refuse it."""
        person = scope.get("state", {}).get("person", 0)
        address = ADDRESS.fullmatch(scope["path"])
        visit = self.sessions.visit(address[1]) if address else None
        if address is None or visit is None or visit.person != person or not visit.takes_files:
            await PlainTextResponse(NO_PAGE, 403)(scope, receive, send)
        elif scope["method"] == "PUT":
            turn = self.turns.setdefault(person, asyncio.Lock())
            async with turn:
                await self._put(visit, address[1], address[2], scope, receive, send)
        elif await self._passed(scope, receive, send) and scope["method"] == "DELETE":
            visit.files.pop(address[2], None)

    async def _put(self, visit: Visit, session: str, file: str, scope: Scope, receive: Receive, send: Send) -> None:
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            refusal: Response | None = PlainTextResponse(NO_LENGTH, 411)
        else:
            too_much = self._held(visit.person) + int(length) > LIMIT
            refusal = PlainTextResponse(TOO_MUCH, 413) if too_much else None
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        before = visit.files.get(file, 0)  # which stays if this one fails
        visit.files[file] = before + int(length)
        self.visits.add(visit)
        stored = False
        try:
            stored = await self._passed(scope, receive, send)
        finally:
            if size := int(length) if stored else before:
                visit.files[file] = size
            else:
                del visit.files[file]
        if stored and self.sessions.visit(session) is not visit:  # the page was left meanwhile
            self.sessions.drop_file(session, file)

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Pass the request on, and return whether Streamlit did what it asks."""
        stored = False

        async def sending(message: Message) -> None:
            nonlocal stored
            stored = stored or message.get("status", 500) < 300
            await send(message)

        with suppress(ClientDisconnect):  # somebody gave up
            await self.app(scope, receive, sending)
        return stored

    def _held(self, person: int) -> int:
        """Return how many bytes the person's pages hold."""
        return sum(sum(visit.files.values()) for visit in self.visits if visit.person == person)

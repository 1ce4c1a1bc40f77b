"""The websocket of an open page: which messages pass, until when, and what is left when it closes.

Streamlit acts on whatever a socket sends: it clears the caches of everybody, installs files, hands out upload
addresses. Only what our pages send gets through to it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from google.protobuf.message import DecodeError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from allpairs.annotate.frame.access import cookies
from allpairs.annotate.frame.web.sessions import Sessions, Visit

LOOK_EVERY = 2.0  # seconds between two checks of an open page's login
RERUN = "rerun_script"
BEFORE_LOGIN = frozenset({RERUN})  # draws the way to the sign-in page, or to the provider
PASSING = BEFORE_LOGIN | {"stop_script"}
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})  # downloads, and long tables
UPLOAD = "file_urls_request"
OPERATION = "backend_operation_request"
REFUSED = {"type": "websocket.close", "code": 1008}


class PageSocket:
    """One page's websocket.

    good: whether it may go on, asked every two seconds. is_known: whether the page is of somebody who may see it.
    """

    def __init__(self, app: ASGIApp, good: Callable[[], bool], is_known: bool, sessions: Sessions) -> None:
        self.app = app
        self.good = good
        self.is_known = is_known
        self.sessions = sessions
        self.ended = False
        self.session = ""
        self.page = ""  # the hash of the page that was last asked for, or that the script went on to
        self.shown: Visit | None = None

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the page until its socket or its login ends; after that, it neither receives nor sends, nor is kept."""
        self.looked = asyncio.get_running_loop().time()

        async def receiving() -> Message:
            while True:
                message = await self._next(receive)
                if message is None or message["type"] == "websocket.disconnect":
                    self.shown = self.sessions.visit(self.session)  # while Streamlit still knows the session
                if message is None:
                    with suppress(RuntimeError, OSError):  # it may already be closed
                        await send(REFUSED)
                    return {"type": "websocket.disconnect", "code": 1008}
                if message["type"] != "websocket.receive" or self._passes(message):
                    return message

        async def sending(message: Message) -> None:
            if not self.ended:
                self._learn(message)
                await send(message)

        try:
            await self.app(scope, receiving, sending)
        finally:
            if self.shown is not None:
                self.shown.end()
            if self.session:
                self.sessions.close(self.session)

    async def _next(self, receive: Receive) -> Message | None:
        """Return the next message; None once the page may not go on."""
        loop = asyncio.get_running_loop()
        message = asyncio.ensure_future(receive())
        try:
            while not self.ended:
                await asyncio.wait({message}, timeout=LOOK_EVERY)
                if loop.time() - self.looked >= LOOK_EVERY:
                    self.ended = not await run_in_threadpool(self.good)
                    self.looked = loop.time()
                if message.done() and not self.ended:
                    return message.result()
        finally:
            if not message.done():
                message.cancel()
        return None

    def _passes(self, message: Message) -> bool:
        """Return whether a page of ours sends such a message."""
        try:
            request = BackMsg.FromString(message.get("bytes") or b"")
        except DecodeError:
            return False
        kind = request.WhichOneof("type")
        if kind == UPLOAD:
            self.shown = self.sessions.visit(self.session)
            return self.is_known and self.shown is not None and self.shown.takes_files
        if kind == OPERATION:
            return self.is_known and request.backend_operation_request.WhichOneof("payload") in OPERATIONS
        is_late = kind == RERUN and self._is_late(request.rerun_script)
        return not is_late and kind in (PASSING if self.is_known else BEFORE_LOGIN)

    def _is_late(self, request: ClientState) -> bool:
        """Return whether a part of a page asks to be drawn again after the person asked for another page.

        Streamlit would draw the part once the other page is there, and the browser would lose that page.
        """
        if request.fragment_id:
            return request.page_script_hash != self.page
        self.page = request.page_script_hash
        return False

    def _learn(self, message: Message) -> None:
        """Remember what a run says as it begins: the number of the session and, as browsers do, which page it draws.

        The first run of a session knows that page only once it has the menu.
        """
        with suppress(DecodeError):
            sent = ForwardMsg.FromString(message.get("bytes") or b"")
            kind = sent.WhichOneof("type")
            if kind == "new_session":
                self.session = sent.new_session.initialize.session_id
                if not sent.metadata.run.fragment_ids:
                    self.page = sent.new_session.page_script_hash
            elif kind == "navigation":
                self.page = sent.navigation.page_script_hash


def page_headers(scope: Scope, known: bool, host: str | None = None) -> list[tuple[bytes, bytes]]:
    """Return the websocket's headers as Streamlit may see them.

    They lack the session that it would resume, which may be another person's, and our cookies unless they are valid.
    host: what the page's origin names, so that Streamlit need not find out, by asking elsewhere, who else it is.
    """
    headers = MutableHeaders(raw=list(scope["headers"]))
    if (protocols := headers.get("sec-websocket-protocol")) is not None:
        headers["sec-websocket-protocol"] = ", ".join(part.strip() for part in protocols.split(",")[:2])
    if not known and "cookie" in headers:
        headers["cookie"] = cookies.without_tokens(headers["cookie"])
    if host:
        headers["host"] = host
    return headers.raw

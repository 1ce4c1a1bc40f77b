"""The path below which a proxy shows the app, such as `/pairs`, whether the proxy keeps it or cuts it off."""

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from allpairs.annotate.frame.access.addresses import base_path


class BasePathMiddleware:
    """Cuts the path off every request and puts it before every redirection, so that nothing behind it knows of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        base = base_path() if scope["type"] in ("http", "websocket") else ""
        if not base:
            await self.app(scope, receive, send)
        elif scope["path"] == base and scope["type"] == "http":
            await RedirectResponse(_with_query(f"{base}/", scope), 308)(scope, receive, send)
        else:
            await self.app(_without(base, scope), receive, _redirecting(base, send))


def _without(base: str, scope: Scope) -> Scope:
    if not scope["path"].startswith(f"{base}/"):
        return scope
    raw_path: bytes = scope.get("raw_path") or b""
    return {**scope, "path": scope["path"].removeprefix(base), "raw_path": raw_path.removeprefix(base.encode())}


def _redirecting(base: str, send: Send) -> Send:
    """Return a `send` that puts the path before a redirection to an address of the app."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            to = headers.get("location", "")
            if to.startswith("/") and not to.startswith("//"):
                headers["location"] = base + to
        await send(message)

    return sending


def _with_query(path: str, scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


ROOT = "/api"
VERSION = "/v1"
DESCRIPTION = f"{ROOT}{VERSION}/openapi.json"
REFERENCE = f"{ROOT}{VERSION}/docs"  # the same for people

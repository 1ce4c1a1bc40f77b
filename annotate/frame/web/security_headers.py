"""Security headers of every response: which scripts may run, who may frame the page, what other sites learn."""

from base64 import b64encode
from hashlib import sha256
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

# The only inline scripts: the one in Streamlit's empty frame (a test compares them), ours in its place at the addresses
# of pages, and the one that leaves the page.
FRAME_SCRIPT: Final = "\n      window.prerenderReady = false\n    "
APP_SCRIPT: Final = 'window.__streamlit = { BACKEND_BASE_URL: new URL("./", window.location.href).href };'
LEAVE_SCRIPT: Final = (
    '{ const way = document.querySelector("a[data-leave]"), add = way.dataset.leave;'
    ' const here = "/" + window.location.pathname.split("/").pop() + window.location.search;'
    ' window.location.replace(way.href + add + (add ? encodeURIComponent(here) : "")); }'
)
DENIED: Final = (
    "accelerometer",
    "camera",
    "display-capture",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "usb",
)
YEAR = 365 * 24 * 3600


def _hash_of(script: str) -> str:
    """Return the source expression of an inline script in a policy."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        # Streamlit gives the browser the labelling card's script as a blob. Charts are drawn without `eval`.
        f"script-src 'self' blob: {' '.join(map(_hash_of, (FRAME_SCRIPT, APP_SCRIPT, LEAVE_SCRIPT)))}",
        "style-src 'self' 'unsafe-inline'",  # Streamlit writes its styles into the page
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # nothing stricter: browsers would then hide the origin from our forms, too
    "Permissions-Policy": ", ".join(f"{what}=()" for what in DENIED),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",  # unless the response sets its own: downloads and refusals
}
ONLY_TLS: Final = {"Strict-Transport-Security": f"max-age={YEAR}"}


def guarding(send: Send, secure: bool) -> Send:
    """Return a `send` that adds the headers which a response lacks. secure: whether it goes over TLS."""
    headers = HEADERS | (ONLY_TLS if secure else {})

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            response_headers = MutableHeaders(scope=message)
            for name, value in headers.items():
                response_headers.setdefault(name, value)
        await send(message)

    return sending

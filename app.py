"""The app: `streamlit run app.py`, or any ASGI server on `app:app`."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from annotate import downloads, takeaway
from annotate.access import routes
from annotate.access.gate import Gate
from annotate.api.server import api
from annotate.app_state import is_forced
from annotate.serve import lifespan
from annotate.shell.door import providers

SCRIPT = Path(__file__).resolve().parent / "annotate" / "shell" / "app.py"
HEALTH = Route("/healthz", lambda request: PlainTextResponse("ok"))
app = st.App(
    SCRIPT,
    lifespan=lifespan(is_forced),
    routes=[HEALTH, takeaway.route(), *downloads.routes(), *routes.routes(providers), api()],
    middleware=[Middleware(Gate, is_forced=is_forced)],
)

"""The app: `streamlit run app.py`, or any ASGI server on `app:app`."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from annotate import downloads, health, takeaway
from annotate.access import routes
from annotate.access.gate import Gate
from annotate.api.server import api
from annotate.app_state import is_forced
from annotate.serve import lifespan
from annotate.shell.door import providers
from annotate.telemetry import Telemetry

SCRIPT = Path(__file__).resolve().parent / "annotate" / "shell" / "app.py"
telemetry = Telemetry()
app = st.App(
    SCRIPT,
    lifespan=lifespan(is_forced),
    routes=[
        *health.routes(),
        telemetry.route(),
        takeaway.route(),
        *downloads.routes(),
        *routes.routes(providers),
        api(telemetry.observe),
    ],
    middleware=[Middleware(Gate, is_forced=is_forced)],
)

"""The app: `streamlit run app.py`, or any ASGI server on `app:app`."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from annotate.api.routes import api
from annotate.cli.serve import lifespan
from annotate.exchange import download_routes, model_export
from annotate.shell.sign_in import providers
from annotate.ui.state import is_forced
from annotate.web import health, login_routes
from annotate.web.middleware import AuthMiddleware
from annotate.web.prometheus import Telemetry

SCRIPT = Path(__file__).resolve().parent / "annotate" / "shell" / "app.py"
telemetry = Telemetry()
app = st.App(
    SCRIPT,
    lifespan=lifespan(is_forced),
    routes=[
        *health.routes(),
        telemetry.route(),
        model_export.route(),
        *download_routes.routes(),
        *login_routes.routes(providers),
        api(telemetry.observe),
    ],
    middleware=[Middleware(AuthMiddleware, is_forced=is_forced)],
)

"""The app: `streamlit run app.py`, or any ASGI server on `app:app`."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from allpairs.annotate.api.routes import api
from allpairs.annotate.cli.serve import lifespan
from allpairs.annotate.exchange import download_routes, model_export
from allpairs.annotate.shell.sign_in import providers
from allpairs.annotate.ui.state import is_forced
from allpairs.annotate.web import health, login_routes
from allpairs.annotate.web.middleware import AuthMiddleware
from allpairs.annotate.web.prometheus import Telemetry

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

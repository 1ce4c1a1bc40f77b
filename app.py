"""The app: `streamlit run app.py`, or any ASGI server on `app:app`."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from allpairs.annotate.api import browser_answers
from allpairs.annotate.api.routes import api
from allpairs.annotate.cli.serve import lifespan
from allpairs.annotate.features.download import routes as download_routes
from allpairs.annotate.frame.web import frame, health, invitation_routes, language_routes, login_routes
from allpairs.annotate.frame.web.base_path import BasePathMiddleware
from allpairs.annotate.frame.web.faults import FaultMiddleware
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.annotate.frame.web.prometheus import Telemetry
from allpairs.annotate.frame.web.proxy_reports import ProxyReports
from allpairs.annotate.kit.ui.errors import show_error
from allpairs.annotate.kit.ui.state import is_forced
from allpairs.annotate.shell.menu import ENTRIES
from allpairs.annotate.shell.sign_in import providers

ANNOTATE = Path(__file__).resolve().parent / "annotate"
telemetry = Telemetry()
app = st.App(
    ANNOTATE / "shell" / "app.py",
    lifespan=lifespan(is_forced),
    routes=[
        *health.health_routes(),
        telemetry.route(),
        browser_answers.answers_route(),
        *download_routes.routes(),
        *login_routes.login_routes(providers),
        *invitation_routes.invitation_routes(providers),
        language_routes.language_route(),
        ProxyReports().route(),
        api(telemetry.observe),
        *frame.frame_routes({entry.file: entry.title for entry in ENTRIES}),
    ],
    middleware=[
        Middleware(BasePathMiddleware),
        Middleware(FaultMiddleware),
        Middleware(AuthMiddleware, is_forced=is_forced),
    ],
    on_script_error=show_error,
)

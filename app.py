"""The app: `streamlit run app.py`, or any ASGI server on `app:app`."""

from pathlib import Path

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from annotate import downloads, takeaway
from annotate.serve import lifespan

SCRIPT = Path(__file__).resolve().parent / "annotate" / "shell" / "app.py"
HEALTH = Route("/healthz", lambda request: PlainTextResponse("ok"))
app = st.App(SCRIPT, lifespan=lifespan, routes=[HEALTH, takeaway.route(), *downloads.routes()])

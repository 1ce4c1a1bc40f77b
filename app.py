"""The app: `streamlit run app.py`, or any ASGI server on `app:app`."""

from pathlib import Path

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from annotate.serve import lifespan

SCRIPT = Path(__file__).resolve().parent / "annotate" / "app.py"
app = st.App(SCRIPT, lifespan=lifespan, routes=[Route("/healthz", lambda request: PlainTextResponse("ok"))])

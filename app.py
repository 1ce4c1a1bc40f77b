"""The app: `streamlit run app.py`, or any ASGI server on `app:app`."""

from pathlib import Path

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.routing import Route

SCRIPT = Path(__file__).parent / "annotate" / "app.py"
app = st.App(SCRIPT, routes=[Route("/healthz", lambda request: PlainTextResponse("ok"))])

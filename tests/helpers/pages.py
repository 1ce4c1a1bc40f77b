"""Pages without a browser."""

from pathlib import Path

from streamlit.testing.v1 import AppTest


def open_page(script: Path, **parameters: str) -> AppTest:
    """The page of this script, or the app, drawn once; parameters: of its address."""
    page = AppTest.from_file(str(script), default_timeout=30)
    for name, value in parameters.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page

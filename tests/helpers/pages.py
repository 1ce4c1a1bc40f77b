"""Pages without a browser."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.helpers.machine import ROOT


def open_page(script: Path, **parameters: str) -> AppTest:
    """Draw the page of this script, or the app, once, and return it; parameters: of its address."""
    page = AppTest.from_file(str(script), default_timeout=30)
    for name, value in parameters.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def open_review(*sections: str) -> AppTest:
    """Return the page Review with these sections opened."""
    page = open_page(ROOT / "annotate" / "pages" / "review.py")
    for section in sections:
        page.session_state[section] = True
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    """Return the words of the page as a reader sees them, without the escapes of Markdown."""
    kinds = (page.title, page.subheader, page.markdown, page.caption, page.error, page.success, page.warning, page.info)
    bars = [bar.proto.text for bar in page.get("progress")]
    return "\n".join([*(element.value.replace("\\", "") for kind in kinds for element in kind), *bars])

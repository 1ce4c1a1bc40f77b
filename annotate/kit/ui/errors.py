"""Errors that the reader of a page can do something about: one sentence instead of a traceback."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.ui.language import words
from allpairs.db.errors import InputError
from allpairs.db.maintenance.error_messages import in_words

RETRY_AFTER = 5  # seconds until a failed page is tried again

log = logging.getLogger(__name__)


@contextmanager
def told(show: Callable[..., object] = st.error) -> Iterator[None]:
    """Show bad input raised within as one sentence, by `st.error` or `st.toast`, and go on after the block."""
    try:
        yield
    except InputError as error:
        show(literal(sentence(words().error(error))), icon=":material/error:")


@contextmanager
def explained() -> Iterator[None]:
    """Show input, disk and database errors raised within as one sentence, and soon try the page again."""
    try:
        yield
    except Exception as error:
        if not show_error(error):
            raise


def show_error(error: Exception) -> bool:
    """Show an input, disk or database error as one sentence, and soon try the page again; return False for others.

    The app calls it for what no block `explained` holds: callbacks, and fragments that are drawn on their own.
    """
    if isinstance(error, InputError):
        st.error(literal(sentence(words().error(error))), icon=":material/error:")
        return True
    message = in_words(error)
    if message is None:
        return False
    log.error("%s (%s)", message, error)
    st.error(literal(message), icon=":material/error:")
    _try_again(time.monotonic())
    return True


@st.fragment(run_every=RETRY_AFTER)
def _try_again(since: float) -> None:
    """Rerun the page after a while."""
    if time.monotonic() - since > RETRY_AFTER / 2:
        st.rerun()

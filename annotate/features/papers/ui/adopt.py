"""The change of a project's encoder to one that was trained or measured, with its effects."""

from collections.abc import Callable, Sequence

import streamlit as st

from allpairs.annotate.kit.ui.errors import told
from allpairs.db.domain import Settings

TITLE = "Use as the project's encoder"


def adopt(key: str, plan: Callable[[], tuple[Settings, Sequence[str]]], use: Callable[[], None]) -> None:
    """Draw the popover that says what the change would do, and the button that makes it.

    plan: returns the settings after it, and its effects in words, none if the encoder is in use.
    """
    with st.popover(TITLE, icon=":material/swap_horiz:", key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        with told():
            settings, lines = plan()
            if not lines:
                st.write("The project uses this encoder.")
                return
            st.markdown("**Effects of the change**\n\n" + "\n".join(f"- {line}" for line in lines))
            if st.button("Use this encoder", key=f"{key}_use", type="primary"):
                use()
                st.toast(f"The encoder is now {settings.encoder}.", icon=":material/check:")
                st.rerun()

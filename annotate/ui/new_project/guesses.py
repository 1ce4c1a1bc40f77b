"""Values that the page proposes, which follow the files until a person changes them."""

from collections.abc import Collection

import streamlit as st


def propose(key: str, value: str, others: Collection[str] = ()) -> None:
    """Put the value into the widget of this key, unless it has one that a person entered.

    others: values that count as proposals, too. What was proposed before is replaced, as often as it comes back: a run
    that is cut off leaves the older proposal in the browser, which then sends it again.
    """
    proposed: set[str] = st.session_state.setdefault(f"{key}_proposed", set())
    now = st.session_state.get(key, st.query_params.get(key))  # in the address, before the widget is drawn
    if now is None or (now != value and (now in proposed or now in others)):
        st.session_state[key] = value
    proposed.add(value)

"""How the figures were computed, and what more labels would bring."""

import streamlit as st

from allpairs.annotate.monitor.method_in_words import explain
from allpairs.annotate.monitor.more_labels import advice
from allpairs.annotate.monitor.rounds import Report


def explanation(report: Report) -> None:
    """Draw, in an expander, how the newest round's figures were computed."""
    paragraphs = explain(report)
    if paragraphs:
        with st.expander("How these figures were computed", icon=":material/help:"):
            for paragraph in paragraphs:
                st.write(paragraph)


def advising(report: Report) -> None:
    """Draw the recent gain, and what more labels would bring."""
    sentences = advice(report)
    if sentences:
        st.subheader("What more labels would bring", anchor=False)
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))

"""How programs use the REST API: a token, lines to copy, and every address to read."""

import streamlit as st

from allpairs.annotate.features.team.ui.api_examples import VARIABLE, curl_lines, python_lines
from allpairs.annotate.features.team.ui.tokens import api_tokens, reference
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import rights
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.state import current_project, engine, site, who_asks
from allpairs.db.schema.tables import Project

LATER = "allpairs_…"  # in place of a token that is not shown again


def main() -> None:
    """Draw the page."""
    st.title("API", anchor=False)
    project = current_project(engine())
    if project is not None:
        st.caption(literal(project.name))
    st.write("A program can label, read labels and figures, and start trainings, by the same rules as you.")
    reference()
    guest = who_asks().guest
    tokens = None
    if guest is not None:
        tokens = api_tokens(guest)
    else:
        st.info(
            "No token is needed: nobody signs in here, and only programs on this machine get an answer. What they "
            "label is stored under the name “me”.",
            icon=":material/vpn_key_off:",
        )
    own_rights = rights(engine(), project.id) if project is not None else frozenset[Right]()
    examples(project, own_rights, None if guest is None else tokens or LATER)


def examples(project: Project | None, own_rights: frozenset[Right], token: str | None) -> None:
    """Draw lines to copy. token: the one that was just made, or a placeholder; None: none is needed."""
    needed = token is not None
    with st.container(border=True):
        st.subheader("In a terminal", anchor=False)
        if needed:
            st.caption("First tell the terminal the token, in place of the dots:" if token == LATER else "First:")
            st.code(f"export {VARIABLE}={token}", language=None, wrap_lines=True)
        for title, line in curl_lines(site(), project, own_rights, needed).items():
            st.caption(title)
            st.code(line, language=None, wrap_lines=True)
    with st.container(border=True):
        st.subheader("In Python", anchor=False)
        place = "wherever the command `allpairs` is"
        install_note = f"The package `allpairs` is installed {place}, and its client needs only the standard library."
        st.caption(f"{install_note} It reads the token from `{VARIABLE}`, as above." if needed else install_note)
        st.code(python_lines(site(), project, own_rights, needed), language="python", wrap_lines=True)


main()

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
    made = None
    if guest is not None:
        made = api_tokens(guest)
    else:
        st.info(
            "No token is needed: nobody signs in here, and only programs on this machine get an answer. What they "
            "label is stored under the name “me”.",
            icon=":material/vpn_key_off:",
        )
    mine = rights(engine(), project.id) if project is not None else frozenset[Right]()
    examples(project, mine, None if guest is None else made or LATER)


def examples(project: Project | None, mine: frozenset[Right], token: str | None) -> None:
    """Draw lines to copy. token: the one that was just made, or a placeholder; None: none is needed."""
    needed = token is not None
    with st.container(border=True):
        st.subheader("In a terminal", anchor=False)
        if needed:
            st.caption("First tell the terminal the token, in place of the dots:" if token == LATER else "First:")
            st.code(f"export {VARIABLE}={token}", language=None, wrap_lines=True)
        for title, line in curl_lines(site(), project, mine, needed).items():
            st.caption(title)
            st.code(line, language=None, wrap_lines=True)
    with st.container(border=True):
        st.subheader("In Python", anchor=False)
        where = "wherever the command `allpairs` is"
        about = f"The package `allpairs` is installed {where}, and its client needs only the standard library."
        st.caption(f"{about} It reads the token from `{VARIABLE}`, as above." if needed else about)
        st.code(python_lines(site(), project, mine, needed), language="python", wrap_lines=True)


main()

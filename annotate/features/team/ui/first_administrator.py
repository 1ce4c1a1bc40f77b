"""The first account, made on the page People while nobody signs in."""

import streamlit as st

from allpairs.annotate.frame.access import people
from allpairs.annotate.frame.access.mode import ANNOTATOR
from allpairs.annotate.frame.access.passwords import SHORTEST
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import annotator, engine, forget_who_asks
from allpairs.db.errors import InputError
from allpairs.db.people.people import MAX_NAME
from allpairs.db.schema.tables import now

EXPLANATION = (
    "Nobody signs in here: whoever uses this machine may do everything, and no other machine gets an answer. As soon "
    "as there is an account, everybody signs in, sees the projects that they have a role in, and labels under their "
    "own name; you can then invite others."
)


def first_administrator() -> None:
    """Draw what accounts change, and the form that makes the first one; then send the browser to sign in."""
    st.write(EXPLANATION)
    st.write(
        f"Answers stay under the names that they were given under; yours is **{literal(annotator())}** now. An account "
        "of the same name takes them over. There is no way back to working without accounts."
    )
    with st.form("first_administrator"):
        st.subheader("Make the first administrator", anchor=False)
        current = "" if annotator() == ANNOTATOR else annotator()
        name = st.text_input(
            "Name (stored with the answers)",
            current,
            key="first_name",
            max_chars=MAX_NAME,
            autocomplete="username",
        )
        password = st.text_input(
            f"Password, {SHORTEST} characters or more",
            type="password",
            key="first_password",
            autocomplete="new-password",
        )
        repeated = st.text_input(
            "Password again", type="password", key="first_password_again", autocomplete="new-password"
        )
        submitted = st.form_submit_button("Make the first administrator", icon=":material/person_add:", type="primary")
    if not submitted:
        return
    with told():
        if password != repeated:
            raise InputError("the two passwords differ: type them again")
        people.add_first(engine(), name, password, now())
        forget_who_asks()
        st.rerun()  # as nobody, who is sent to the sign-in page

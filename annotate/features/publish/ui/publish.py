"""Publishing a round's model: what is in service, how far a shadow agrees with it, and the history."""

import pandas as pd
import streamlit as st

from allpairs.annotate.features.publish.publications import Service, ShadowAgreement, end, publish_round, read_service
from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.drafts import DRAFT
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.domain import LONGEST_NOTE, PublicationKind
from allpairs.db.schema.tables import Publication, StoredModel

MODEL, SHADOW = PublicationKind
EXPLANATION = (
    "The published model answers requests for single records over the REST API. A *shadow* is another round's model "
    "that scores the same requests after they are answered: the table counts where the two differ, and keeps no text."
)
ABSENT = (
    "No process answers requests. Start the app with `allpairs serve --match`, or run `allpairs serve-model` on a "
    "machine that reaches the database."
)
ENDED = "– (ended)"


def publish_section(matcher: StoredModel) -> None:
    """Draw the section for the project of this matcher, with the buttons that publish this one."""
    project_id = matcher.project_id
    service = read_service(engine(), project_id)
    st.subheader("Publish", anchor=False)
    st.caption(EXPLANATION)
    _standing(service)
    if may(Right.CHANGE, project_id) and matcher.folder is not None and matcher.w is not None:
        _form(matcher, service)
    if service.agreement is not None:
        name = "How far the shadow agrees with the published model"
        st.table(_agreement(service.agreement), border="horizontal", hide_index=True, hide_header=True, alt=name)
    if service.history:
        with st.expander("Publication history"):
            st.dataframe(_history(service), hide_index=True, key="publications")


def _standing(service: Service) -> None:
    if service.published is None or service.published.number is None:
        st.write("No model is published.")
        return
    st.markdown(f"**{round_name(service.published.number)}** has been published since {_since(service.published)}.")
    if service.shadow is not None and service.shadow.number is not None:
        texts = service.agreement.texts if service.agreement else 0
        comparison = f"{counted(texts, 'text')} compared" if texts else "nothing compared yet"
        st.markdown(f"**{round_name(service.shadow.number)}** is its shadow: {comparison}.")
    if not service.answers:
        st.warning(ABSENT, icon=":material/power_off:")


def _since(row: Publication) -> str:
    person = f" by {literal(row.who)}" if row.who else ""
    return f"{row.at:%Y-%m-%d %H:%M} UTC{person}"


def _form(matcher: StoredModel, service: Service) -> None:
    """Draw the note and the buttons for this matcher; each says what is in service afterwards."""
    project_id = matcher.project_id
    number = matcher.number
    key = f"publication_note_{number}_{len(service.history)}"  # empty again after each act
    st.text_input(
        "Note", key=key, max_chars=LONGEST_NOTE, placeholder="Why this model, for the history", persist_state=DRAFT
    )
    with st.container(horizontal=True):
        if service.published is None or service.published.matcher_id != matcher.id:
            _button(f"Publish {round_name(number).lower()}", "publish", ":material/publish:", MODEL, matcher, key)
        if service.published is not None and matcher.id not in (_model(service.published), _model(service.shadow)):
            _button("Use as shadow", "shadow", ":material/compare_arrows:", SHADOW, matcher, key)
        if service.shadow is not None:
            st.button("End the shadow", key="end_shadow", on_click=_end, args=(project_id, SHADOW, key))
        if service.published is not None:
            st.button("End the publication", key="end_publication", on_click=_end, args=(project_id, MODEL, key))


def _model(row: Publication | None) -> int | None:
    return None if row is None else row.matcher_id


def _button(title: str, act: str, icon: str, kind: PublicationKind, matcher: StoredModel, note: str) -> None:
    arguments = matcher.project_id, matcher.number, kind, note
    st.button(title, key=f"{act}_{matcher.number}", icon=icon, on_click=_publish, args=arguments)


def _publish(project_id: int, number: int, kind: PublicationKind, note: str) -> None:
    publish_round(engine(), project_id, number, st.session_state.get(note, ""), kind)


def _end(project_id: int, kind: PublicationKind, note: str) -> None:
    end(engine(), project_id, kind, st.session_state.get(note, ""))


def _agreement(agreement: ShadowAgreement) -> pd.DataFrame:
    """Return how far the shadow agrees with the published model, a line for each figure."""
    rows = [
        ("Texts compared", f"{agreement.texts:,}"),
        ("Same best candidate", f"{agreement.same_best:.1%}"),
        ("First ten candidates in common", f"{agreement.shared:.1%}"),
        ("Mean difference of p (shadow less published)", f"{agreement.p_mean_difference:+.3f}"),
        ("Mean size of the difference", f"{agreement.p_mean_distance:.3f}"),
        ("Matches of the shadow alone (p ≥ ½)", f"{agreement.gained:,} of {agreement.pairs:,}"),
        ("Matches of the published model alone (p ≥ ½)", f"{agreement.lost:,} of {agreement.pairs:,}"),
    ]
    return pd.DataFrame(rows, columns=["Figure", "Value"])


def _history(service: Service) -> pd.DataFrame:
    rows = [
        (
            f"{row.at:%Y-%m-%d %H:%M}",
            "shadow" if row.kind is SHADOW else "published",
            ENDED if row.number is None else round_name(row.number),
            row.note,
            row.who,
        )
        for row in service.history
    ]
    return pd.DataFrame(rows, columns=["When (UTC)", "As", "Model", "Note", "Who"])

"""What can be changed about a project, its machine rater, which systems are told of it, and its deletion."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from allpairs.annotate.features.projects.lifecycle import BIN_TIME, bin_project
from allpairs.annotate.features.projects.projects import update_settings
from allpairs.annotate.features.raters.ui.settings import rater_settings
from allpairs.annotate.features.settings.progress import situation_of
from allpairs.annotate.features.settings.setting_effects import implications
from allpairs.annotate.features.settings.ui.form import (
    advanced_form,
    fill_form,
    follow_others,
    question_form,
    setting_problems,
)
from allpairs.annotate.features.settings.ui.strategy_preview import strategy_preview
from allpairs.annotate.features.webhooks.ui import webhooks
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import current_project, engine
from allpairs.db.domain import Settings
from allpairs.db.schema.tables import Project

FIXED = ("evaluation_share",)  # items are split once, when the project is created


def main() -> None:
    """Draw the page."""
    st.title("Settings", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
        return
    st.caption(literal(project.name))
    st.caption(
        "Question, guidelines, double checks, hidden test pairs, automatic training, groups and the target precision "
        "take effect at once, everything else from the next round. The share of evaluation texts was fixed when the "
        "project was created."
    )
    places: dict[str, DeltaGenerator] = {}
    stored = Settings.model_validate(project.settings).model_dump()
    key = f"settings_{project.id}"
    follow_others(stored, key)
    entered = question_form(stored, key) | advanced_form(stored, key, FIXED, places)
    wrong = setting_problems(entered)
    with places["Batches"]:
        strategy_preview(project.id, entered, possible=not wrong)
    save(project, entered, wrong, key)
    effects_of_changes(project, entered, wrong)
    rater_settings(project.id)
    webhooks(project.id)
    danger(project)


def effects_of_changes(project: Project, entered: dict[str, object], wrong: list[str]) -> None:
    """Draw the effects of the changes, if there are valid ones."""
    old = Settings.model_validate(project.settings)
    if wrong or old.model_dump() | entered == old.model_dump():
        return
    new = Settings.model_validate(old.model_dump() | entered)
    lines = implications(old, new, situation_of(engine(), project.id))
    with st.container(border=True, key="implications"):
        st.markdown("**Effects of the change**")
        st.markdown("\n".join(f"- {line}" for line in lines) or "No further effects: each field says what it does.")


def save(project: Project, entered: dict[str, object], wrong: list[str], key: str) -> None:
    """Draw the button that stores the settings, and what keeps it from that: the errors, also shown at their fields.

    It can be pressed while a field is still being edited: one click ends that and saves. What is not saved stays in
    the form while other pages are open.
    """
    for line in wrong:
        st.caption(f":red[{literal(line)}]")
    stored = Settings.model_validate(project.settings).model_dump()
    changed = stored | entered != stored
    with st.container(horizontal=True, vertical_alignment="center"):
        is_pressed = st.button("Save", key="save", type="primary", icon=":material/save:")
        if changed:
            st.button("Discard", key="discard", type="tertiary", on_click=fill_form, args=(key, stored))
        with st.container(key="unsaved" if changed else "saved", width="content"):
            st.caption("Not saved yet." if changed else "All saved.")
    if is_pressed and not wrong:
        _store(project.id, Settings.model_validate(entered))


def _store(project_id: int, settings: Settings) -> None:
    """Store the settings and redraw the page, or show why they cannot be stored."""
    with told():  # such as another project's model
        update_settings(engine(), project_id, settings)
        st.toast("Saved.", icon=":material/check:")
        st.rerun()


def danger(project: Project) -> None:
    """Draw the deletion of the project, confirmed by typing its name."""
    st.subheader("Delete project", anchor=False)
    st.write(
        f"Its texts, labels, rounds and models stay in the bin on the page “Projects” for {BIN_TIME.days} days and can "
        "be restored. After that they are removed permanently. The page “Export” exports all of it as one file."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(f"To confirm, type its name: {literal(project.name)}", key=f"confirm_{project.id}")
        is_pressed = st.button("Delete", key="delete", icon=":material/delete:")
    if is_pressed and typed != project.name:
        st.error("Nothing was deleted. Type the name of the project exactly as it is.", icon=":material/error:")
    elif is_pressed:
        bin_project(engine(), project.id)
        st.rerun()


main()

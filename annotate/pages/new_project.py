"""A new project in three steps: its files, its question, and what is created of them."""

import streamlit as st

from allpairs.annotate.features.new_project.ui.contents import pairs_in_words, propose, texts_in_words
from allpairs.annotate.features.new_project.ui.create import bar, create, summary
from allpairs.annotate.features.new_project.ui.files import ChosenFiles, choose_files
from allpairs.annotate.features.new_project.ui.question import ask_question
from allpairs.annotate.features.projects.lifecycle import name_problem, suggested_name
from allpairs.annotate.features.settings.ui.form import advanced_form, setting_problems
from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.domain import Settings

STEPS = ("1 Files", "2 Question", "3 Create")
KEY = "new_settings"  # of the fields of the settings
PROPOSED = "groups_proposed"


def main() -> None:
    """Draw the page."""
    st.title("New project", anchor=False)
    with st.bottom:
        busy = st.container()
    # Every run draws all three steps, since Streamlit forgets what is entered in a field that it does not draw.
    first, second, third = st.tabs(STEPS, key="step", bind="query-params")
    with first:
        files = choose_files(busy)
        name, unnamed = choose_name(files)
    with second:
        entered = ask_question(files, KEY)
    with third:
        propose_groups(files)
        place = st.container()
        entered |= advanced_form(Settings.model_validate({}).model_dump(), KEY)
        with place:
            summary(name, files.findings, entered)
    missing = [*files.missing, *(unnamed if files.lists else ()), *setting_problems(entered)]
    ready = ""
    if files.findings is not None:
        ready = f"Ready: {texts_in_words(files.findings)}, {pairs_in_words(files.findings)}."
    with st.bottom:
        pressed = bar("step", STEPS, missing, ready)
    if pressed and files.source is not None and not missing:
        with busy:
            create(name, files.source, entered)


def propose_groups(files: ChosenFiles) -> None:
    """Propose, once, to keep groups of a list of records: who has one wants it without its doubles."""
    if files.source is not None and files.source.is_list_of_records and PROPOSED not in st.session_state:
        st.session_state[PROPOSED] = True
        st.session_state[f"{KEY}_keep_groups"] = True


def choose_name(files: ChosenFiles) -> tuple[str, list[str]]:
    """Draw the project's name, guessed from the files' names; return it, and what is wrong with it."""
    if files.lists:
        propose("new_name", suggested_name(engine(), [upload.path.name for upload in files.lists]), [""])
    name = st.text_input("Name of the project", key="new_name", max_chars=80, bind="query-params")
    if not name.strip():
        return name, ["Give the project a name."]
    problem = name_problem(engine(), name)
    if not problem:
        return name, []
    line = sentence(problem)
    st.error(literal(line), icon=":material/error:")
    return name, [line]


main()

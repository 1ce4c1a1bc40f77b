"""The person's own answers, newest first: browse, correct, undo."""

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.own_answers import Past, correct, history, pair_history
from allpairs.annotate.features.label.pair_reason import reasons
from allpairs.annotate.features.label.ui.pair_view import pair_texts
from allpairs.annotate.features.label.ui.why import why
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.language import _, ngettext, words
from allpairs.annotate.kit.ui.paged import PAGE, choose_page, read_page
from allpairs.annotate.kit.ui.pair_history import TITLES, pair_acts
from allpairs.annotate.kit.ui.state import annotator, current_project, engine
from allpairs.db.domain import LABELS, LONGEST_NOTE, AnswerKind
from allpairs.db.projects.items import LONGEST_SEARCH

PAGES = "answers_page"  # the key of the choice of a page


def main() -> None:
    """Draw the page."""
    database = engine()
    project = current_project(database)
    st.title(_("My answers"), anchor=False)
    if project is None:
        st.info(_("There is no project yet. Create one on the page “New project”."))
        return
    annotator_name = annotator()
    intro = _(
        "Answers by **{name}** in {project}. Corrections take effect at the next training.",
        name=literal(annotator_name),
        project=literal(project.name),
    )
    st.write(intro)
    answer_list(database, project.id, annotator_name)


@st.fragment
def answer_list(database: Engine, project_id: int, annotator_name: str) -> None:
    """Draw a page of answers, below the fields that filter them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(_("Answer"), LABELS, format_func=_title, key="answers_kind")
        searched = st.text_input(
            _("Search text"), key="answers_words", max_chars=LONGEST_SEARCH, icon=":material/search:"
        )
    page = read_page(
        lambda first: history(database, project_id, annotator_name, PAGE, first, kind, searched.strip()), PAGES
    )
    if not page.total:
        none = _("There are no answers under this name yet.")
        st.info(_("No answer matches the search.") if kind or searched else none)
        return
    st.caption(ngettext("{n} answer", "{n} answers", page.total))
    for past in page.answers:
        _show(database, project_id, annotator_name, past)
    choose_page(page.total, PAGES)


def _show(database: Engine, project_id: int, annotator_name: str, past: Past) -> None:
    """Draw one answer with the controls that change it."""
    answer = past.answer
    with st.container(border=True, key=f"past_{answer.id}"):
        pair_texts(past.left, past.right, past.rows)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.segmented_control(
                _("Answer to this pair"),
                LABELS,
                default=answer.answer,
                required=True,
                format_func=_title,
                key=f"change_{answer.id}",
                label_visibility="collapsed",
                on_change=_change,
                args=(database, project_id, annotator_name, answer.id),
            )
            st.button(
                _("Undo answer"),
                key=f"retract_{answer.id}",
                type="tertiary",
                icon=":material/undo:",
                help=_("The pair becomes unanswered again."),
                on_click=_store,
                args=(database, project_id, annotator_name, answer.id, AnswerKind.RETRACT),
            )
            st.text_input(
                _("Note"),
                answer.note,
                key=f"note_{answer.id}",
                placeholder=_("Note"),
                max_chars=LONGEST_NOTE,
                label_visibility="collapsed",
                on_change=_annotate,
                args=(database, project_id, annotator_name, answer.id, answer.answer),
            )
            with st.popover(_("Why this pair"), key=f"why_{answer.id}", type="tertiary", on_change="rerun") as opened:
                if opened.open:
                    _why(database, project_id, answer.task_id)
                    st.markdown(f"**{_('Your answers to this pair')}**")
                    pair_acts(
                        pair_history(database, project_id, answer.left_id, answer.right_id, annotator_name), is_own=True
                    )
            seconds = "" if answer.seconds is None else f" · {words().number(answer.seconds, '.1f')} s"
            st.caption(f"{answer.time:%Y-%m-%d %H:%M} UTC{seconds}")


def _title(answer: AnswerKind) -> str:
    return _(TITLES[answer])


def _why(database: Engine, project_id: int, task_id: int | None) -> None:
    """Draw why the pair of the task was chosen."""
    if task_id is None:
        st.write(_("This label was imported, so no strategy chose the pair."))
    else:
        why(reasons(database, project_id, task_id))


def _change(database: Engine, project_id: int, annotator_name: str, answer_id: int) -> None:
    _store(database, project_id, annotator_name, answer_id, AnswerKind(st.session_state[f"change_{answer_id}"]))


def _annotate(database: Engine, project_id: int, annotator_name: str, answer_id: int, answer: AnswerKind) -> None:
    _store(database, project_id, annotator_name, answer_id, answer, st.session_state[f"note_{answer_id}"])


def _store(
    database: Engine, project_id: int, annotator_name: str, answer_id: int, answer: AnswerKind, note: str | None = None
) -> None:
    """Store the correction, or show why it cannot be stored."""
    with told(st.toast):
        correct(database, project_id, annotator_name, answer_id, answer, note)


main()

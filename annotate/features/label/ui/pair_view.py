"""A pair outside the labelling card: both texts or their columns, what is known, and the button that queues it."""

from collections.abc import Sequence
from html import escape
from itertools import starmap

import streamlit as st

from allpairs.annotate.features.label.pick_pair import pick, why_closed, why_not
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.jobs.prepared import ShownPair
from allpairs.annotate.kit.text.diff import Likeness, Mark, Segment, highlight, highlight_cells, likeness
from allpairs.annotate.kit.text.formatting import beginning, literal
from allpairs.annotate.kit.text.measures import score_in_words
from allpairs.annotate.kit.ui.language import _
from allpairs.annotate.kit.ui.state import annotator, engine, may
from allpairs.db.domain import AnswerKind, Split
from allpairs.db.errors import InputError
from allpairs.db.projects.records import Rows

TEXT = "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45"
MARK = (
    "color: inherit; background: color-mix(in srgb, currentColor 12%, transparent); text-decoration: underline; "
    "text-decoration-thickness: 1px; text-underline-offset: 3px"
)
CELL = (
    f"{TEXT}; border: 0; border-top: 1px solid color-mix(in srgb, currentColor 15%, transparent); "
    "padding: 0.35rem 0.5rem 0.35rem 0; text-align: start; vertical-align: top"
)
NAME = f"{CELL}; width: 28%; font-size: 0.8rem; font-weight: 600"
SIGNS = {Likeness.SAME: "=", Likeness.SIMILAR: "≈", Likeness.DIFFERENT: "≠"}
WORDS = {Likeness.SAME: later("same"), Likeness.SIMILAR: later("similar"), Likeness.DIFFERENT: later("different")}
LAST_PICK = "last_pick"  # in the session: the pair chosen last, and the outcome
ANSWERS = {AnswerKind.POSITIVE: later("yes"), AnswerKind.NEGATIVE: later("no"), AnswerKind.UNSURE: later("unsure")}


def pair_rows(project_id: int, rows: Sequence[tuple[ShownPair, str]]) -> None:
    """Draw pairs, each with a note (Markdown), and for those who label the buttons that choose pairs for labelling."""
    labels = may(Right.LABEL, project_id)
    closed = why_closed(engine(), project_id) if labels else ""
    if closed and any(is_open(pair) for pair, _ in rows):
        st.caption(f"No pair can be chosen for labelling now: {closed}.")
    for pair, note in rows:
        _row(project_id, pair, note, labels and not closed)


def _row(project_id: int, pair: ShownPair, note: str, is_offered: bool) -> None:
    with st.container(border=True, key=f"pair_{pair.left_id}_{pair.right_id}"):
        if pair.rows:
            _fields(pair.rows)
        else:
            sides = highlight(beginning(pair.left), beginning(pair.right))
            for column, segments in zip(st.columns(2, gap="small"), sides, strict=True):
                column.html(f"<div dir='auto' style='{TEXT}'>{marked(segments)}</div>")
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.caption(" · ".join(filter(None, [note, score_in_words(pair.score, pair.p), *known(pair)])))
            if is_offered:
                _pick_button(project_id, pair)
        why_so(pair.why)


def why_so(parts: str) -> None:
    """Draw what each part adds to the log-odds of a match, if that is known."""
    if parts:
        st.caption(f"What each part adds: {literal(parts)}")


def pair_texts(left: str, right: str, rows: Rows, whole: bool = False) -> None:
    """Draw both texts beside each other, or their columns if the files had them. whole: also the ends of long texts."""
    if rows:
        _fields(rows, whole)
        return
    for column, text in zip(st.columns(2), (left, right), strict=True):
        column.text(text if whole else beginning(text))


def _fields(rows: Rows, whole: bool = False) -> None:
    """Draw the columns of a pair as a table, with differences marked. whole: also the ends of long texts."""
    cells = [(left, right) if whole else (beginning(left), beginning(right)) for _, left, right in rows]
    names = [name for name, _, _ in rows]
    drawn = "".join(map(_field, names, *highlight_cells(cells), starmap(likeness, cells)))
    st.html(f"<table style='width: 100%; table-layout: fixed; border-collapse: collapse'>{drawn}</table>")


def _field(name: str, left: list[Segment], right: list[Segment], alike: Likeness) -> str:
    cells = "".join(f"<td dir='auto' style='{CELL}'>{marked(segments) or '–'}</td>" for segments in (left, right))
    sign = f" <span style='font-weight: 400'>{SIGNS[alike]} {_(WORDS[alike])}</span>" if alike else ""
    return f"<tr><th scope='row' style='{NAME}'>{escape(name)}{sign}</th>{cells}</tr>"


def is_open(pair: ShownPair) -> bool:
    """Return whether the pair is unlabelled, may be used for training, and is not in the batch yet."""
    return pair.label is None and not pair.in_batch and not why_not(*pair.splits)


def _pick_button(project_id: int, pair: ShownPair) -> None:
    """Draw the button that makes the pair a task, where it may become one, and the outcome of pressing it."""
    key = f"pick_{project_id}_{pair.left_id}_{pair.right_id}"
    arguments = (key, project_id, annotator(), pair)
    if is_open(pair):
        st.button("Label it", key=key, icon=":material/add_task:", type="tertiary", on_click=_pick, args=arguments)
    picked, outcome = st.session_state.get(LAST_PICK, ("", ""))
    if picked == key:
        st.caption(literal(outcome))


def _pick(key: str, project_id: int, annotator_name: str, pair: ShownPair) -> None:
    try:
        number = pick(engine(), project_id, annotator_name, (pair.left_id, pair.right_id), pair.score, pair.p)
        outcome = f"It is now the next pair of batch {number} on the page “Label”."
    except InputError as problem:
        outcome = f"It cannot be labelled: {problem}."
    st.session_state[LAST_PICK] = key, outcome


def known(pair: ShownPair) -> list[str]:
    """Return what is known of the pair, as Markdown: its label, its known answer, and how it may be used."""
    words = []
    if pair.label is not None:
        words.append(f"**label: {ANSWERS[pair.label]}**")
    if pair.gold is not None:
        words.append(f"**known answer: {'yes' if pair.gold else 'no'}**")
    if pair.in_batch and pair.label is None:
        words.append("in the batch")
    measuring = pair.splits.count(Split.EVALUATION)
    if measuring:
        words.append(
            "evaluation pair" if measuring == 2 or Split.SHARED in pair.splits else "one text is an evaluation text"
        )
    return words


def marked(segments: list[Segment]) -> str:
    """Return the text as HTML. Differences are underlined and shaded, so that they do not depend on colour alone."""
    return "".join(
        escape(text) if mark == Mark.SAME else f"<mark style='{MARK}'>{escape(text)}</mark>" for text, mark in segments
    )

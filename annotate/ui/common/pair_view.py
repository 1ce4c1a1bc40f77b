"""A pair on the page Explore: both texts with differences marked, what is known, and the button that queues it."""

from html import escape

import streamlit as st

from allpairs.annotate.access.roles import Right
from allpairs.annotate.explore.prepared import ShownPair
from allpairs.annotate.labelling.pick_pair import pick
from allpairs.annotate.text.diff import Segment, highlight
from allpairs.annotate.text.formatting import beginning, literal
from allpairs.annotate.ui.state import annotator, engine, may
from allpairs.db.domain import AnswerKind, Split
from allpairs.db.errors import InputError

TEXT = "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45"
MARK = (
    "color: inherit; background: color-mix(in srgb, currentColor 12%, transparent); text-decoration: underline; "
    "text-decoration-thickness: 1px; text-underline-offset: 3px"
)
LAST_PICK = "last_pick"  # in the session: the pair chosen last, and the outcome
ANSWERS = {AnswerKind.POSITIVE: "yes", AnswerKind.NEGATIVE: "no", AnswerKind.UNSURE: "unsure"}


def pair_row(project_id: int, pair: ShownPair, note: str = "") -> None:
    """Draw the pair. note: an extra figure, in Markdown."""
    left, right = highlight(beginning(pair.left), beginning(pair.right))
    with st.container(border=True, key=f"pair_{pair.left_id}_{pair.right_id}"):
        texts = st.columns(2, gap="small")
        for column, segments in zip(texts, (left, right), strict=True):
            column.html(f"<div dir='auto' style='{TEXT}'>{marked(segments)}</div>")
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.caption(" · ".join(filter(None, [note, figures(pair), *known(pair)])))
            if may(Right.LABEL, project_id):
                pick_button(project_id, pair)


def pick_button(project_id: int, pair: ShownPair) -> None:
    """Draw the button that makes the pair a task, and the outcome of pressing it."""
    key = f"pick_{project_id}_{pair.left_id}_{pair.right_id}"
    arguments = (key, project_id, annotator(), pair)
    st.button("Label it", key=key, icon=":material/add_task:", type="tertiary", on_click=_pick, args=arguments)
    picked, outcome = st.session_state.get(LAST_PICK, ("", ""))
    if picked == key:
        st.caption(literal(outcome))


def _pick(key: str, project_id: int, who: str, pair: ShownPair) -> None:
    try:
        number = pick(engine(), project_id, who, (pair.left_id, pair.right_id), pair.score, pair.p)
        outcome = f"It is now the next pair of batch {number} on the page “Label”."
    except InputError as problem:
        outcome = f"It cannot be labelled: {problem}."
    st.session_state[LAST_PICK] = key, outcome


def figures(pair: ShownPair) -> str:
    """Return score and p in words."""
    return f"score {pair.score:.3f}" + ("" if pair.p is None else f", p {pair.p:.3f}")


def known(pair: ShownPair) -> list[str]:
    """Return what is known of the pair, as Markdown: its label, its gold answer, and how it may be used."""
    words = []
    if pair.label is not None:
        words.append(f"**label: {ANSWERS[pair.label]}**")
    if pair.gold is not None:
        words.append(f"**gold: {'yes' if pair.gold else 'no'}**")
    if pair.in_batch and pair.label is None:
        words.append("in the batch")
    measuring = pair.splits.count(Split.EVALUATION)
    if measuring:
        words.append("evaluation pair" if measuring == 2 or Split.BOTH in pair.splits else "half an evaluation pair")
    return words


def marked(segments: list[Segment]) -> str:
    """Return the text as HTML. Differences are underlined and shaded, so that they do not depend on colour alone."""
    return "".join(f"<mark style='{MARK}'>{escape(text)}</mark>" if differs else escape(text)
                   for text, differs in segments)  # fmt: skip

"""The labelling card. Its browser side is in card.html, card.css and card_js."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path
from typing import Any

import streamlit as st

from allpairs.annotate.features.label.queue import AuditBatch, ChoiceScore, LabelStanding, Reason, Receipt
from allpairs.annotate.features.label.shown_pairs import AnsweredPair, Pair
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.text.diff import Likeness, Mark, Segment, highlight, highlight_cells, likeness, shortened
from allpairs.annotate.kit.ui.language import _, localized_number, ngettext
from allpairs.db.domain import LONGEST_NOTE, DesignKind
from allpairs.db.projects.jobs import NEXT_ROUND, OPEN
from allpairs.learner.light.stats.label_times import CAP

AUDIT_BATCHES = {
    DesignKind.AUDIT: later("Audit batch"),
    DesignKind.CORRECTION: later("False-positive check"),
    DesignKind.ENTITIES: later("Entity audit"),
    DesignKind.MINED: later("Mined sample"),
}
COMPLETE = {
    DesignKind.AUDIT: later("The audit batch is complete."),
    DesignKind.CORRECTION: later("The false-positive check is complete."),
    DesignKind.ENTITIES: later("The entity audit is complete."),
    DesignKind.MINED: later("The mined sample is complete."),
}
MOST_EVENTS = 5_000  # per message; the browser sends the others again
Row = tuple[
    str | None, list[Segment], list[Segment], Likeness
]  # a column, both values, and how alike they are; the column of a plain text has no name
SCRIPTS = ("main", "answers", "server", "tabs", "draw", "guidelines", "keys", "storage")

PAGE_STYLE = Path(__file__).with_name("page.css")


def _source(*parts: str) -> str:
    return "\n".join((Path(__file__).parent / part).read_text("utf-8") for part in parts)


mount_card = st.components.v2.component(
    "allpairs_card",
    html=_source("card.html"),
    css=_source("card.css"),
    js=_source(*(f"card_js/{name}.js" for name in SCRIPTS)),  # one module: the browser gets no other files
)


@dataclass(frozen=True)
class CardMessage:
    """What the card last sent: the number of the message, and the acts without a receipt.

    known_tasks: the pairs whose texts it has; guidelines: the version of those that it has.
    """

    attempt: int = 0
    events: Sequence[Any] = ()
    known_tasks: frozenset[int] = frozenset()
    guidelines: str = ""


def outbox(key: str) -> CardMessage:
    """Return the browser's last message."""
    sent = st.session_state.get(key, {}).get("outbox")
    if not isinstance(sent, dict):
        return CardMessage()
    attempt, events, task_ids, guidelines = (sent.get(name) for name in ("attempt", "events", "has", "guidelines"))
    return CardMessage(
        attempt if isinstance(attempt, int) else 0,
        events[:MOST_EVENTS] if isinstance(events, list) else (),
        frozenset(id_ for id_ in task_ids if isinstance(id_, int)) if isinstance(task_ids, list) else frozenset(),
        guidelines if isinstance(guidelines, str) else "",
    )


def label_card(
    key: str,
    project_id: int,
    annotator: str,
    question: str,
    sent: CardMessage,
    receipt: Receipt,
    pairs: Sequence[Pair],
    standing: LabelStanding,
    audit_batch: AuditBatch | None = None,
    recent: Sequence[AnsweredPair] = (),
    grouped: bool = False,
    guidelines: dict[str, Any] | None = None,
) -> None:
    """Draw the card with these pairs in its buffer, those of the batch or of the audit batch.

    recent: the answers that a newly opened page can undo; grouped: show one left text with all its candidates;
    guidelines: what the panel beside the pair shows, or None if the browser has it.
    """
    progress = standing.progress
    data = {
        "project": project_id,
        "annotator": annotator,
        "queue": f"audit batch {audit_batch.round_id}" if audit_batch else "batch",
        "round": progress.round_id,
        "title": _title(standing, audit_batch),
        "question": question,
        "attempt": sent.attempt,  # makes every reply different, since an equal one would not reach the browser
        "stored": receipt.stored,
        "refused": receipt.refused,
        "why": {str(task_id): _words(choice) for task_id, choice in receipt.choices.items()},
        "pairs": [_pair(pair, progress.round_id, pair.task_id in sent.known_tasks) for pair in pairs],
        "recent": [
            {"pair": _pair(act.pair, progress.round_id), "answer": act.answer, "note": act.note} for act in recent
        ],
        "grouped": grouped,
        "guidelines": guidelines,
        "idle": CAP,
        "longest_note": LONGEST_NOTE,
        "progress": {
            "size": progress.size,
            "answered": progress.answered,
            "audits": progress.audits,
            "extra": progress.extra,
            "positives": progress.positives,
            "all_positives": progress.all_positives,
        },
        "training": _is_training(standing),
        "empty": why_empty(standing, audit_batch),
    }
    # In a list, since Streamlit would import pandas to look for data frames in a dictionary.
    mount_card(key=key, data=[data], on_outbox_change=lambda: None)


def _title(standing: LabelStanding, audit_batch: AuditBatch | None) -> str:
    if audit_batch is not None:
        return _(AUDIT_BATCHES[audit_batch.kind])
    return _("Batch {number}", number=standing.progress.number) if standing.progress.number else ""


def _is_training(standing: LabelStanding) -> bool:
    """Return whether the job that makes the next batch is open."""
    job = standing.job
    return job is not None and job.kind == NEXT_ROUND and job.state in OPEN


def _words(choice: ChoiceScore) -> str:
    """Return why an answered pair had been chosen."""
    if choice.score is None:
        return _("audit pair, not used for training")
    score = _("score {score}", score=localized_number(choice.score, ".2f"))
    return score if choice.p is None else f"{score} · p {localized_number(choice.p, '.2f')}"


def _pair(pair: Pair, round_id: int | None, known: bool = False) -> dict[str, Any]:
    """Return what the browser gets of a pair before the answer: nothing that reveals why it was chosen.

    known: the browser has its texts.
    """
    known_parts = {"id": pair.task_id, "round": round_id, "batch": pair.in_batch, "again": pair.repeated}
    return known_parts if known else known_parts | {"rows": _rows(pair)}


def _rows(pair: Pair) -> list[Row]:
    """Return the columns of a pair or, as the only one, its texts: with their differences or, in a passage, the
    sentence that probably answers.
    """
    if pair.likely is not None:
        start, end = pair.likely
        text = shortened(pair.right)
        parts = (text[:start], Mark.SAME), (text[start:end], Mark.LIKELY), (text[end:], Mark.SAME)
        return [(None, [(shortened(pair.left), Mark.SAME)], [part for part in parts if part[0]], Likeness.UNKNOWN)]
    if not pair.rows:
        return [(None, *highlight(pair.left, pair.right), Likeness.UNKNOWN)]
    names = [name for name, _, _ in pair.rows]
    cells = [(left, right) for _, left, right in pair.rows]
    return list(zip(names, *highlight_cells(cells), starmap(likeness, cells), strict=True))


def why_empty(standing: LabelStanding, audit_batch: AuditBatch | None = None) -> str:
    """Return what to tell an annotator who has nothing to label; empty while there is something."""
    match standing.reason:
        case Reason.NO_BATCH:
            if standing.job is not None and standing.job.state in ("failed", "cancelled"):
                cancelled = _("There is no batch yet: the job that prepares the first one was cancelled.")
                failed = _("There is no batch yet: the job that prepares the first one failed.")
                return cancelled if standing.job.state == "cancelled" else failed
            return _("Your first batch will appear here shortly.")
        case Reason.EMPTY:
            return _("There is nothing left to label.")
        case Reason.LEASED:
            return f"{_('Other annotators have all remaining pairs.')} {_when(standing.free_at)}"
        case Reason.COMPLETE:
            if audit_batch is not None:
                elsewhere = _("The figures are on the page “Pipelines”.")
                figures = elsewhere if audit_batch.kind == DesignKind.MINED else _figures(standing)
                return f"{_(COMPLETE[audit_batch.kind])} {figures}"
            return f"{_('Batch {number} is complete.', number=standing.progress.number)} {_next_batch(standing)}"
        case None:
            return ""


def _next_batch(standing: LabelStanding) -> str:
    if standing.job is not None and standing.job.state in OPEN:
        if standing.job.kind != NEXT_ROUND:
            return _("The next one is prepared after the running job.")
        return _("The next one will appear here shortly.")
    return _("The next one is not being prepared: an administrator of the project can start it here.")


def _figures(standing: LabelStanding) -> str:
    if standing.job is not None and standing.job.state in OPEN:
        return _("The figures are being updated. They will appear on the page “Monitor”.")
    return _("The figures are on the page “Monitor”.")


def _when(free_at: datetime | None) -> str:
    minutes = max(1, round((free_at - datetime.now(UTC)).total_seconds() / 60)) if free_at else 1
    return ngettext(
        "If they stop, the next pair will be free in {n} minute.",
        "If they stop, the next pair will be free in {n} minutes.",
        minutes,
    )

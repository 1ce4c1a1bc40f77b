"""The labelling card: the browser's side is in card.html, card.css and card.js."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamlit as st

from annotate.differences import highlight
from annotate.labelling import Pair, Reason, Receipt, Standing
from db.jobs import OPEN

LONG = 400  # characters from which a text gets a higher box


def _source(part: str) -> str:
    return Path(__file__).with_name(f"card.{part}").read_text("utf-8")


_mount = st.components.v2.component("allpairs_card", html=_source("html"), css=_source("css"), js=_source("js"))


def outbox(key: str) -> tuple[int, list[Any]]:
    """The number of the browser's last message and the events in it: everything that it knows no receipt for."""
    message = st.session_state.get(key, {}).get("outbox") or {}
    events = message.get("events")
    return int(message.get("attempt", 0)), events if isinstance(events, list) else []


def card(
    key: str,
    project_id: int,
    annotator: str,
    question: str,
    attempt: int,
    receipt: Receipt,
    pairs: Sequence[Pair],
    standing: Standing,
) -> None:
    """Nothing; the card is on the page, with these pairs in its buffer."""
    progress = standing.progress
    data = {
        "project": project_id,
        "annotator": annotator,
        "question": question,
        "attempt": attempt,  # so that no two replies are equal: an equal one would not reach the browser's side
        "stored": receipt.stored,
        "refused": receipt.refused,
        "pairs": [_pair(pair, progress.number) for pair in pairs],
        "progress": asdict(progress),
        "empty": why_empty(standing),
    }
    # In a list: to look for data frames in a dictionary, Streamlit would import pandas.
    _mount(key=key, data=[data], on_outbox_change=lambda: None)


def _pair(pair: Pair, round_number: int) -> dict[str, Any]:
    left, right = highlight(pair.left, pair.right)
    return {
        "id": pair.task_id,
        "round": round_number,
        "batch": pair.in_batch,
        "left": left,
        "right": right,
        "long": max(len(pair.left), len(pair.right)) > LONG,
        "score": pair.score,
        "p": pair.p,
        "strategy": pair.strategy,
    }


def why_empty(standing: Standing) -> str:
    """What to tell an annotator who has nothing to label; empty while there is something."""
    match standing.reason:
        case Reason.NO_BATCH:
            if standing.job is not None and standing.job.state in ("failed", "cancelled"):
                return f"There is no batch yet: the job that makes the first one {_ended(standing.job.state)}."
            return "There is no batch yet. The first one appears here by itself."
        case Reason.EMPTY:
            return "Nothing is left to label."
        case Reason.LEASED:
            return f"Everything that is left is with other annotators. {_when(standing.free_at)}"
        case Reason.COMPLETE:
            return f"Batch {standing.progress.number} is complete. {_next_batch(standing)}"
        case None:
            return ""


def _ended(state: str) -> str:
    return "was cancelled" if state == "cancelled" else "failed"


def _next_batch(standing: Standing) -> str:
    if standing.job is not None and standing.job.state in OPEN:
        return "The next one is being made and appears here by itself."
    return "The next one is not being made: ask for it below."


def _when(free_at: datetime | None) -> str:
    minutes = max(1, round((free_at - datetime.now(UTC)).total_seconds() / 60)) if free_at else 1
    return f"If they stop, the next pair is free in {minutes} minute{'s' if minutes > 1 else ''}."

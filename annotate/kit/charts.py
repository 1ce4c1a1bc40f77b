"""What the plots share: axes that span what is drawn on them, legends and tooltips."""

from math import ceil, floor
from typing import Any

import altair as alt

POSITIVE = "#2f7fd6"  # of pairs
NEGATIVE = "#d9730d"  # of pairs
NEUTRAL = "#7b8087"  # pairs that are neither (unsure, or all of them), times, and reference lines
MATCHER = "#128f82"  # figures of the newest matcher, or of all
EARLIER = "#9a5bd0"  # figures of the first matcher
KINDS = {"pairs": NEUTRAL, "negatives": NEGATIVE, "positives": POSITIVE}  # of pairs in a histogram
ANSWERS = {"positives": POSITIVE, "negatives": NEGATIVE, "unsure": NEUTRAL}  # of labels


def between(place: float) -> str:
    """Return the colour at a place from 0 (the first round) to 1 (the newest)."""
    pairs = zip(_channels(EARLIER), _channels(MATCHER), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * place):02x}" for a, b in pairs)


def _channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


STEP = 0.05  # the ends of an axis of shares are multiples of it
LEAST = 2  # steps that an axis spans at least, so that a small difference does not look like a large one
HEIGHT = 280
LINES = alt.Legend(orient="bottom", symbolType="stroke", symbolSize=400, symbolStrokeWidth=2.5, symbolOpacity=1)
SQUARES = alt.Legend(orient="bottom", symbolType="square")

Plot = alt.LayerChart | alt.FacetChart


def share_axis(low: float, high: float) -> dict[str, Any]:
    """Return scale and axis, as keywords, for shares from low to high: at least a tenth of the unit, and within it."""
    begin, end = shares(low, high)
    axis = alt.Axis(format=".2f" if end - begin < 0.4 else ".1f", tickCount=5, labelFlush=False)
    return {"scale": alt.Scale(domain=[begin, end], nice=False), "axis": axis}


def shares(low: float, high: float) -> tuple[float, float]:
    """Return the ends of that axis, rounded outwards."""
    begin = floor(max(0.0, low) / STEP + 1e-9)
    end = ceil(min(1.0, high) / STEP - 1e-9)
    if end - begin < LEAST:
        begin = max(0, end - LEAST)
        end = begin + LEAST
    return round(begin * STEP, 2), round(end * STEP, 2)


def labels_axis(first: int, last: int) -> dict[str, Any]:
    """Return scale and axis, as keywords, for numbers of labels from the first to the last."""
    begin = 0 if first < 0.3 * last else first
    axis = alt.Axis(format=",d", tickMinStep=1, tickCount=6)
    return {"scale": alt.Scale(domain=[begin, max(begin + 10, last)], nice=False), "axis": axis}


def tooltips(fields: dict[str, tuple[str, str]]) -> list[alt.Tooltip]:
    """Return tooltips of numbers. fields: title and format by column."""
    return [alt.Tooltip(f"{field}:Q", title=title, format=form) for field, (title, form) in fields.items()]

"""The colours of the plots: one meaning, one colour, on every plot.

Each has a contrast of at least 3 to 1 on the light background, the dark one and white paper. Positives and negatives,
and earlier and newest rounds, differ in every kind of colour vision. Where other colours meet on one plot, shapes
differ too (a dashed line, a label).
"""

POSITIVE, NEGATIVE = "#2f7fd6", "#d9730d"  # of pairs
NEUTRAL = "#7b8087"  # pairs that are neither (unsure, or all of them), times, and reference lines
MATCHER, EARLIER = "#128f82", "#9a5bd0"  # figures of the newest matcher, or of all; figures of the first one
KINDS = {"pairs": NEUTRAL, "negatives": NEGATIVE, "positives": POSITIVE}  # of pairs in a histogram
ANSWERS = {"positives": POSITIVE, "negatives": NEGATIVE, "unsure": NEUTRAL}  # of labels


def between(place: float) -> str:
    """Return the colour at a place from 0 (the first round) to 1 (the newest)."""
    pairs = zip(_channels(EARLIER), _channels(MATCHER), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * place):02x}" for a, b in pairs)


def _channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]

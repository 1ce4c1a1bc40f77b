"""What the files of a new project hold: checked with a bar, and in words."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import streamlit as st

from allpairs.annotate.kit.text.formatting import literal, number_in_words
from allpairs.annotate.kit.uploads import Findings, Source, check
from allpairs.db.progress import Progress


def propose(key: str, value: str, proposals: Collection[str] = ()) -> None:
    """Put the value into the widget of this key, unless it has one that a person entered.

    proposals: values that also count as proposals. An earlier proposal is replaced whenever it comes back: a run that
    is cut off leaves it in the browser, which sends it again.
    """
    proposed: set[str] = st.session_state.setdefault(f"{key}_proposed", set())
    now = st.session_state.get(key, st.query_params.get(key))  # in the address, before the widget is drawn
    if now is None or (now != value and (now in proposed or now in proposals)):
        st.session_state[key] = value
    proposed.add(value)


@contextmanager
def page_progress(first: str) -> Iterator[Progress]:
    """Yield a progress function that draws a bar; remove the bar at the end. first: what is said at the start."""
    bar = st.progress(0.0, first)

    def show(stage: str, share: float) -> None:
        bar.progress(share, f"{literal(stage[0].upper() + stage[1:])} …")

    yield show
    bar.empty()


def checked_files(source: Source) -> Findings:
    """Return what the files hold. They are read again only after one has changed."""
    stamp = _stamp(source)
    known: tuple[object, Findings] | None = st.session_state.get("checked")
    if known is None or known[0] != (source, stamp):
        with page_progress("Checking the files …") as progress:
            known = (source, stamp), check(source, progress)
        st.session_state["checked"] = known
    return known[1]


def _stamp(source: Source) -> tuple[tuple[float, int], ...]:
    """Return a value that changes when one of the files does."""
    paths = (path for path in (source.left, source.right, source.gold) if path is not None)
    stats = (path.stat() for path in paths if path.exists())
    return tuple((stat.st_mtime, stat.st_size) for stat in stats)


def show_findings(findings: Findings) -> None:
    """Draw what the files hold, or what is wrong with them."""
    st.subheader("Contents of the files", anchor=False)
    for line in findings.problems:
        st.error(literal(line))
    if findings.problems:
        return
    st.success(f"{texts_in_words(findings)}; {known_in_words(findings)}")
    for line in findings.notes:
        st.warning(literal(line))


def texts_in_words(findings: Findings) -> str:
    """Return how many texts the files hold: `8 texts`, or `8 × 3 texts`."""
    return f"{findings.left:,} × {findings.right:,} texts" if findings.right else f"{findings.left:,} texts"


def known_in_words(findings: Findings) -> str:
    """Return how many known pairs the files hold."""
    if not findings.positives and not findings.negatives:
        return "no known pairs"
    closed = f" ({findings.closed:,} of them implied by others)" if findings.closed else ""
    return f"known pairs: {findings.positives:,} positive{closed}, {findings.negatives:,} negative"


def pairs_in_words(findings: Findings) -> str:
    """Return how many pairs the texts form."""
    pairs = findings.left * (findings.right or findings.left - 1) // (1 if findings.right else 2)
    return f"{number_in_words(pairs)} possible pairs"

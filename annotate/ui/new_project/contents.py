"""What the files of a new project hold: checked with a bar, and in words."""

import streamlit as st

from allpairs.annotate.kit.text.formatting import in_words, literal
from allpairs.annotate.kit.uploads import Findings, Source, check
from allpairs.annotate.ui.new_project.progress import progress_bar


def checked(source: Source) -> Findings:
    """Return what the files hold. They are read again only after one has changed."""
    stamp = _stamp(source)
    known: tuple[object, Findings] | None = st.session_state.get("checked")
    if known is None or known[0] != (source, stamp):
        with progress_bar("Checking the files …") as progress:
            known = (source, stamp), check(source, progress)
        st.session_state["checked"] = known
    return known[1]


def _stamp(source: Source) -> tuple[tuple[float, int], ...]:
    """Return a value that changes when one of the files does."""
    paths = (path for path in (source.left, source.right, source.gold) if path is not None)
    stats = (path.stat() for path in paths if path.exists())
    return tuple((stat.st_mtime, stat.st_size) for stat in stats)


def report(findings: Findings) -> None:
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
    return f"{in_words(pairs)} possible pairs"

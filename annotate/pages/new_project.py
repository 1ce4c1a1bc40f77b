"""A new project from files: choose them, preview them, check them, and only then store them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from allpairs.annotate.jobs.requests import request_round
from allpairs.annotate.projects.import_files import Findings, Source, check, guess_columns, guess_gold_columns, load
from allpairs.annotate.projects.lifecycle import name_problem
from allpairs.annotate.projects.projects import create_project
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.ui.common.upload import chosen_file
from allpairs.annotate.ui.projects.settings import problems as settings_problems
from allpairs.annotate.ui.projects.settings import settings_form
from allpairs.annotate.ui.state import engine
from allpairs.db.corpus.corpus import Columns
from allpairs.db.corpus.files import preview
from allpairs.db.domain import Settings
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress

ONE, TWO = "One list: which of these texts match each other?", "Two lists: which left texts match which right texts?"
NO_LABEL = "(none: all pairs are positive)"
ROWS = 5  # of a preview


def main() -> None:
    """Draw the page."""
    st.title("New project", anchor=False)
    name = st.text_input("Name", key="new_name", max_chars=80)
    two = st.radio("Kind", (ONE, TWO), key="new_kind") == TWO
    source = files(two)
    findings = None
    if source is not None:
        findings = _check(source, _stamp(source))
        report(findings)
    entered = settings_form({}, key="new_settings")
    wrong = [*_name_problems(name), *settings_problems(entered)]
    if source is None:
        wrong.append("Choose a readable file for each list.")
    elif findings is not None and findings.problems:
        wrong.append("The files have problems, listed above.")
    create(name, source, entered, wrong)


def files(two: bool) -> Source | None:
    """Draw the choice of files and columns; return them, or None until every list has a readable file."""
    st.subheader("Left list" if two else "Texts", anchor=False)
    left = item_file("left")
    right = None
    if two:
        st.subheader("Right list", anchor=False)
        right = item_file("right")
    st.subheader("Known pairs (optional)", anchor=False)
    st.caption("With known positives, every round can be measured from the start. Pairs that they imply are added.")
    gold_path = chosen_file("gold")
    gold = gold_columns(gold_path) if gold_path is not None else None
    if left is None or (two and right is None) or (gold_path is not None and gold is None):
        return None
    source = Source(*left, *(right or ()))
    return source if gold_path is None or gold is None else replace(source, gold=gold_path, gold_columns=gold)


def item_file(which: str) -> tuple[Path, Columns] | None:
    """Draw the choice of one list's file and columns, and return them."""
    path = chosen_file(which)
    names = _preview(path) if path is not None else []
    if path is None or not names:
        return None
    guess = guess_columns(names)
    key = f"{which}_{path}"  # per file, since another file has other columns
    one, other = st.columns(2)
    id_ = one.selectbox("Id column", names, names.index(guess.id), key=f"id_{key}")
    texts = other.multiselect(
        "Text columns",
        names,
        guess.texts,
        key=f"texts_{key}",
        help="Several columns are joined in this order with “ . ”.",
    )
    if not texts:
        st.error("Choose at least one text column.")
        return None
    return path, Columns(id_, tuple(texts))


def gold_columns(path: Path) -> tuple[str, str, str] | None:
    """Draw the choice of the known pairs' columns; return them, or None if the file cannot be read."""
    names = _preview(path)
    if not names:
        return None
    first, second, label = guess_gold_columns(names)
    one, two, three = st.columns(3)
    left = one.selectbox("Id column of the first item", names, names.index(first), key=f"id1_{path}")
    right = two.selectbox("Id column of the second item", names, names.index(second), key=f"id2_{path}")
    options = [NO_LABEL, *names]
    stated = three.selectbox("Label column", options, options.index(label or NO_LABEL), key=f"label_{path}")
    return left, right, "" if stated == NO_LABEL else stated


def _preview(path: Path) -> list[str]:
    """Draw the file's first rows, or what is wrong with it, and return its columns."""
    try:
        names, rows = preview(path, ROWS)
    except InputError as error:
        st.error(literal(str(error)))
        return []
    table = pd.DataFrame([row.values for row in rows], columns=names, index=[row.number for row in rows])
    table.index.name = "row"
    st.dataframe(table, alt=f"The first rows of {path.name}")  # cells show their text as it is
    return names


def _stamp(source: Source) -> tuple[tuple[float, int], ...]:
    """Return a value that changes when one of the files does."""
    paths = (path for path in (source.left, source.right, source.gold) if path is not None)
    stats = (path.stat() for path in paths if path.exists())
    return tuple((stat.st_mtime, stat.st_size) for stat in stats)


def _check(source: Source, stamp: tuple[tuple[float, int], ...]) -> Findings:
    """Return what the files hold. They are read again only after one has changed."""
    known: tuple[object, Findings] | None = st.session_state.get("checked")
    if known is None or known[0] != (source, stamp):
        with _progress() as progress:
            known = (source, stamp), check(source, progress)
        st.session_state["checked"] = known
    return known[1]


@contextmanager
def _progress() -> Iterator[Progress]:
    """Yield a progress function that draws a bar; remove the bar at the end."""
    bar = st.progress(0.0, "Reading the files …")

    def show(stage: str, done: float) -> None:
        bar.progress(done, f"{literal(stage[0].upper() + stage[1:])} …")

    yield show
    bar.empty()


def report(findings: Findings) -> None:
    """Draw what the files hold, or what is wrong with them."""
    st.subheader("Contents of the files", anchor=False)
    for line in findings.problems:
        st.error(literal(line))
    if findings.problems:
        return
    texts = f"{findings.left:,} × {findings.right:,} texts" if findings.right else f"{findings.left:,} texts"
    closed = f" ({findings.closed:,} of them implied by others)" if findings.closed else ""
    positives, negatives = f"{findings.positives:,} positive{closed}", f"{findings.negatives:,} negative"
    known = f"known pairs: {positives}, {negatives}" if findings.positives or findings.negatives else "no known pairs"
    st.success(f"{texts}; {known}")
    for line in findings.notes:
        st.warning(literal(line))


def _name_problems(name: str) -> list[str]:
    if not name.strip():
        return ["Give the project a name."]
    problem = name_problem(engine(), name)
    return [f"{problem[0].upper()}{problem[1:]}."] if problem else []


def create(name: str, source: Source | None, entered: dict[str, object], wrong: list[str]) -> None:
    """Draw what is still missing, and the button that creates the project and opens its first pairs."""
    st.divider()
    for line in wrong:
        st.caption(literal(line))
    pressed = st.button("Create", key="create", type="primary", icon=":material/add:", disabled=bool(wrong))
    if not pressed or source is None or wrong:
        return
    try:
        with _progress() as progress:
            corpus = load(source, progress)
            project_id = create_project(engine(), name, corpus, Settings.model_validate(entered), progress)
            request_round(engine(), project_id)
    except InputError as error:
        st.error(literal(str(error)))
        return
    st.session_state["project"] = name.strip()
    st.switch_page("../pages/label.py", query_params={"project": name.strip()})


main()

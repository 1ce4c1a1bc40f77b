"""Correct the groups: one after the other as a table, least sure first, by keys."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from allpairs.annotate.features.groups import decide, open_groups
from allpairs.annotate.features.groups.group_table import CellMark, GroupRow, cell_marks
from allpairs.annotate.features.groups.open_groups import GroupWork, OpenGroup, ShownGroup
from allpairs.annotate.features.label.ui import pair_view
from allpairs.annotate.features.label.ui.pair_view import marked
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.diff import highlight
from allpairs.annotate.kit.text.formatting import beginning, duration, literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import annotator, engine, may

PAGE = 50  # rows of a group that are shown at a time
LETTERS = "ABDEFGHILNOPQSTUVWXY"  # of rows; the others are keys of buttons, or the browser's
SIGNS = {CellMark.SAME: "", CellMark.SIMILAR: "≈ ", CellMark.DIFFERENT: "≠ ", CellMark.MISSING: "○ "}
NONE_YET = "There are no groups yet. Find doubles first."
SIGNS_IN_WORDS = "The first row stays. Against it ≈ is similar, ≠ is different, and ○ is only in one of both."
CELL = f"{pair_view.CELL}; overflow-wrap: break-word"  # a wide table scrolls, and words stay whole
TICKED = "text-decoration: line-through; opacity: 0.6"
TABLE = "width: 100%; border-collapse: collapse; font-size: 0.9rem"


@st.fragment
def correct_groups(project_id: int) -> None:
    """Draw the next group that nobody has confirmed, and what may be decided of it."""
    st.subheader("Correct the groups", anchor=False)
    work = _work(open_groups.groups_state(engine(), project_id))
    if work is None:
        st.info(NONE_YET, icon=":material/inbox:")
        return
    st.caption(work_in_words(work))
    decides = may(Right.LABEL, project_id)
    if work.open:
        place = min(st.session_state.get(_key(project_id, "place"), 0), len(work.open) - 1)
        _group(project_id, work.open, place, decides)
    if decides:
        _undo(project_id)


@st.cache_data(max_entries=20, show_spinner="Reading the groups …")
def _work(state: tuple[object, ...]) -> GroupWork | None:
    """Return what there is to look at; state: what it depends on, the project first."""
    return open_groups.read_group_work(engine(), int(str(state[0])))


def work_in_words(work: GroupWork) -> str:
    """Return how many groups are left and how long they take, or what is known once all were looked at."""
    groups = sum(group.number is not None for group in work.open)
    if groups:
        return f"{counted(groups, 'group')} left, about {duration(open_groups.SECONDS * len(work.open))}."
    near = f" {len(work.open)} near {'miss' if len(work.open) == 1 else 'misses'} left." if work.open else ""
    if work.precision is None:
        return f"Somebody has looked at all {counted(work.total, 'group')}.{near}"
    return (
        f"All {counted(work.total, 'group')} were looked at: precision is exact, {work.precision:.2f} before your "
        f"corrections. Of 100 pairs that the model joined, {100 * work.precision:.0f} are the same.{near}"
    )


def _group(project_id: int, groups: Sequence[OpenGroup], place: int, decides: bool) -> None:
    group = groups[place]
    shown = open_groups.read_open_group(engine(), project_id, group)
    if not shown:
        st.caption("This group is not there any more.")
        return
    with st.container(border=True, key=f"correct_group_{project_id}"):
        st.caption(_title(group, shown))
        rows = [row for part in shown for row in part.rows]
        page_rows = _page_of(project_id, group, rows)
        ticked = _ticked(project_id, group) if group.number is not None else set()
        st.html(rows_as_table(shown[0].columns, page_rows, ticked))
        st.caption(SIGNS_IN_WORDS)
        if decides and group.number is not None:
            _ticks(project_id, group, page_rows, ticked)
            _decide(project_id, shown[0], ticked)
        elif decides and len(shown) == 2:
            _decide_near(project_id, *shown)
        _move(project_id, place, len(groups))


def _title(group: OpenGroup, shown: Sequence[ShownGroup]) -> str:
    sure = "" if group.p is None else f" · sure: {group.p:.2f}"
    if group.number is None:
        return f"**Join?** A near miss{sure}"
    rows = len(shown[0].rows)
    return f"**{shown[0].name}** · {counted(rows, 'row')}{sure}"


def _page_of(project_id: int, group: OpenGroup, rows: list[GroupRow]) -> list[GroupRow]:
    """Return the rows of the chosen page, the row that stays always among them."""
    pages = -(-len(rows) // PAGE)
    if pages < 2:
        return rows
    page = st.pagination(pages, key=_key(project_id, f"page_{group.number}"))
    page_rows = rows[PAGE * (page - 1) : PAGE * page]
    return page_rows if page == 1 else [rows[0], *page_rows]


def rows_as_table(columns: Sequence[str], rows: Sequence[GroupRow], ticked: set[int]) -> str:
    """Return the rows as HTML, each cell marked where it differs from that of the first row.

    Columns that are empty in all rows are left out, and one that holds the ids.
    """
    filled = [
        place for place in range(len(columns)) if any(row.cells[place].strip() not in ("", row.id) for row in rows)
    ]
    names = (columns[place] for place in filled)
    rows = [replace(row, cells=tuple(row.cells[place] for place in filled)) for row in rows]
    letters = _letters(rows)
    head = "".join(f"<th scope='col' style='{CELL}'>{escape(name)}</th>" for name in ("", "id", *names))
    body = "".join(_row(rows[0], row, letters[row.item], row.item in ticked) for row in rows)
    return f"<div style='overflow-x: auto'><table style='{TABLE}'><tr>{head}</tr>{body}</table></div>"


def _row(kept: GroupRow, row: GroupRow, letter: str, is_ticked: bool) -> str:
    marks = cell_marks(kept.cells, row.cells)
    cells = "".join(
        _cell(kept_cell, cell, mark) for kept_cell, cell, mark in zip(kept.cells, row.cells, marks, strict=True)
    )
    style = f" style='{TICKED}'" if is_ticked else " style='font-weight: 600'" if row is kept else ""
    name = f"<th scope='row' style='{CELL}'>{letter}</th><td style='{CELL}'>{escape(row.id)}</td>"
    return f"<tr{style}>{name}{cells}</tr>"


def _cell(kept: str, cell: str, mark: CellMark) -> str:
    text = escape(beginning(cell))
    if mark == CellMark.SIMILAR:
        text = marked(highlight(beginning(kept), beginning(cell))[1])
    label = f" title='{mark.value}' data-mark='{mark.value}'"
    return f"<td dir='auto'{label} style='{CELL}'>{SIGNS[mark]}{text or '–'}</td>"


def _letters(rows: Sequence[GroupRow]) -> dict[int, str]:
    """Return the letter of each text, which all of its rows have; of further ones a number."""
    items = list(dict.fromkeys(row.item for row in rows))
    return {item: LETTERS[place] if place < len(LETTERS) else str(place + 1) for place, item in enumerate(items)}


def _ticks(project_id: int, group: OpenGroup, rows: Sequence[GroupRow], ticked: set[int]) -> None:
    st.caption("Tick the rows that do not belong:")
    ids = {row.item: row.id for row in reversed(rows)}
    with st.container(horizontal=True, gap="xsmall"):
        for item, letter in _letters(rows).items():
            st.button(
                literal(beginning(ids[item])),
                key=f"tick_{project_id}_{item}",
                type="primary" if item in ticked else "secondary",
                shortcut=letter if letter in LETTERS else None,
                on_click=_tick,
                args=(project_id, group, item),
            )


def _tick(project_id: int, group: OpenGroup, item: int) -> None:
    ticked = _ticked(project_id, group) ^ {item}
    st.session_state[_key(project_id, "ticked")] = group.number, ticked


def _ticked(project_id: int, group: OpenGroup) -> set[int]:
    number, ticked = st.session_state.get(_key(project_id, "ticked"), (None, set()))
    return set(ticked) if number == group.number else set()


def _decide(project_id: int, shown: ShownGroup, ticked: set[int]) -> None:
    items = shown.items
    who = annotator()
    is_pair = len(items) == 2  # which is split without ticks
    chosen = ticked or ({items[1]} if is_pair else set())
    with st.container(horizontal=True):
        _button(project_id, "Right", "1", decide.confirm_group, (project_id, who, items), primary=True)
        _button(project_id, "Split", "2", decide.split_group, (project_id, who, items, chosen), bool(chosen))
        if len(chosen) > 1:
            arguments = (project_id, who, items, chosen, True)
            _button(project_id, "Split, each alone", "3", decide.split_group, arguments)
        st.button(
            "Merge",
            key=_key(project_id, "merge"),
            shortcut="M",
            icon=":material/merge:",
            on_click=_toggle_search,
            args=(project_id,),
        )
    if st.session_state.get(_key(project_id, "searching")):
        _merge(project_id, items)


def _decide_near(project_id: int, group: ShownGroup, other: ShownGroup) -> None:
    arguments = (project_id, annotator(), group.items, other.items)
    with st.container(horizontal=True):
        _button(project_id, "Join", "1", decide.merge_groups, arguments, primary=True)
        _button(project_id, "Keep apart", "2", decide.keep_apart, arguments)


def _button(
    project_id: int,
    label: str,
    shortcut: str,
    act: Callable[..., str],
    arguments: tuple[object, ...],
    enabled: bool = True,
    primary: bool = False,
) -> None:
    st.button(
        label,
        key=_key(project_id, f"act_{shortcut}"),
        shortcut=shortcut,
        type="primary" if primary else "secondary",
        disabled=not enabled,
        on_click=_do,
        args=(project_id, act, arguments),
    )


def _do(project_id: int, act: Callable[..., str], arguments: tuple[object, ...]) -> None:
    with told(st.toast):
        act(engine(), *arguments)
        st.session_state[_key(project_id, "searching")] = False
        if act is decide.split_group:  # what was taken out comes next
            st.session_state[_key(project_id, "place")] = 0


def _toggle_search(project_id: int) -> None:
    key = _key(project_id, "searching")
    st.session_state[key] = not st.session_state.get(key)


def _merge(project_id: int, items: Sequence[int]) -> None:
    """Draw the search for another group, and a button for each that is there."""
    words = st.text_input(
        "Merge with", key=_key(project_id, "search_words"), placeholder="Words of a row", max_chars=200
    )
    hits = open_groups.search_groups(engine(), project_id, words, items)
    if words.strip() and not hits:
        st.caption("No other row contains all these words.")
    for hit in hits:
        rows = f"{hit.name} · {counted(len(hit.rows), 'row')}: " if hit.name else ""
        text = " · ".join(cell for cell in hit.rows[0].cells if cell)
        st.button(
            literal(beginning(f"{rows}{text}")),
            key=f"merge_{project_id}_{hit.items[0]}",
            type="tertiary",
            icon=":material/merge:",
            on_click=_do,
            args=(project_id, decide.merge_groups, (project_id, annotator(), items, hit.items)),
        )


def _move(project_id: int, place: int, count: int) -> None:
    with st.container(horizontal=True):
        for label, shortcut, step in (("Back", "K", -1), ("Next", "J", 1)):
            st.button(
                label,
                key=_key(project_id, f"move_{shortcut}"),
                shortcut=shortcut,
                type="tertiary",
                disabled=not 0 <= place + step < count,
                on_click=_go,
                args=(project_id, place + step),
            )


def _go(project_id: int, place: int) -> None:
    st.session_state[_key(project_id, "place")] = place
    st.session_state[_key(project_id, "searching")] = False


def _undo(project_id: int) -> None:
    act = decide.last_act_of(engine(), project_id, annotator())
    if act is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Undo",
            key=_key(project_id, "undo"),
            shortcut="Z",
            icon=":material/undo:",
            on_click=_take_back,
            args=(project_id, annotator()),
        )
        st.caption(f"Your last decision: {decide.act_in_words(act)}.")


def _take_back(project_id: int, person_name: str) -> None:
    with told(st.toast):
        decide.undo_last_act(engine(), project_id, person_name)


def _key(project_id: int, name: str) -> str:
    return f"correct_{project_id}_{name}"

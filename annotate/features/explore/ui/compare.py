"""Two rounds compared pair by pair on the page Explore: a plot of both probabilities, and the largest changes."""

import numpy as np
import streamlit as st

from allpairs.annotate.features.explore import compare as exploring_compare
from allpairs.annotate.features.explore.compare import ComparedPairs
from allpairs.annotate.features.explore.ui.charts import KINDS, change_chart, describe_changes
from allpairs.annotate.features.explore.ui.matches import PAGE_SIZE, paged
from allpairs.annotate.features.explore.ui.round import choose_round, preparation
from allpairs.annotate.features.label.ui.pair_view import pair_rows
from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.kit.jobs import prepared
from allpairs.annotate.kit.jobs.prepared import ExploredRound, shown_pairs
from allpairs.annotate.kit.ui.figure import figure, table_behind
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.projects.items import item_texts
from allpairs.db.schema.engine import reading

UNTRAINED = "The pre-trained encoder has scores but no probabilities. Choose a trained round."
NEEDED = 2  # trained rounds
MOST = 1_000  # pairs listed
LEAST = 0.0005  # the least change of p that is visible with three decimals
TABLE = 200  # rows of the table behind the plot


def compare_view(project_id: int, first_round: ExploredRound) -> None:
    """Draw the comparison of this round with another one."""
    trained = [round_ for round_ in prepared.rounds_of(engine(), project_id) if round_.matcher.w is not None]
    if len(trained) < NEEDED:
        advice = "Complete a batch on the page “Label” to train the next one."
        st.info(f"This takes two trained rounds; there {_so_far(len(trained))}. {advice}", icon=":material/hourglass:")
        return
    if first_round.matcher.w is None:
        st.info(UNTRAINED, icon=":material/info:")
        return
    comparable = [round_ for round_ in trained if round_.matcher.number != first_round.matcher.number]
    second_round = choose_round(project_id, comparable, "ComparedPairs with", f"compare_{first_round.matcher.number}")
    lacking = next((round_ for round_ in (first_round, second_round) if round_.exploration is None), None)
    preparation(project_id, lacking or first_round)
    if lacking is not None:
        return
    earlier, later = sorted((first_round, second_round), key=lambda round_: round_.matcher.number)
    _differences(project_id, earlier, later)


def _so_far(rounds: int) -> str:
    return "is one so far" if rounds else "is none yet"


@st.fragment
def _differences(project_id: int, earlier: ExploredRound, later: ExploredRound) -> None:
    compared = _compared(f"{earlier.folder} {earlier.exploration} {later.folder} {later.exploration}", earlier, later)
    names = round_name(earlier.matcher.number), round_name(later.matcher.number)
    if np.abs(compared.change).max(initial=0.0) < LEAST:
        st.info(f"{names[0]} and {names[1].lower()} give the same probabilities.", icon=":material/drag_handle:")
        return
    _plot(compared, *names)
    st.caption(
        f"All known pairs and the best {exploring_compare.TOP:,} of each round, {len(compared):,} in total, largest "
        "change first."
    )
    page = paged(min(len(compared), MOST), f"compare_page_{'_'.join(names)}", PAGE_SIZE, "largest change first")
    part = compared.take(slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE))
    pairs = shown_pairs(engine(), later.matcher, part.scored)
    changes = zip(part.before, part.after, part.bound, strict=True)
    pair_rows(project_id, list(zip(pairs, (_change(*change) for change in changes), strict=True)))


def _change(before: float, after: float, bound: bool) -> str:
    return f"**p {before:.3f} → {after:.3f}**{' (at least this much)' if bound else ''}"


@st.cache_data(max_entries=4, show_spinner=False)
def _compared(key: str, _earlier: ExploredRound, _later: ExploredRound) -> ComparedPairs:
    """Return the two rounds compared, cached by key, which names the prepared files of both."""
    return exploring_compare.compare_rounds(_earlier, _later)


def _plot(compared: ComparedPairs, before: str, after: str) -> None:
    points = compared.take(exploring_compare.drawn(compared, np.random.default_rng(0)))
    most = compared.take(slice(TABLE))
    with reading(engine()) as session:
        texts = item_texts(session, {*most.scored.left.tolist(), *most.scored.right.tolist()})
    table = exploring_compare.points_table(points).assign(kind=[KINDS[truth] for truth in points.truth.tolist()])
    figure(change_chart(table, before, after), describe_changes(table, before, after))
    if len(table) < len(compared):
        st.caption(
            f"The plot shows {len(table):,} of the {len(compared):,} pairs: the largest changes and a random sample."
        )
    name = f"changes-{before}-{after}".lower().replace(" ", "-")
    table_behind(exploring_compare.changes_table(most, texts), name)

"""Groups of texts that matches and answers make, on the page Explore."""

import streamlit as st

from allpairs.annotate.features.explore.ui.matches import (
    answered_now,
    expectation,
    paged,
    prepared_state,
    threshold_slider,
)
from allpairs.annotate.features.groups import groups as grouping
from allpairs.annotate.features.groups import kept_groups
from allpairs.annotate.features.groups.groups import Answered, ItemGroups
from allpairs.annotate.features.groups.ui.kept_groups import news, what_would_change
from allpairs.annotate.features.label.ui.pair_view import pair_rows
from allpairs.annotate.kit.jobs.prepared import (
    ExploredRound,
    Scored,
    ShownPair,
    kind_of,
    prepared_best_pairs,
    shown_pairs,
)
from allpairs.annotate.kit.text.formatting import beginning, literal
from allpairs.annotate.kit.text.measures import counted, score_in_words
from allpairs.annotate.kit.ui.clusterings import choose_clustering
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.domain import Clustering
from allpairs.db.projects.items import identifiers_of, item_texts
from allpairs.db.schema.engine import reading
from allpairs.learner.light.groups.description import Changes

PAGE_SIZE = 10  # groups on one page
TEXTS = 50  # of a group that are shown
LARGEST = "Largest first"
LOOSEST = "Least coherent first"
WEAKEST = "Weakest link first"
EXPLANATION = (
    "Matches and people's answers form groups; the most central text comes first. *Coherence* is the share of a "
    "group's pairs that match: 1 if all do, low in a chain. The *weakest link* is the match of the lowest score that "
    "holds the group together: if it is wrong, it has joined two groups. Correct the project's groups on the page "
    "“Clean list”."
)


@st.fragment
def groups_view(project_id: int, round_: ExploredRound) -> None:
    """Draw the groups of the round's matches."""
    scored = prepared_best_pairs(round_)
    if not len(scored):
        st.info("There are no pairs. The project needs at least two texts.", icon=":material/inbox:")
        return
    news(project_id)
    threshold = threshold_slider(round_, scored, f"threshold_{round_.folder.name}")
    answered = answered_now(round_, scored)
    above = grouping.matches_at(scored, threshold, answered)
    expectation(round_, scored, above, threshold)
    if not len(above) and not answered.several:
        st.info("No pair scores that high. Lower the threshold.", icon=":material/inbox:")
        return
    clustering = choose_clustering(kind_of(engine(), project_id), round_.matcher.w is not None, "explore_groups")
    state = prepared_state(round_)
    found_groups = _groups(state, threshold, clustering, round_, above, answered)
    groups = found_groups.groups
    text_count = counted(int(groups.size.sum()), "text")
    st.caption(f"{EXPLANATION} Here: {counted(len(groups.size), 'group')} of {text_count}.")
    if clustering != Clustering.CONNECTED:
        st.caption(_changes(found_groups.changes))
    what_would_change(project_id, found_groups, (state, threshold, clustering))
    orders = {LARGEST: groups.largest_first, LOOSEST: groups.least_coherent_first, WEAKEST: groups.weakest_first}
    order = st.segmented_control(
        "Order",
        list(orders),
        default=LARGEST,
        required=True,
        key="groups_order",
        persist_state="session",
        label_visibility="collapsed",
    )
    ordered = orders[str(order)]()
    page = paged(len(ordered), f"groups_page_{round_.folder.name}", PAGE_SIZE, str(order).lower())
    page_groups = ordered[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    links = iter(shown_pairs(engine(), round_.matcher, found_groups.weakest(page_groups)))
    texts = [item for group in page_groups.tolist() for item in found_groups.items(group)]
    kept_ids = kept_groups.kept_ids(engine(), project_id, texts)
    for group in page_groups.tolist():
        _group(project_id, found_groups, group, kept_ids, next(links) if groups.joined[group, 0] >= 0 else None)


@st.cache_data(max_entries=20, show_spinner=False)
def _groups(
    state: str, threshold: float, clustering: Clustering, _round: ExploredRound, _above: Scored, _answered: Answered
) -> ItemGroups:
    """Return the groups of a round's matches; `state` names what they depend on."""
    kind = kind_of(engine(), _round.matcher.project_id)
    return grouping.groups_of_matches(_round.matcher, _above, threshold, kind, _answered, clustering)


def _changes(changes: Changes) -> str:
    """Return in words what becomes of the groups of connected matches."""
    stay = "stays" if changes.same == 1 else "stay"
    divide = "divides" if changes.divided == 1 else "divide"
    joins = f", {changes.joined:,} join other texts" if changes.joined else ""
    return (
        f"Against connected matches: {counted(changes.same, 'group')} {stay}, {changes.divided:,} {divide}{joins}. "
        "Answers count in both."
    )


def _group(
    project_id: int, item_groups: ItemGroups, group: int, kept_ids: dict[int, str], weakest: ShownPair | None
) -> None:
    """Draw one group, its most central text first, and the link that holds it by the least. kept_ids: ids that stay."""
    items = item_groups.items(group)
    groups = item_groups.groups
    with reading(engine()) as session:
        texts = item_texts(session, items[:TEXTS])
        ids_of = identifiers_of(session, items)
    with st.container(border=True, key=f"group_{min(items)}"):
        matching = f"{groups.matches[group]:,} of {counted(int(groups.pairs[group]), 'pair')} match"
        named = f"**{ids}** · " if (ids := kept_groups.ids_in_words(items, kept_ids)) else ""
        count = sum(map(len, ids_of.values()))
        ids_in_all = f" with {counted(count, 'id')}" if count > len(items) else ""
        score = f" · {matching} (coherence {groups.coherence[group]:.2f}) · mean score {groups.score[group]:.3f}"
        equal_texts = " · equal texts"
        st.caption(f"{named}**{counted(len(items), 'text')}**{ids_in_all}{score if len(items) > 1 else equal_texts}")
        first, *more_texts = (literal(beginning(texts[id_])) for id_ in items[:TEXTS])
        lines = [f"- **{first}**", *(f"- {text}" for text in more_texts)]
        more = [f"- *{len(items) - TEXTS:,} more*"] if len(items) > TEXTS else []
        st.markdown("\n".join([*lines, *more]))
        if weakest is not None:
            with st.expander(f"Weakest link: {score_in_words(weakest.score, weakest.p)}"):
                pair_rows(project_id, [(weakest, "")])

"""All matches of a project: the search that a person asks for, its progress, the files."""

from functools import partial

import streamlit as st

from allpairs.annotate.features.download import match_export
from allpairs.annotate.features.download.match_export import SearchChoices
from allpairs.annotate.features.download.routes import matches_address
from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.jobs.open_jobs import newest_progress
from allpairs.annotate.kit.text.clusterings import TITLES
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.clusterings import choose_clustering
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import watch
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.corpus.equal_texts import MOST_ID_PAIRS
from allpairs.db.domain import Clustering, Representative
from allpairs.db.projects.jobs import MATCHES
from allpairs.db.results.matches import Matches, read_matches
from allpairs.learner.light.groups.grouping import Grouping

EXPLANATION = (
    "All pairs of the project's texts that score at least the threshold, and the groups that they form. Known answers "
    "override the model: known negatives are left out, known positives are included."
)
KEEP = (
    "Each group gets an id that stays over rounds, and what changed since the last time is recorded: see Explore → "
    "Groups. Clear it to try another threshold without changing them."
)
SUFFIXES = {"csv": "CSV", "parquet": "Parquet"}


def match_search(project_id: int) -> None:
    """Draw the search for matches, its progress, and the files that the last one made."""
    st.caption(EXPLANATION)
    watch(partial(newest_progress, engine(), project_id, MATCHES), "Matches: ", partial(_ask, project_id))
    matches = read_matches(project_id)
    if matches is not None:
        _files(project_id, matches)


def _ask(project_id: int) -> None:
    """Draw the choice of a round and a threshold, and the button."""
    work = match_export.search_choices(engine(), project_id)
    if not work.thresholds:
        st.caption("There is no round yet. The first job makes one.")
        return
    newest = max(work.thresholds)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rounds = list(work.thresholds)
        number = st.selectbox("Round", rounds, format_func=round_name, key=f"match_round_{newest}", width=200)
        threshold = st.number_input(
            "Threshold",
            value=work.thresholds[number],
            min_value=-1.0,
            max_value=1.0,
            step=0.01,
            format="%.4f",
            placeholder="a score",
            key=f"match_threshold_{number}",
            width=200,
            help="The lowest score of a match. The default is where the model's probability is 50%. The page “Monitor” "
            "shows precision and recall by score.",
        )
        reranker = _order(project_id)
        grouping = _grouping(work, has_p=work.thresholds[number] is not None)
        keep = st.checkbox("Make these the project's groups", value=True, key="match_keep", help=KEEP)
        pressed = st.button("Find matches", key="find_matches", icon=":material/join:", disabled=threshold is None)
    if not pressed or threshold is None:
        return
    with told():
        jobs.request_matches(engine(), project_id, number, threshold, reranker, grouping, keep)
        st.rerun()


def _order(project_id: int) -> str | None:
    """Draw the choice of a re-ranker, where a pipeline made one; return its folder, or None for the order by score."""
    titles = match_export.rerankers(engine(), project_id)
    if not titles:
        return None
    chosen: str | None = st.selectbox(
        "Order by",
        [None, *titles],
        format_func=lambda folder: titles.get(folder, "score"),
        key="match_order",
        width=260,
        help="A re-ranker reads both texts of every match, the left one as the query: about 100 pairs a second on a "
        "CPU. The re-ranker only changes the order; the round's model still decides which pairs match.",
    )
    return chosen


def _grouping(work: SearchChoices, has_p: bool) -> Grouping:
    """Draw the choices of the clustering and of the text that stands for each group."""
    clustering = choose_clustering(work.kind, has_p, "match_groups")
    stands = {"Most central": (Representative.CENTRAL, ""), "Longest": (Representative.LONGEST, "")}
    stands |= {f"Newest by {column}": (Representative.NEWEST, column) for column in work.columns}
    chosen = st.selectbox(
        "Representative",
        list(stands),
        key="match_representative",
        width=200,
        help="The text that stands for its group: the one with the most probable matches in all, the longest, or the "
        "one with the largest number or latest date in a text column.",
    )
    return Grouping(clustering, *stands[chosen])


def _apart(result: Matches) -> list[str]:
    """Explain what the number of pairs includes, and how many rows the file has."""
    words = [f"The file of pairs has {counted(result.rows, 'row')}, one for each pair of ids."]
    if result.below:
        words.insert(0, f"{result.below:,} of the pairs score below the threshold: they are known to match.")
    if result.alike:
        words.append(f"{counted(result.alike, 'text')} with several ids: these ids match, with the reason “equal”.")
    if result.left_out:
        words.append(
            f"{counted(result.left_out, 'row')} left out: where two texts make more than {MOST_ID_PAIRS} pairs of ids, "
            "each id stands beside the first one of the other text. Groups name every id."
        )
    return words


def _files(project_id: int, result: Matches) -> None:
    """Draw what the last search found, and its files."""
    model = round_name(result.matcher)
    order = ", ordered by a re-ranker" if result.reranker else ""
    st.markdown(
        f"**{counted(result.pairs, 'pair')} of texts, {result.groups:,} groups of {result.grouped:,} texts** "
        f"({literal(model)}, threshold {result.threshold:.4f}{order}, {TITLES[Clustering(result.clustering)].lower()})"
    )
    st.caption(" ".join(_apart(result)))
    if result.changed is not None:
        st.caption(f"Changed groups of the project: {result.changed:,}. See Explore → Groups.")
    if result.note:
        st.caption(literal(result.note))
    if result.texts != match_export.texts_version(engine(), project_id):
        st.caption("The project's texts have changed since. Find the matches again to include the changes.")
    with st.container(horizontal=True):
        for table in match_export.COLUMNS:
            for suffix, title in SUFFIXES.items():
                address = matches_address(project_id, table, suffix)
                st.link_button(f"{table.capitalize()} as {title}", address, icon=":material/download:")

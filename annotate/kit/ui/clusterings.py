"""The choice of how matches make groups."""

import streamlit as st

from allpairs.annotate.kit.text.clusterings import TITLES
from allpairs.db.domain import Clustering, Kind
from allpairs.learner.light.groups.grouping import possible

HELP = """How matches make groups. An answer “yes” always joins two texts; an answer “no” keeps them apart.

- **Connected matches**: a chain of matches joins texts, so one wrong match can join two groups.
- **Average linkage**: groups join while the mean probability between them is at least that at the threshold.
- **Correlation clustering**: the groups whose pairs are the most probable in all.
- **One to one** (two lists): each text has one partner at most.
- **One to many** (two lists): each right text joins its best left one.
"""


def choose_clustering(kind: Kind, has_p: bool, key: str) -> Clustering:
    """Draw the choice among the clusterings that are possible; return the chosen one.

    Average linkage comes first: it is the best one on most data (docs/results.md, Clusterings).
    """
    ways = sorted(possible(kind, has_p), key=lambda clustering: clustering != Clustering.AVERAGE)
    chosen: Clustering = st.selectbox(
        "Groups",
        ways,
        format_func=lambda clustering: TITLES[clustering],
        key=f"{key}_{kind}_{has_p}",
        width=240,
        help=HELP,
        persist_state="session",
    )
    return chosen

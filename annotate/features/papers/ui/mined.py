"""Mined pairs on a page: a sample to label, the precision that its labels show, and their use in training."""

import numpy as np
import pandas as pd
import streamlit as st

from allpairs.annotate.features.papers.mined_pairs import (
    annotator_of,
    first_rows,
    plan_use,
    take_back,
    use_as_training,
    used,
)
from allpairs.annotate.features.papers.mined_sample import DRAW, bands_of, put_up
from allpairs.annotate.features.papers.runs import RunOutput
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.estimate import Estimate
from allpairs.learner.light.stats.precision_by_rank import Band, precision

MOST_PAIRS = 50  # of the best pairs
COLUMNS = {
    "rank": "Rank",
    "x": "First text",
    "y": "Second text",
    "cos": "Cosine",
    "margin": "Margin",
    "cross_score": "Cross-encoder",
}
SAMPLE = (
    "Samples pairs at random, the same number from each band of ranks, and queues them on the page “Label” beside the "
    "batch. Their labels show how many of the mined pairs are right, and are used for training. Pairs that people have "
    "already labelled count, and are not asked again."
)
PAYS = (
    "**Labels teach more.** Added to 100 labels of product records, 500 pairs of few-shot mining, half of them right, "
    "lowered average precision from 0.69 to 0.55. 100 more labels raised it to 0.74. Label if you can; if not, draw a "
    "sample first, and use the pairs only if nearly all are right."
)


def mined_acts(project_id: int, run_id: str, output: RunOutput) -> None:
    """Draw what can be done with the pairs."""
    _sample(project_id, run_id, output)
    _training(project_id, run_id, output)


def mined_pairs_section(project_id: int, run_id: str, output: RunOutput) -> None:
    """Draw the precision of the pairs as far as labels show it, and the best of them."""
    bands = bands_of(engine(), project_id, run_id, output.number)
    if bands:
        _precision(bands, run_id)
    with st.expander("The best pairs", key=f"best_{run_id}_{output.number}", on_change="rerun") as opened:
        if opened.open:
            st.dataframe(
                pd.DataFrame(first_rows(output.path, MOST_PAIRS), columns=list(COLUMNS)),
                hide_index=True,
                column_config=COLUMNS,
                alt="The best mined pairs",
            )


def _sample(project_id: int, run_id: str, output: RunOutput) -> None:
    key = f"sample_{run_id}_{output.number}"
    with st.popover("Draw a sample for labelling", icon=":material/rule:", key=key):
        st.write(SAMPLE)
        draw = st.number_input("Pairs to draw", 1, 5_000, DRAW, key=f"{key}_draw")
        if not st.button("Draw sample", key=f"{key}_start", type="primary"):
            return
        with told():
            count = put_up(engine(), project_id, run_id, output.number, draw, np.random.default_rng())
            st.toast(f"{count} pairs are queued on the page “Label”.", icon=":material/check:")
            st.rerun()


def _training(project_id: int, run_id: str, output: RunOutput) -> None:
    key = f"training_{run_id}_{output.number}"
    title = "Use as training pairs"
    with st.popover(title, icon=":material/model_training:", key=key, on_change="rerun") as opened:
        if opened.open:
            with told():
                _use(project_id, run_id, output, key)


def _use(project_id: int, run_id: str, output: RunOutput, key: str) -> None:
    """Draw what the best pairs would become, and the buttons that do and undo it."""
    st.info(PAYS, icon=":material/info:")
    best = st.number_input("Number of best pairs", 1, 1_000_000, 100, key=f"{key}_best")
    plan = plan_use(engine(), project_id, run_id, output.number, best)
    annotator = literal(annotator_of(run_id))
    left_out = [
        f"{plan.labelled:,} already labelled" if plan.labelled else "",
        f"{plan.sampled:,} in a sample to label" if plan.sampled else "",
    ]
    without = f" Not changed: {', '.join(filter(None, left_out))}." if any(left_out) else ""
    st.write(
        f"**{counted(len(plan.new), 'pair')}** will be labelled positive by **{annotator}** without a person looking. "
        f"The next training uses these labels. You can undo them here, all at once.{without}"
    )
    if st.button(f"Create {counted(len(plan.new), 'label')}", key=f"{key}_use", type="primary", disabled=not plan.new):
        count = use_as_training(engine(), project_id, run_id, output.number, best)
        st.toast(f"{counted(count, 'label')} created.", icon=":material/check:")
        st.rerun()
    stand = used(engine(), project_id, run_id)
    if stand and st.button(f"Undo all {counted(stand, 'label')}", key=f"{key}_back", icon=":material/undo:"):
        take_back(engine(), project_id, run_id)
        st.rerun()


def _precision(bands: list[Band], run_id: str) -> None:
    """Draw the precision of the whole list and of each band, and how much of the sample is labelled."""
    drawn = sum(band.drawn for band in bands)
    labelled = sum(band.decided + band.unsure for band in bands)
    whole = precision(bands)
    unsure = sum(band.unsure for band in bands)
    st.markdown(_in_words(whole, bands))
    without = f" {unsure} unsure, which do not count." if unsure else ""
    rest = " The others are on the page “Label”." if labelled < drawn else ""
    st.caption(f"{labelled} of {drawn} sampled pairs are labelled.{without}{rest}")
    st.dataframe(
        pd.DataFrame([_row(band) for band in bands]),
        hide_index=True,
        alt="Precision of each band of ranks",
        key=f"bands_{run_id}",
    )


def _in_words(whole: Estimate | None, bands: list[Band]) -> str:
    if whole is None:
        missing = sum(not band.decided for band in bands)
        return (
            "The precision of the whole list is known once each band has a label. "
            f"{missing} of {len(bands)} bands have none yet."
        )
    size = sum(band.size for band in bands)
    interval = f"{whole.low:.0%} to {whole.high:.0%}"
    return (
        f"Of all {size:,} mined pairs, **{whole.value:.0%}** are right "
        f"(95% interval {interval}, {whole.labels} labels)."
    )


def _share_in_words(share: Estimate | None) -> str:
    return f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})" if share else "–"


def _row(band: Band) -> dict[str, object]:
    return {
        "Ranks": f"{band.first:,} to {band.last:,}",
        "Precision (95% interval)": _share_in_words(band.precision),
        "Right": band.positives,
        "Labelled": band.decided,
        "Sampled": band.drawn,
    }

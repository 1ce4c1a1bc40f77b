"""Ordering a project's batches by a re-ranker that a run made."""

from typing import get_args

import streamlit as st

from allpairs.annotate.pipelines.adopt_reranker import orders_batches, plan_order, stop_order, use_order
from allpairs.annotate.ui.common.errors import told
from allpairs.annotate.ui.state import engine
from allpairs.db.domain import BatchOrder

ABOUT = "The strategy chooses the pairs of a batch. This re-ranker can decide the order in which people see them."


def batch_order(project_id: int, run_id: str, number: int) -> None:
    """Draw the change of the order, with its effects. number: the re-ranker's, among what the run made."""
    key = f"order_{run_id}_{number}"
    with st.popover("Order batches", icon=":material/sort:", key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        with told():
            _choice(project_id, run_id, number, key)


def _choice(project_id: int, run_id: str, number: int, key: str) -> None:
    used = orders_batches(engine(), project_id, run_id, number)
    st.caption(ABOUT)
    orders = get_args(BatchOrder)
    order: BatchOrder = st.radio(
        "Order", orders, orders.index(used) if used else 0, str.capitalize, key=f"{key}_choice"
    )
    _, lines = plan_order(engine(), project_id, run_id, number, order)
    if lines:
        st.markdown("**Effects of the change**\n\n" + "\n".join(f"- {line}" for line in lines))
        if st.button("Use this order", key=f"{key}_use", type="primary"):
            use_order(engine(), project_id, run_id, number, order)
            st.toast(f"The re-ranker now orders batches, {order}.", icon=":material/check:")
            st.rerun()
    else:
        st.write("The project uses this order.")
    if used and st.button("Stop using this order", key=f"{key}_stop"):
        stop_order(engine(), project_id)
        st.toast("Batches are now in the strategy's order.", icon=":material/check:")
        st.rerun()

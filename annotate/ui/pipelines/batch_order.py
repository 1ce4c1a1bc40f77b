"""The order of a project's batches by a re-ranker that a run made."""

from typing import get_args

import streamlit as st

from annotate.pipelines.adopt_reranker import orders_batches, plan_order, stop_order, use_order
from annotate.text.formatting import literal
from annotate.ui.state import engine
from db.domain import BatchOrder
from db.errors import InputError

ABOUT = "The strategy chooses the pairs of a batch. This re-ranker can put them in the order in which people see them."


def batch_order(project_id: int, run_id: str, number: int) -> None:
    """Nothing; draws the change of the order, with what it implies. number: the re-ranker's among what the run made."""
    key = f"order_{run_id}_{number}"
    with st.popover("Order batches", icon=":material/sort:", key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        try:
            _choice(project_id, run_id, number, key)
        except InputError as problem:
            st.warning(literal(str(problem)))


def _choice(project_id: int, run_id: str, number: int, key: str) -> None:
    used = orders_batches(engine(), project_id, run_id, number)
    st.caption(ABOUT)
    orders = get_args(BatchOrder)
    order: BatchOrder = st.radio(
        "Order", orders, orders.index(used) if used else 0, str.capitalize, key=f"{key}_choice"
    )
    _, lines = plan_order(engine(), project_id, run_id, number, order)
    if lines:
        st.markdown("**What the change implies**\n\n" + "\n".join(f"- {line}" for line in lines))
        if st.button("Use it", key=f"{key}_use", type="primary"):
            use_order(engine(), project_id, run_id, number, order)
            st.toast(f"The re-ranker orders batches, {order}.", icon=":material/check:")
            st.rerun()
    else:
        st.write("The project has this order.")
    if used and st.button("Stop using it", key=f"{key}_stop"):
        stop_order(engine(), project_id)
        st.toast("Batches have the strategy's own order.", icon=":material/check:")
        st.rerun()

"""How much of the summaries is copied from their documents (Joshi et al. 2022, section 7.1)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from allpairs.learner.metrics.text import METRICS, ROUGES, extractiveness
from allpairs.learner.pipelines.mining.downstream.added import BIENCODER, FULL
from allpairs.learner.pipelines.mining.inputs import MiningTexts
from allpairs.learner.pipelines.mining.margin import Candidates
from allpairs.learner.pipelines.mining.paper import COPYING
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.means import mean_of
from allpairs.learner.reports.tables import grid, mean_cells, number, written

WORDS = (
    "How much of a summary is copied from its document: ROUGE precision, means over pairs ± half of Student's 95% "
    "interval. The paper: XSum; its known pairs are the validation pairs."
)


def report_copying(
    report: Report, run: Run, texts: MiningTexts, filtered: Candidates, orders: dict[str, np.ndarray]
) -> None:
    """Report a row for the best pairs of each model, and for the known pairs."""
    lists: dict[str, Sequence[tuple[str, str]]] = {"known": [*texts.seeds.pairs, *texts.test]}
    for method, order in zip((BIENCODER, FULL), orders.values(), strict=False):
        best = filtered.take(order[: run.config.wanted])
        lists[method] = list(zip(texts.x.take(best.x), texts.y.take(best.y), strict=True))
    rows: list[dict[str, Any]] = []
    body = []
    for method, pairs in lists.items():
        if not pairs:
            continue
        shares = [extractiveness(summary, document) for document, summary in pairs]
        means = {name: mean_of([values[name] for values in shares]) for name in ROUGES}
        printed = COPYING[method]
        rows.append({"pairs": method, "n": len(pairs)})
        for name in ROUGES:
            rows[-1] |= {**mean_cells(name, means[name]), f"{name}_paper": printed[name]}
        cells = ((written(means[name], False), number(printed[name], False)) for name in ROUGES)
        body.append([method, f"{len(pairs):,}", *(cell for pair in cells for cell in pair)])
    header = ["", "pairs", *(cell for name in ROUGES for cell in (f"{name} {METRICS['extractiveness']}", "paper"))]
    report.text(WORDS)
    report.table("copying", "Copied from the document", rows, grid(header, body))

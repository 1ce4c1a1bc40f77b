"""The last stage: tables and figures of the mined and dropped pairs, their precision and their use."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.estimate import wilson
from allpairs.db.progress import Progress
from allpairs.learner.light.catalog.mining import SUMMARIES
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.pipelines.mining.development import read_looks
from allpairs.learner.pipelines.mining.downstream.added import BIENCODER
from allpairs.learner.pipelines.mining.downstream.tables import report_downstream
from allpairs.learner.pipelines.mining.inputs import MiningTexts, mining_texts
from allpairs.learner.pipelines.mining.margin import Candidates
from allpairs.learner.pipelines.mining.propose import PAIRS, RETRIEVER, Vectors
from allpairs.learner.pipelines.mining.results_copying import report_copying
from allpairs.learner.pipelines.mining.sift import COUNTS, CROSSENCODER, MINED
from allpairs.learner.pipelines.pipeline import Artifact, Run, write_artifacts
from allpairs.learner.pipelines.report import Report, curve
from allpairs.learner.reports.tables import cell, grid

CROSS = "cross-encoder"  # the order of `full`
DEPTHS = (50, 100, 200, 500, 1_000, 2_000, 5_000)  # ranks at which precision is reported
BEST = 10  # pairs of each model to show
LONGEST = 160  # characters of a text in a table
DEVELOPMENT = (
    "Mean reciprocal rank on the development pairs: of the bi-encoder among all their second texts and up to 1,000 "
    "others, of the cross-encoder among the right text and a few wrong ones. 0 steps: before training."
)
PRECISION = (
    "Precision counts only known pairs as right, so it is a lower bound: an unlisted right pair counts as wrong. The "
    "95% interval is Wilson's."
)


def write_mining_results(run: Run, folder: Path, progress: Progress) -> None:
    """Write tables/, figures/, report.md and artifacts.json to the folder."""
    texts = mining_texts(run)
    report = Report(folder, "Few-shot mining (Joshi et al. 2022)")
    _counts(report, run, texts)
    orders = _orders(run)
    filtered = Candidates.load(run.of("kept") / PAIRS)
    if texts.gold is not None and len(filtered):
        _precision(report, texts, filtered, orders)
    _development(report, run)
    report_downstream(report, run)
    if run.config.kind == SUMMARIES:
        report_copying(report, run, texts, filtered, orders)
    _side_by_side(report, texts, filtered, orders)
    report.close()
    write_artifacts(folder, _artifacts(run, len(filtered)))


def _orders(run: Run) -> dict[str, np.ndarray]:
    """Return positions of the kept pairs in the order of each model."""
    with np.load(run.of("mined") / "order.npz") as stored:
        order = stored["order"]
        scored = len(stored["score"]) > 0
    return {BIENCODER: np.arange(len(order))} | ({CROSS: order} if scored else {})


def _counts(report: Report, run: Run, texts: MiningTexts) -> None:
    counts = json.loads((run.of("kept") / COUNTS).read_text(encoding="utf-8"))
    vectors = Vectors(run.of("vectors"))
    sorted_out = [
        ("first texts that the classifier keeps", len(vectors.x_rows)),
        ("second texts that the classifier keeps", len(vectors.y_rows)),
    ]
    rows = [
        ("seed pairs", len(texts.seeds.pairs)),
        ("first texts", len(texts.x)),
        ("second texts", len(texts.y)),
        *(sorted_out if run.config.classifier.side != "none" else ()),
        ("pairs proposed", counts["proposed"]),
        *((f"dropped: {reason}", n) for reason, n in counts["dropped"].items()),
        ("pairs left", counts["kept"]),
        ("pairs mined", min(counts["kept"], run.config.wanted)),
    ]
    report.counts("From texts to pairs", rows)


def _development(report: Report, run: Run) -> None:
    """Report what the development pairs said of the bi-encoder and the cross-encoder, if there are any."""
    rows = [
        {"model": model, **look}
        for model, stage in ((BIENCODER, "biencoder"), (CROSS, "mined"))
        for look in read_looks(run.of(stage))
    ]
    if not rows:
        return
    body = [
        [
            row["model"],
            f"{row['learning_rate']:g}",
            f"{row['step']:,}",
            f"{row['value']:.3f}",
            "yes" if row["chosen"] else "",
        ]
        for row in rows
    ]
    report.text(DEVELOPMENT)
    header = ["", "learning rate", "steps", "MRR", "chosen"]
    report.table("development", "Choice of the models", rows, grid(header, body))


def _precision(report: Report, texts: MiningTexts, filtered: Candidates, orders: dict[str, np.ndarray]) -> None:
    right = np.array(
        [pair in texts.positives for pair in zip(filtered.x.tolist(), filtered.y.tolist(), strict=True)], dtype=bool
    )
    depths = [depth for depth in DEPTHS if depth < len(filtered)] + ([len(filtered)] if len(filtered) else [])
    rows = [_precision_row(model, depth, right[order[:depth]]) for model, order in orders.items() for depth in depths]
    body = [
        [f"{row['model']}, first {row['pairs']:,}", *(f"{row[name]:.3f}" for name in ("precision", "low", "high"))]
        for row in rows
    ]
    title = "Precision of the mined pairs"
    report.text(PRECISION)
    report.table("precision", title, rows, grid(["", "precision", "low", "high"], body))
    if rows:
        words = "; ".join(f"{row['model']} {row['precision']:.2f} of the first {row['pairs']:,}" for row in rows)
        report.figure(
            "precision", title, rows, [(f"{title}: {words}.", curve(rows, "pairs", "precision", "model", "Precision"))]
        )


def _precision_row(model: str, depth: int, right: np.ndarray) -> dict[str, Any]:
    low, high = wilson(int(right.sum()), len(right))
    return {"model": model, "pairs": depth, "precision": float(right.mean()), "low": low, "high": high}


def _side_by_side(report: Report, texts: MiningTexts, filtered: Candidates, orders: dict[str, np.ndarray]) -> None:
    """Report the best pairs of each model, the paper's Table 3."""
    rows: list[dict[str, Any]] = []
    for model, order in orders.items():
        best = filtered.take(order[:BEST])
        for rank, (x, y) in enumerate(zip(texts.x.take(best.x), texts.y.take(best.y), strict=True), 1):
            rows.append({"model": model, "rank": rank, "x": x, "y": y})
    if not rows:
        return
    cells = {(row["model"], row["rank"]): f"{cell(row['x'], LONGEST)} ↔ {cell(row['y'], LONGEST)}" for row in rows}
    ranks = range(1, rows[-1]["rank"] + 1)
    body = [[f"{rank}", *(cells[model, rank] for model in orders)] for rank in ranks]
    report.table("best", "The best pairs of each model", rows, grid(["rank", *orders], body, numbers=False))


def _artifacts(run: Run, n: int) -> list[Artifact]:
    pairs = min(n, run.config.wanted)
    artifacts = [
        Artifact("pairs", "Mined pairs", f"mined/{MINED}", {"pairs": pairs}),
        Artifact("biencoder", "Bi-encoder", f"biencoder/{RETRIEVER}", _about(run.config.biencoder)),
    ]
    if (run.of("mined") / CROSSENCODER).is_dir():
        figures = {"backbone": run.config.crossencoder.backbone, "objective": run.config.crossencoder.objective}
        artifacts.append(Artifact("crossencoder", "Cross-encoder", f"mined/{CROSSENCODER}", figures))
    return artifacts


def _about(settings: RetrieverSettings) -> dict[str, str]:
    return {"backbone": settings.backbone, "similarity": settings.similarity}

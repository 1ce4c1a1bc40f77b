"""The last stage: tables and figures beside the paper's, runs in two formats, and the run's artifacts."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.backbones.reranking.reading import FILE as READS
from allpairs.learner.backbones.reranking.reranker import scores_of
from allpairs.learner.backbones.reranking.templates import VIEWS
from allpairs.learner.pipelines.multiview.drawing import write_depths, write_rates
from allpairs.learner.pipelines.multiview.figures import Measured, Trained, all_measured, best_of
from allpairs.learner.pipelines.multiview.first import found_passages
from allpairs.learner.pipelines.multiview.formats import RunHit, write_run
from allpairs.learner.pipelines.multiview.inputs import texts_of
from allpairs.learner.pipelines.multiview.ranking import ranked
from allpairs.learner.pipelines.multiview.tables import (
    read_all_pairs,
    write_ablations,
    write_all_pairs,
    write_comparisons,
    write_fusion,
    write_main,
    write_variants,
)
from allpairs.learner.pipelines.multiview.trainings import MODEL, SCORES
from allpairs.learner.pipelines.multiview.variants import variants_of
from allpairs.learner.pipelines.pipeline import Artifact, Run, write_artifacts
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.tables import as_csv
from allpairs.learner.runtime.device import default_device

RUNS = "runs"
READING_HINT = (
    "Means over seeds, ± half of Student's 95% interval (none for one seed). The best seed is chosen on the test set "
    "itself, so its figure is too high there: compare the means. Judged queries without a right passage among "
    "the candidates count as 0. p is from the two-sided paired t-test over queries."
)


def write_ranking_results(run: Run, folder: Path, progress: Progress) -> None:
    """Write tables/, figures/, runs/, report.md and artifacts.json to the folder."""
    measured = all_measured(run)
    report = Report(folder, "Multi-view re-ranking (Ju, Yang and Wang 2021)")
    report.text(READING_HINT)
    _counts(report, run, measured[0])
    write_main(report, run, measured)
    write_variants(report, run, measured)
    write_comparisons(report, run, measured)
    for test in measured:
        write_fusion(report, run, test)
    write_ablations(report, run, measured[0])
    write_depths(report, run, measured)
    write_rates(report, run, measured[0])
    write_all_pairs(report, run)
    report.close()
    (folder / RUNS).mkdir()
    for test in measured:
        _write_runs(folder / RUNS, test)
    write_artifacts(folder, _artifacts(run, measured[0]))


def _counts(report: Report, run: Run, test: Measured) -> None:
    reach = test.reach(run.config.depth)
    report.counts("Texts and judgements", list(texts_of(run).counts.items()))
    report.text(
        f"{reach:.1%} of the test queries have a right passage among the first {run.config.depth:,} candidates; "
        "re-ranking cannot exceed this share."
    )


def _write_runs(folder: Path, measured: Measured) -> None:
    """Write the runs of the first stages and of each variant's best seed, both logits, and figures by query."""
    test = measured.test
    measure = measured.run.config.measures[0]
    ids = list(test.queries.values("id"))
    columns: dict[str, np.ndarray] = {}
    for kind, figures in measured.stages.items():
        near = found_passages(measured.run, test.name, kind)
        write_run(
            folder, f"{test.name}-{kind}", _hits(measured, near, -np.arange(near.shape[1]) + np.zeros(near.shape))
        )
        columns[kind] = figures[measure]
    for number, variant in enumerate(variants_of(measured.run.config)):
        best = best_of(measured.of(variant), measure)
        name = f"{test.name}-variant-{number}-seed-{best.training.seed}"
        ranking = ranked(measured.near, best.scores, measured.run.config.depth)
        write_run(folder, name, _hits(measured, ranking, -np.sort(-best.scores, axis=1)))
        _write_logits(folder / f"{name}.scores.tsv.gz", measured, best, ids)
        columns |= {
            f"{variant.title}, seed {result.training.seed}": result.figures[measure] for result in measured.of(variant)
        }
    rows = [
        {"query": id_, **{name: float(values[row]) for name, values in columns.items()}} for row, id_ in enumerate(ids)
    ]
    (folder / f"{test.name}-by-query.csv").write_text(as_csv(rows), encoding="utf-8")


def _hits(measured: Measured, ranking: np.ndarray, scores: np.ndarray) -> Iterator[tuple[RunHit, float]]:
    """Yield each query's passages in order, with their scores; padding at the end of a row is skipped."""
    for row, query in enumerate(measured.test.queries.values("id")):
        rows = ranking[row][ranking[row] >= 0]
        for rank, id_ in enumerate(measured.test.passages.take(rows, "id"), 1):
            yield RunHit(query, id_, rank), float(scores[row, rank - 1])


def _write_logits(path: Path, measured: Measured, best: Trained, ids: list[str]) -> None:
    """Write a line for each candidate: query, passage, logits of true and false, score."""
    with np.load(best.training.within(measured.run.of("trainings")) / SCORES) as stored:
        logits = stored[measured.test.name]
    scores = scores_of(logits)
    with gzip.open(path, "wt") as file:
        for row, query in enumerate(ids):
            rows = np.flatnonzero(measured.near[row] >= 0)
            passages = measured.test.passages.take(measured.near[row, rows], "id")
            for column, id_ in zip(rows.tolist(), passages, strict=True):
                true, false = logits[row, column].tolist()
                file.write(f"{query}\t{id_}\t{true:.6f}\t{false:.6f}\t{scores[row, column]:.6f}\n")


def _artifacts(run: Run, test: Measured) -> list[Artifact]:
    """Return the best re-ranker, and the best one that writes queries as a generator."""
    measure = run.config.measures[0]
    artifacts = [_artifact(run, "reranker", "Re-ranker", best_of(test.trained, measure), measure)]
    if gain := read_all_pairs(run).get("gain"):
        ap = gain["average_precision"]
        words = f"{ap['value']:+.3f} ({ap['low']:+.3f} to {ap['high']:+.3f})"
        artifacts[0].figures["gain of AP over all pairs on the bi-encoder"] = words
    writers = [result for result in test.trained if result.training.variant.second in ("p2q", "p2q-swap")]
    if writers:
        artifacts.append(_artifact(run, "generator", "Generator of queries", best_of(writers, measure), measure))
    return artifacts


def _artifact(run: Run, kind: str, title: str, best: Trained, measure: str) -> Artifact:
    training = best.training
    figures = {
        "backbone": training.variant.backbone,
        "learned": training.variant.title,
        "seed": training.seed,
        f"{measure} on the test, best seed": float(best.figures[measure].mean()),
    }
    if kind == "reranker" and run.config.model.int8 and default_device() == "cpu":
        figures["read in"] = "int8"
    if kind == "generator":
        figures["reads"] = VIEWS[str(training.variant.second)].source
    elif best.fused is not None:
        figures[f"{measure} on the test, joined with cosine and BM25"] = float(best.fused[measure].mean())
    path = training.within(run.of("trainings")) / MODEL
    assert (path / READS).is_file()  # each variant keeps its best seed's model
    return Artifact(kind, title, str(path.relative_to(run.folder)), figures)

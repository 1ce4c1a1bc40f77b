"""The tables: the paper's Tables 1 and 3 with ours beside them, all variants, single view against multi view."""

import json
from collections.abc import Sequence
from statistics import stdev
from typing import Any

import numpy as np

from allpairs.learner.pipelines.multiview.all_pairs import FIGURES, FILE
from allpairs.learner.pipelines.multiview.figures import Measured, best_of, main_variants, single_of
from allpairs.learner.pipelines.multiview.inputs import REST
from allpairs.learner.pipelines.multiview.paper import BASELINES, TABLE1, TABLE3
from allpairs.learner.pipelines.multiview.ranking import Paired, improvement, paired
from allpairs.learner.pipelines.multiview.variants import Variant, variants_of
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.means import Mean
from allpairs.learner.reports.tables import NONE, grid, mean_cells, number, relative, written

STAGES = {"bm25": "BM25", "dense": "dense", "matcher": "the project's matcher", "run": "first stage (run)"}
PRINTED = {"average_precision": "AP", "precision_at_recall_20": "P@R20"}
LEVEL = 0.05  # p below which the paper prints a figure in bold
Rows = list[dict[str, Any]]


def stage_title(run: Run, kind: str) -> str:
    """Return the first stage in words."""
    return f"dense ({run.config.first_stage.encoder})" if kind == "dense" else STAGES[kind]


def write_main(report: Report, run: Run, measured: Sequence[Measured]) -> None:
    """Report Table 1: first stages, single and multi view, the best seed and that model on the rest."""
    measure = run.config.measures[0]
    names = [entry.test.name for entry in measured]
    rows: Rows = [
        {
            "source": "ours",
            "row": stage_title(run, kind),
            "seeds": 0,
            "test": float(figures[measure].mean()),
            **(
                {"rest": float(measured[1].stages[kind][measure].mean())}
                if REST in names and kind in measured[1].stages
                else {}
            ),
        }
        for kind, figures in measured[0].stages.items()
    ]
    for variant in main_variants(run):
        best = best_of(measured[0].of(variant), measure)
        mean = measured[0].mean(variant, measure)
        row = {
            "source": "ours",
            "row": f"{variant.backbone}, {variant.title}",
            "seeds": len(measured[0].of(variant)),
            "test": float(best.figures[measure].mean()),
            "test_mean": mean.value,
            "test_low": mean.low,
            "test_high": mean.high,
        }
        if REST in names:
            matching = next(entry for entry in measured[1].of(variant) if entry.training == best.training)
            rest = measured[1].mean(variant, measure)
            row |= {"rest": float(matching.figures[measure].mean()), "rest_mean": rest.value}
        rows.append(row)
    rows += [
        {"source": "paper", "row": name, "seeds": 0, "test": dev, "rest": rest}
        for name, (dev, rest) in BASELINES.items()
    ]
    rows += [
        {
            "source": "paper",
            "row": f"BM25 + {entry.backbone}, {'multi' if entry.multi else 'single'} view",
            "seeds": 10,
            "test": entry.dev,
            "rest": entry.rest,
        }
        for entry in TABLE1
    ]
    columns = ("source", "row", "seeds", "test", "test_mean", "test_low", "test_high", "rest", "rest_mean")
    rows = [{name: row.get(name) for name in columns} for row in rows]
    header = [f"{measure}", "best seed, test", "mean, test", "that seed, rest", "mean, rest"]
    body = [
        [
            f"{'paper: ' if row['source'] == 'paper' else ''}{row['row']}",
            number(row["test"], False),
            _mean(row["test_mean"], row["test_low"]),
            number(row["rest"], False),
            number(row["rest_mean"], False),
        ]
        for row in rows
    ]
    title = "Table 1: first stages, single view, multi view"
    report.text("The paper's figures are MRR@10 on MS MARCO's passages: Dev as the test, Dev-Rest as the rest.")
    report.table("table1", title, rows, grid(header, body))


def _mean(value: float | None, low: float | None) -> str:
    return NONE if value is None else written(Mean(value, low), False)


def write_variants(report: Report, run: Run, measured: Sequence[Measured]) -> None:
    """Report every measure of every first stage and variant, on every test."""
    measures = run.config.measures
    for test in measured:
        rows: Rows = []
        body = []
        for kind, figures in test.stages.items():
            means = [Mean(float(figures[name].mean())) for name in measures]
            rows.append(_row(stage_title(run, kind), 0, dict(zip(measures, means, strict=True))))
            body.append([stage_title(run, kind), *(written(mean, False) for mean in means)])
        for variant in variants_of(run.config):
            by_measure = {name: test.mean(variant, name) for name in measures}
            rows.append(_row(_title(run, variant), len(test.of(variant)), by_measure))
            body.append([_title(run, variant), *(written(mean, False) for mean in by_measure.values())])
        title = f"All variants, {test.test.name}, {len(test.test.queries):,} queries"
        report.table(f"variants-{test.test.name}", title, rows, grid(["", *measures], body))


def _row(name: str, seeds: int, means: dict[str, Mean]) -> dict[str, Any]:
    cells = {key: value for measure, mean in means.items() for key, value in mean_cells(measure, mean).items()}
    return {"row": name, "seeds": seeds, **cells}


def _title(run: Run, variant: Variant) -> str:
    return f"{variant.backbone}, {variant.title}" if run.config.sizes else variant.title


def write_comparisons(report: Report, run: Run, measured: Sequence[Measured]) -> None:
    """Report every multi view against its single view, and each single view against the first stages."""
    measure = run.config.measures[0]
    variants = variants_of(run.config)
    rows: Rows = []
    for test in measured:
        for variant in variants:
            values = test.by_query(variant, measure)
            if variant.single:
                for kind, figures in test.stages.items():
                    comparison = paired(figures[measure], values)
                    rows.append(
                        _compared(
                            test,
                            run,
                            variant,
                            stage_title(run, kind),
                            "mean of seeds",
                            comparison,
                            float(figures[measure].mean()),
                        )
                    )
                continue
            single = single_of(variants, variant)
            base = test.by_query(single, measure)
            rows.append(
                _compared(
                    test, run, variant, _title(run, single), "mean of seeds", paired(base, values), float(base.mean())
                )
            )
            bests = [best_of(measured[0].of(view), measure).training for view in (single, variant)]
            pair = [next(x for x in test.trained if x.training == best).figures[measure] for best in bests]
            rows.append(
                _compared(test, run, variant, _title(run, single), "best seeds", paired(*pair), float(pair[0].mean()))
            )
    body = [
        [
            f"{row['test']}: {row['row']} against {row['against']}, {row['of']}",
            f"{row['difference']:+.4f}",
            relative(row["improvement"]),
            f"{row['t']:.2f}",
            _p(row["p"]),
        ]
        for row in rows
    ]
    header = ["", "difference", "relative", "t", "p"]
    report.table("comparisons", f"Differences of {measure}, paired by query (* p ≤ {LEVEL})", rows, grid(header, body))


def _p(p: float) -> str:
    return ("< 0.001" if p < 0.001 else f"{p:.3f}") + (" *" if p <= LEVEL else "")


def _compared(
    test: Measured, run: Run, variant: Variant, against: str, averaged: str, comparison: Paired, base: float
) -> dict[str, Any]:
    return {
        "test": test.test.name,
        "row": _title(run, variant),
        "against": against,
        "of": averaged,
        "difference": comparison.difference,
        "improvement": improvement(base + comparison.difference, base),
        "t": comparison.t,
        "p": comparison.p,
    }


def write_fusion(report: Report, run: Run, test: Measured) -> None:
    """Report each variant alone and joined with the first stage's scores, against those scores and the cosine."""
    if test.without is None or test.fitting is None:
        return
    measure = run.config.measures[0]
    first = test.without[measure]
    dense = test.stages.get("dense", test.without)[measure]
    rows = [_joined("cosine and BM25", None, first, first, dense)]
    for variant in variants_of(run.config):
        joined = [trained.fused[measure] for trained in test.of(variant) if trained.fused is not None]
        if joined:
            mean = float(test.by_query(variant, measure).mean())
            rows.append(_joined(_title(run, variant), mean, np.mean(joined, axis=0), first, dense))
    body = [
        [
            row["row"],
            number(row["alone"], False),
            number(row["joined"], False),
            *(f"{row[on]:+.4f} (p {_p(row[p])})" for on, p in (("on_first", "p_first"), ("on_dense", "p_dense"))),
        ]
        for row in rows
    ]
    report.text(
        f"Joined: cosine, BM25 and the re-ranker's score, by a logistic regression on {len(test.fitting.queries):,} "
        "training queries that train nothing else. The artifact scores pairs in this way."
    )
    header = [measure, "alone", "joined", "on cosine and BM25", "on the cosine"]
    title = f"Joined with the first stage's scores, {test.test.name}"
    report.table(f"fusion-{test.test.name}", title, rows, grid(header, body))


def _joined(row: str, mean: float | None, joined: np.ndarray, first: np.ndarray, dense: np.ndarray) -> dict[str, Any]:
    """Return a row of the table. joined, first, dense: the measure of each query (n,)."""
    on_first = paired(first, joined)
    on_dense = paired(dense, joined)
    return {
        "row": row,
        "alone": mean,
        "joined": float(joined.mean()),
        "on_first": on_first.difference,
        "p_first": on_first.p,
        "on_dense": on_dense.difference,
        "p_dense": on_dense.p,
    }


def write_ablations(report: Report, run: Run, test: Measured) -> None:
    """Report Table 3: the views' templates, mean and standard deviation of the seeds."""
    if not run.config.ablations:
        return
    measure = run.config.measures[0]
    backbone = run.config.model.backbone
    rows: Rows = []
    for variant in variants_of(run.config):
        if variant.backbone != backbone or variant.views not in TABLE3 or variant.rate not in (0.0, run.config.rate):
            continue
        values = [float(result.figures[measure].mean()) for result in test.of(variant)]
        mean, sd = TABLE3[variant.views]
        rows.append(
            {
                "views": variant.views,
                "seeds": len(values),
                "mean": sum(values) / len(values),
                "sd": stdev(values) if len(values) > 1 else None,
                "paper_mean": mean,
                "paper_sd": sd,
            }
        )
    body = [
        [row["views"], _with_sd(row["mean"], row["sd"]), _with_sd(row["paper_mean"], row["paper_sd"])] for row in rows
    ]
    report.table(
        "table3",
        f"Table 3: templates, rate {run.config.rate:g} ({measure}, ± standard deviation of seeds)",
        rows,
        grid(["views", "ours", "paper (T5-large, Dev)"], body),
    )


def read_all_pairs(run: Run) -> dict[str, Any]:
    """Return the results of the stage that measures over all pairs; empty if it measured nothing."""
    figures: dict[str, Any] = json.loads((run.of("all-pairs") / FILE).read_text(encoding="utf-8"))
    return figures


def write_all_pairs(report: Report, run: Run) -> None:
    """Report the best re-ranker and the bi-encoder over all pairs of test texts."""
    figures = read_all_pairs(run)
    if not figures:
        return
    rows = [
        {"model": model, "figure": figure, **figures[model][figure]}
        for model in ("bi-encoder", "re-ranker", "gain")
        for figure in FIGURES
    ]
    body = [
        [
            f"{row['model']}, {PRINTED[row['figure']]}",
            *(number(row[name], False) for name in ("value", "low", "high")),
            row["method"] if row["model"] != "gain" else NONE,
        ]
        for row in rows
    ]
    report.text(
        f"The best re-ranker reads {figures['read']:,} of all {figures['pairs']:,} pairs of test texts "
        f"({figures['positives']:,} right ones), sampled from strata of the cosine. The bi-encoder is "
        f"{figures['compared']}, measured on all of them. The re-ranker was chosen on the same test set, as the best "
        "of all variants and seeds, so its figures and the gain are optimistic."
    )
    header = ["", "value", "low", "high", "method"]
    report.table("all-pairs", "Over all pairs", rows, grid(header, body))


def _with_sd(mean: float, sd: float | None) -> str:
    return f"{mean:.3f}" + ("" if sd is None else f" ± {sd:.3f}")

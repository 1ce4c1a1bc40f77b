"""The paper's Tables 4 to 6, its own figures beside ours."""

from collections.abc import Sequence
from typing import Any

from allpairs.learner.pipelines.backtraining import paper
from allpairs.learner.pipelines.backtraining.best import SOURCE_ONLY
from allpairs.learner.pipelines.backtraining.lists import BACK, SELF
from allpairs.learner.pipelines.backtraining.records import IterationRecord, mean_over_seeds, records_at
from allpairs.learner.pipelines.backtraining.source import GENERATOR, RETRIEVER
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.means import Mean
from allpairs.learner.reports.tables import NONE, grid, mean_cells

OVER_SEEDS = "Percent; means over seeds, ± half of Student's 95% interval (none for one seed)."
FILTERED = [f"{scheme}{filtering}" for filtering in ("", "-self", "-cross", "-both") for scheme in (SELF, BACK)]


def percent(mean: Mean | None) -> str:
    """Return a share's mean in percent, with half of its interval's width if it has one."""
    if mean is None:
        return NONE
    return f"{100 * mean.value:.2f}" + ("" if mean.low is None else f" ± {100 * (mean.value - mean.low):.2f}")


def _figures(records: Sequence[IterationRecord], names: Sequence[str]) -> dict[str, Mean | None]:
    return {name: mean_over_seeds(records, lambda record, name=name: record.test[name]) for name in names}  # type: ignore[misc]


def _row(
    records: Sequence[IterationRecord], names: Sequence[str], printed: dict[str, float], **labels: Any
) -> dict[str, Any]:
    """Return a table row: means and intervals from 0 to 1 of these names, the paper's in percent."""
    cells = {
        key: value for name, mean in _figures(records, names).items() for key, value in mean_cells(name, mean).items()
    }
    return {**labels, "seeds": len(records), **cells, **{f"{name}_paper": printed.get(name) for name in names}}


def table4(report: Report, run: Run, records: Sequence[IterationRecord]) -> None:
    """Report Table 4: the source models, and every variant after its first iteration."""
    variants = dict.fromkeys([SOURCE_ONLY, *run.config.variants])
    report.text(OVER_SEEDS + " " + paper.GAINS_NOTE)
    parts = [
        ("table4-generation", "Table 4: question generation, first iteration", paper.GENERATION),
        ("table4-retrieval", "Table 4: retrieval, by gold text, first iteration", paper.RETRIEVAL),
    ]
    if run.config.measuring.by_position:
        strict = tuple(f"strict_{name}" for name in paper.RETRIEVAL)
        parts.append(("table4-by-position", "Retrieval by position: copies of the passage count separately", strict))
    for name, title, measures in parts:
        rows = []
        body = []
        for variant in variants:
            runs = records_at(records, variant, int(variant != SOURCE_ONLY))
            printed = paper.TABLE4.get(variant, {})
            rows.append(_row(runs, measures, printed, variant=variant))
            body.append([variant, *(percent(mean) for mean in _figures(runs, measures).values())])
            if printed.keys() & set(measures):
                body.append(["– paper", *(f"{printed[measure]:.2f}" for measure in measures)])
        header = ["", *(paper.TITLES[measure.removeprefix("strict_")] for measure in measures)]
        report.table(name, title, rows, grid(header, body))


def table5(report: Report, records: Sequence[IterationRecord]) -> None:
    """Report Table 5: BLEU-1 and R@40 by filter, with the pairs left by each, if there are such variants."""
    reached = {record.variant for record in records if record.iteration == 1}
    variants = [name for name in FILTERED if name in reached]
    if not variants:
        return
    rows = []
    body = []
    for variant in variants:
        runs = records_at(records, variant, 1)
        printed = paper.TABLE5.get(variant)
        named = dict(zip(("bleu_1", "accuracy_at_40"), printed, strict=True)) if printed else {}
        counts = {}
        for kind in (GENERATOR, RETRIEVER):
            counts[kind] = mean_over_seeds(runs, lambda record, kind=kind: record.log(kind)["pairs"])  # type: ignore[misc]
        pairs = {f"{kind}_pairs": mean.value if mean else None for kind, mean in counts.items()}
        rows.append(_row(runs, ("bleu_1", "accuracy_at_40"), named, variant=variant, **pairs))
        cells = [f"{mean.value:,.0f}" if mean else NONE for mean in counts.values()]
        for name, mean in _figures(runs, ("bleu_1", "accuracy_at_40")).items():
            cells += [percent(mean), f"{named[name]:.2f}" if named else "pending"]
        body.append([variant, *cells])
    header = ["", "generator pairs", "retriever pairs", "BLEU-1", "paper", "R@40", "paper"]
    report.table("table5", "Table 5: filters, first iteration", rows, grid(header, body))


def table6(report: Report, records: Sequence[IterationRecord]) -> None:
    """Report Table 6: BLEU-1 and R@40 by iteration, if there are several."""
    reached = sorted({(record.iteration, record.variant) for record in records if record.iteration})
    if not any(iteration > 1 for iteration, _ in reached):
        return
    rows = []
    body = []
    for variant in dict.fromkeys(name for _, name in reached):
        for iteration in sorted({number for number, name in reached if name == variant}):
            runs = records_at(records, variant, iteration)
            printed = paper.TABLE6.get(variant, {}).get(iteration)
            named = dict(zip(("bleu_1", "accuracy_at_40"), printed, strict=True)) if printed else {}
            rows.append(_row(runs, ("bleu_1", "accuracy_at_40"), named, variant=variant, iteration=iteration))
            cells = [f"{len(runs)}"]
            for name, mean in _figures(runs, ("bleu_1", "accuracy_at_40")).items():
                cells += [percent(mean), f"{named[name]:.2f}" if named else NONE]
            body.append([f"{variant}, T = {iteration}", *cells])
    report.text(paper.ITERATIONS_NOTE)
    report.table("table6", "Table 6: iterations", rows, grid(["", "seeds", "BLEU-1", "paper", "R@40", "paper"], body))

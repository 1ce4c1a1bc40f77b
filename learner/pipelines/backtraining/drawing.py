"""The paper's Figures 1 and 3 to 6."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from allpairs.learner.pipelines.backtraining import paper
from allpairs.learner.pipelines.backtraining.best import SOURCE_ONLY
from allpairs.learner.pipelines.backtraining.lists import BACK, SELF, learned
from allpairs.learner.pipelines.backtraining.making import GENERATED, RETRIEVED, read_list
from allpairs.learner.pipelines.backtraining.records import IterationRecord, records_at, records_of
from allpairs.learner.pipelines.backtraining.source import GENERATOR, MEASURED, SOURCE, SOURCE_FIGURES, seeds_of
from allpairs.learner.pipelines.backtraining.texts import Data
from allpairs.learner.pipelines.backtraining.types import Tagger, confusion
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.charts import COLOURS, HEIGHT, Plot
from allpairs.learner.reports.means import mean_of

BINS = 30
MEASURES = ("bleu_1", "rouge_l", "accuracy_at_1", "accuracy_at_20")  # of Figure 1


def source_and_target(report: Report, run: Run) -> None:
    """Report Figure 1, if there are source test pairs: the source models on either domain."""
    paths = [run.of(SOURCE) / f"seed-{seed}" / MEASURED / SOURCE_FIGURES for seed in seeds_of(run)]
    if not all(path.exists() for path in paths):
        return
    source = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    target = [record.test for record in records_at(records_of(run), SOURCE_ONLY, 0)]
    rows: list[dict[str, Any]] = []
    for name in MEASURES:
        for domain, figures in (("source", source), ("target", target)):
            mean = mean_of([100 * record[name] for record in figures])
            rows.append(
                {
                    "measure": paper.TITLES[name],
                    "domain": domain,
                    "value": mean.value,
                    "low": mean.low,
                    "high": mean.high,
                }
            )
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("measure:N", title=None, sort=[paper.TITLES[name] for name in MEASURES], axis=alt.Axis(labelAngle=0)),
        xOffset="domain:N",
    )
    bars = base.mark_bar().encode(y=alt.Y("value:Q", title="Percent"), color=_colour("domain", ["source", "target"]))
    ends = [] if rows[0]["low"] is None else [base.mark_rule().encode(y="low:Q", y2="high:Q")]
    summary = "; ".join(f"{row['measure']} {row['domain']} {row['value']:.1f}" for row in rows)
    title = "Figure 1: the source models on their own domain and on the target's"
    report.figure("figure1", title, rows, [(f"{title}. {summary}.", alt.layer(bars, *ends).properties(height=HEIGHT))])


def perplexities(report: Report, records: Sequence[IterationRecord]) -> None:
    """Report Figure 3: perplexity on the generator's training pairs and on test pairs, during training."""
    rows = [
        {"variant": record.variant, "seed": record.seed, **point}
        for variant in (SELF, BACK)
        for record in records_at(records, variant, 1)
        for point in record.log(GENERATOR)["trace"]
    ]
    if not rows:
        return
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("train:Q", title="Perplexity of the step's pairs, before it", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y("test:Q", title="Perplexity of test pairs, after it", scale=alt.Scale(type="log", nice=False)),
        color=_colour("variant", [SELF, BACK]),
        detail="seed:N",
        tooltip=["variant", "seed", "step", "train", "test"],
    )
    chart = alt.layer(base.mark_line(opacity=0.5).encode(order="step:Q"), base.mark_point(filled=True))
    ends = {(row["variant"], row["seed"]): row for row in rows}.values()
    summary = "; ".join(
        f"{row['variant']}, seed {row['seed']}, ends at {row['train']:.1f} and {row['test']:.1f}" for row in ends
    )
    title = "Figure 3: perplexity during the generator's training"
    report.figure(
        "figure3", title, rows, [(f"{title}, from right to left. {summary}.", chart.properties(height=HEIGHT))]
    )


def distributions(report: Report, records: Sequence[IterationRecord]) -> None:
    """Report Figures 4 and 5: how the first seed's source models score each scheme's training pairs."""
    first = next(
        (record for record in records if record.lists and record.lists.is_dir() and record.iteration == 1), None
    )
    if first is None or first.lists is None:
        return
    lists = {name: read_list(first.lists, name).judged for name in (RETRIEVED, GENERATED)}
    of_generator = {scheme: -lists[GENERATED if learned(scheme)[0] else RETRIEVED].nll for scheme in (SELF, BACK)}
    of_retriever = {scheme: lists[GENERATED if learned(scheme)[1] else RETRIEVED].score for scheme in (SELF, BACK)}
    _histogram(report, "figure4", "Figure 4: the retriever's scores of its pairs", "Score", of_retriever)
    _histogram(
        report,
        "figure5",
        "Figure 5: log-likelihoods of the generator's pairs",
        "Mean log-likelihood of a token",
        of_generator,
    )


def _histogram(report: Report, file: str, title: str, axis: str, values: dict[str, np.ndarray]) -> None:
    together = np.concatenate(list(values.values()))
    edges = np.linspace(together.min(), together.max() + 1e-6, BINS + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    rows = []
    for scheme, scores in values.items():
        shares = np.histogram(scores, edges)[0] / len(scores)
        rows += [{"scheme": scheme, "value": float(x), "share": float(y)} for x, y in zip(middles, shares, strict=True)]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("value:Q", title=axis),
        y=alt.Y("share:Q", title="Share of the pairs", stack=None),
        color=_colour("scheme", list(values)),
        tooltip=["scheme", "value", "share"],
    )
    chart = alt.layer(base.mark_area(opacity=0.3, interpolate="step"), base.mark_line(interpolate="step"))
    summary = "; ".join(
        f"{scheme}: mean {scores.mean():.3f}, standard deviation {scores.std():.3f}"
        for scheme, scores in values.items()
    )
    report.figure(file, title, rows, [(f"{title}. {summary}.", chart.properties(height=HEIGHT))])
    report.text(f"{summary}.")


def confusions(
    report: Report, data: Data, records: Sequence[IterationRecord], tagger: Tagger, names: Sequence[str]
) -> None:
    """Report Figure 6: types of known questions and of those generated for their passages, for the first seed.

    The paper's is of back-training with self-consistency, its best model.
    """
    variants = (SOURCE_ONLY, SELF, BACK, f"{BACK}-self", f"{BACK}-cross")
    chosen = [record for record in records if record.seed == records[0].seed and record.variant in variants]
    actual = tagger([record.question for record in data.test])
    panels: list[tuple[str, Plot]] = []
    rows: list[dict[str, Any]] = []
    for record in (record for record in chosen if record.iteration <= 1):
        written = tagger(record.written)
        kinds = list(names) or sorted({*actual, *written})
        counts = confusion(actual, written, kinds)
        shares = counts / np.maximum(1, counts.sum(1, keepdims=True))
        part = [
            {
                "variant": record.variant,
                "actual": kinds[i],
                "generated": kinds[j],
                "n": int(counts[i, j]),
                "share": float(shares[i, j]),
            }
            for i in range(len(kinds))
            for j in range(len(kinds))
        ]
        rows += part
        same = float(np.trace(counts) / max(1, counts.sum()))
        panels.append(
            (
                f"{record.variant}: {same:.0%} of the generated questions have the type of the known one.",
                _heat(part, kinds, record.variant),
            )
        )
    report.figure("figure6", "Figure 6: types of known questions (rows) and of generated ones", rows, panels)


def _heat(rows: list[dict[str, Any]], kinds: Sequence[str], title: str) -> Plot:
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("generated:N", title="Generated", sort=list(kinds), axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("actual:N", title="Known", sort=list(kinds)),
    )
    scale = alt.Scale(domain=[0, 1], range=["#f3f6fa", COLOURS[0]])
    cells = base.mark_rect().encode(color=alt.Color("share:Q", title="Share of the row", scale=scale, legend=None))
    nonzero = base.transform_filter("datum.n > 0")
    numbers = nonzero.mark_text(color="#111", fontSize=10).encode(text=alt.Text("share:Q", format=".2f"))
    return alt.layer(cells, numbers).properties(height=HEIGHT, title=title)


def _colour(field: str, names: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
    return alt.Color(f"{field}:N", title=None, scale=scale, legend=alt.Legend(orient="bottom"))

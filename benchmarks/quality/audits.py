"""Compare the audit's estimators with uniform sampling, the paper's two strata, Horvitz–Thompson, OASIS, activeeval.

    python -m benchmarks.quality.audits [--repeats 200] [--pools A,B,…,wikiqa,wikiqa_weak,…] [--budgets 300,1000,3000]
    python -m benchmarks.quality.audits --keep        # and keep the first table for the documents, in docs/audits.json
    python -m benchmarks.quality.audits --raters      # ours with and without machine raters that have read pairs

Simulated pools of 100 million pairs, and the ranks of real positives under the bundled encoder (hidden gold; the files
are made by `python -m benchmarks.data.datasets`). Every method spends the same labels. Prints a table of bias, root
mean squared error, and the coverage and width of 95 % intervals; docs/estimators.md discusses it.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.data.pools import FIGURES, SHAPES, Pool, simulated
from benchmarks.data.real_pools import NAMES, real
from benchmarks.quality.audit_figures import keep
from benchmarks.quality.audit_methods import METHODS, RATERS

TITLES = ("AP", "F1", "P@R20", "recall", "positives")  # of FIGURES; positives as a share of the true ones
PARTS = 4  # parts of a method's repetitions on one pool, shared among the processes


@dataclass(frozen=True)
class Result:
    """A method's answers on a pool. answers: (repeats, budgets, 5, 3): figure by value, low, high."""

    pool: Pool
    method: str
    answers: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """Return the values' errors against the truth over all pairs: (repeats, budgets, 5)."""
        return (self.answers[..., 0] - self.pool.truth()) / self.scale

    @property
    def scale(self) -> np.ndarray:
        """Return what errors and widths are divided by, (5,): the true number for positives, 1 for the others."""
        return np.array([len(self.pool.positives) if name == "positives" else 1.0 for name in FIGURES])

    @property
    def rmse(self) -> np.ndarray:
        """Return the root mean squared errors, (budgets, 5)."""
        return np.sqrt((self.errors**2).mean(0))

    def covered(self, truth: np.ndarray) -> np.ndarray:
        """Return the share of the intervals that contain the truth (5,), (budgets, 5)."""
        return ((self.answers[..., 1] <= truth) & (truth <= self.answers[..., 2])).mean(0)


def run(pool: Pool, method: str, budgets: Sequence[int], repeats: range) -> np.ndarray:
    """Return the answers of those repetitions, (repeats, budgets, 5, 3)."""
    every = METHODS | RATERS
    seed = list(every).index(method)
    return np.array([every[method](pool, budgets, np.random.default_rng([seed, repeat])) for repeat in repeats])


def rows(results: Sequence[Result], budgets: Sequence[int]) -> list[str]:
    """Return the table's lines in Markdown."""
    figures = [f"{title}: {what}" for title in TITLES for what in ("bias, RMSE", "covered, width")]
    head = ["pool", "labels", "method", "none seen", *figures]
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for at, budget in enumerate(budgets):
        for result in results:
            cells = [result.pool.name, f"{budget:,}", result.method, *_cells(result, at)]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cells(result: Result, at: int) -> list[str]:
    width = (result.answers[..., 2] - result.answers[..., 1]).mean(0)[at] / result.scale
    covered = result.covered(result.pool.truth())[at]
    cells = [f"{(result.answers[:, at, 0, 0] == 0).mean():.2f}"]
    for figure in range(len(FIGURES)):
        cells.append(f"{result.errors.mean(0)[at, figure]:+.3f}, {result.rmse[at, figure]:.3f}")
        has_interval = not np.isnan(width[figure])
        cells.append(f"{covered[figure]:.2f}, {width[figure]:.3f}" if has_interval else "–")
    return cells


def verdict(results: Sequence[Result], budgets: Sequence[int]) -> list[str]:
    """Return our errors for each budget beside the best of the others, and what our intervals hold, in Markdown."""
    head = ["pool", "labels", "AP: bias", "RMSE", "best other", "width", "F1: RMSE", "best other"]
    head += [f"covered: {TITLES[0]}", *TITLES[1:]]
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    ours, *others = results
    covered = ours.covered(ours.pool.truth())
    for at, budget in enumerate(budgets):
        width = (ours.answers[:, at, 0, 2] - ours.answers[:, at, 0, 1]).mean()
        cells = [ours.pool.name, f"{budget:,}", f"{ours.errors[:, at, 0].mean():+.3f}", *_best(ours, others, at, 0)]
        cells += [f"{width:.3f}", *_best(ours, others, at, 1), *(f"{share:.2f}" for share in covered[at])]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _best(ours: Result, others: Sequence[Result], at: int, figure: int) -> list[str]:
    """Return our error of a figure, bold if it is the smallest, and the smallest of the others with its method."""
    own = ours.rmse[at, figure]
    error, method = min((other.rmse[at, figure], other.method) for other in others)
    return [f"**{own:.3f}**" if own <= error else f"{own:.3f}", f"{error:.3f} ({method})"]


def with_raters(results: Sequence[Result], budgets: Sequence[int]) -> list[str]:
    """Return AP of ours, first without and then with each rater, in Markdown, and the labels that the rater saves.

    Those are the share of the labels that ours alone needs more for intervals as wide, by log-linear interpolation; a
    minus says that it needs fewer.
    """
    head = ["pool", "labels", "rater", "AP: bias", "RMSE", "covered", "width", "labels saved", "other figures covered"]
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    alone = _widths(results[0])
    for at, budget in enumerate(budgets):
        for result in results:
            covered = result.covered(result.pool.truth())[at]
            width = _widths(result)
            saved = "" if result is results[0] else _saved(alone, width, budgets, at)
            name = result.method.removeprefix("rater ") if saved else "none"
            cells = [f"{result.errors.mean(0)[at, 0]:+.3f}", f"{result.rmse[at, 0]:.3f}", f"{covered[0]:.2f}"]
            cells += [f"{width[at]:.3f}", saved, f"{covered[1:].mean():.2f}"]
            lines.append(f"| {' | '.join([result.pool.name, f'{budget:,}', name, *cells])} |")
    return lines


def _widths(result: Result) -> np.ndarray:
    """Return the mean widths of AP's intervals, (budgets,)."""
    return np.asarray((result.answers[:, :, 0, 2] - result.answers[:, :, 0, 1]).mean(0))


def _saved(alone: np.ndarray, width: np.ndarray, budgets: Sequence[int], at: int) -> str:
    """Return the share of labels saved: those of the budget against those with which ours alone is as wide."""
    if width[at] < alone.min():
        return f"more than {1 - budgets[at] / budgets[-1]:.0%}"
    if width[at] > alone.max():
        return "less than 0%"
    falling = np.minimum.accumulate(alone)
    as_wide = np.exp(np.interp(-width[at], -falling, np.log(budgets)))
    return f"{1 - budgets[at] / as_wide:.0%}"


def main() -> None:
    """Print the table, and write it to a file if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--pools", default=",".join([*SHAPES, *NAMES]))
    parser.add_argument("--budgets", default="300,1000,3000")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, default=Path("out/data"), help="the files of benchmarks.data.datasets")
    parser.add_argument("--raters", action="store_true", help="compare ours with and without machine raters")
    parser.add_argument("--keep", action="store_true", help="keep the figures for the documents")
    parser.add_argument("--out", type=Path, help="a file for the table")
    options = parser.parse_args()
    budgets = [int(budget) for budget in options.budgets.split(",")]
    pools = [
        simulated(name) if name in SHAPES else real(name, options.data, Path("out/pools"))
        for name in options.pools.split(",")
    ]
    methods, short_table = (["ours", *RATERS], with_raters) if options.raters else (list(METHODS), verdict)
    table: list[str] = []
    summary: list[str] = []
    with ProcessPoolExecutor(options.jobs) as workers:
        for pool in pools:
            start = perf_counter()
            results = [
                Result(pool, method, _share(workers, pool, method, budgets, options.repeats)) for method in methods
            ]
            lines = rows(results, budgets)
            short = short_table(results, budgets)
            table += lines if not table else lines[2:]
            summary += short if not summary else short[2:]
            print("\n".join([*short, "", *lines, "", f"{perf_counter() - start:.0f} s"]), file=sys.stderr, flush=True)
    text = "\n".join([*summary, "", *table])
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    if options.keep and not options.raters:
        keep(summary, options.repeats)


def _share(workers: ProcessPoolExecutor, pool: Pool, method: str, budgets: Sequence[int], repeats: int) -> np.ndarray:
    """Compute the answers of all repetitions in parts, and return them."""
    parts = [range(part, repeats, PARTS) for part in range(min(PARTS, repeats))]
    futures = [workers.submit(run, pool, method, budgets, part) for part in parts]
    return np.concatenate([future.result() for future in futures])


if __name__ == "__main__":
    main()

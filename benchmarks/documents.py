"""The documents whose figures are made from kept ones, each as it must be: `python -m benchmarks public` writes them.

To add one, put the marks of benchmarks/table.py around its figures, and add a line to `between`.
"""

from pathlib import Path

from benchmarks.public import page, plot, readme
from benchmarks.public.runs import KEPT, read_history, read_runs
from benchmarks.public.summary import Summary
from benchmarks.public.work import WORK
from benchmarks.quality import audit_figures
from benchmarks.scale import scale
from benchmarks.table import BENCHMARKS, ROOT, rewrite, stored, table

COMMAND = "python -m benchmarks public"


def texts() -> dict[str, str]:
    """Return the text of each document, by its path."""
    between = {
        "README.md": readme.figures(),
        "docs/benchmarks.md": table(stored(), tuple(BENCHMARKS)),
        "docs/estimators.md": audit_figures.figures(),
        "docs/scale.md": scale.figures(scale.stored()),
    }
    found = {name: rewrite((ROOT / name).read_text(encoding="utf-8"), figures) for name, figures in between.items()}
    return found | {"docs/comparison.md": page.page()}


def plots() -> dict[Path, plot.Plot]:
    """Return the plots, by the file of each."""
    summaries = {name: Summary(runs) for name in WORK if (runs := read_runs(name))}
    found = {KEPT / f"{name}.svg": plot.of_labels(summary) for name, summary in summaries.items()}
    found[KEPT / "history.svg"] = plot.of_versions(read_history(), readme.DATA)
    return found | {KEPT / "growth.svg": plot.of_growth(scale.stored())}


def write() -> None:
    """Write all documents and plots."""
    for name, text in texts().items():
        (ROOT / name).write_text(text, encoding="utf-8")
    for path, each in plots().items():
        plot.save(each, path)

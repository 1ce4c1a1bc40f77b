"""The documents show the figures that are kept, and so do their plots."""

from pathlib import Path

import pytest

from benchmarks import documents
from benchmarks.public import readme
from benchmarks.public.catalog import OURS
from benchmarks.public.summary import Summary
from benchmarks.table import ROOT, stored

TEXTS, PLOTS = documents.texts(), documents.plots()
AGAIN = f"does not show the kept figures: run `{documents.COMMAND}` and commit what it changes"


@pytest.mark.parametrize("name", TEXTS)
def test_a_document_shows_the_figures_that_are_kept(name: str) -> None:
    if (ROOT / name).read_text(encoding="utf-8") != TEXTS[name]:
        pytest.fail(f"{name} {AGAIN}")


@pytest.mark.parametrize("path", PLOTS, ids=lambda path: path.name)
def test_a_plot_shows_the_figures_that_are_kept(path: Path) -> None:
    if path.read_text(encoding="utf-8").splitlines(keepends=True)[0] != PLOTS[path].stamp:
        pytest.fail(f"{path.name} {AGAIN}")


def test_readme_names_the_best_tool_even_if_it_is_not_ours() -> None:
    runs = [
        {"peer": peer, "seed": 0, "date": date, "budgets": [{"labels": 64, "average_precision": ap}]}
        for peer, date, ap in ((OURS, "2026-11-25", 0.5), ("splink", "2026-11-27", 0.9), ("dedupe", "2026-11-26", 0.4))
    ]
    _, ours, best, command = readme.quality(Summary(runs), "Small")
    assert (ours, best) == ("0.500 (1 seed)", "Splink: 0.900 (1 seed)") and "2026-11-27" in command


def test_readme_fails_where_a_figure_is_missing() -> None:
    with pytest.raises(ValueError, match="no run"):
        readme.quality(Summary([]), "Small")
    with pytest.raises(KeyError, match="latency"):
        list(readme.speed({name: row for name, row in stored().items() if name != "latency"}))

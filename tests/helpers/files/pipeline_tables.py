"""The tables that a pipeline run reports."""

import json
from typing import Any

from allpairs.learner.pipelines.pipeline import RESULTS, Run


def rows(run: Run, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of the run's results."""
    found: list[dict[str, Any]] = json.loads((run.of(RESULTS) / "tables" / f"{name}.json").read_text())["rows"]
    return found

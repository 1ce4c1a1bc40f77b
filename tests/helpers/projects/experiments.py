"""Finished experiments for tests: runs written directly, reported by the learner's own functions."""

import json
from collections.abc import Sequence
from pathlib import Path

from allpairs.learner.experiment.cell import DONE, ROUNDS
from allpairs.learner.experiment.grid import Grid
from allpairs.learner.experiment.report import write_report
from allpairs.learner.experiment.spec import Cell, Experiment, make_experiment

STRATEGIES = ("uncertainty", "static-retrieval")


def finished_experiment(
    folder: Path, name: str = "Compared", strategies: Sequence[str] = STRATEGIES, reported: bool = True
) -> Experiment:
    """Write an experiment with two seeds, two rounds, finished runs and its report, and return it."""
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "left.csv").write_text("id,text\na,one\nb,two\nc,three\nd,four\n")
    (folder / "data" / "gold.csv").write_text("id1,id2\na,b\nc,d\n")
    definition = {
        "name": name,
        "seeds": [0, 1],
        "rounds": 2,
        "rows": [{"name": strategy, "strategy": strategy} for strategy in strategies],
        "datasets": {"questions": {"left": "data/left.csv", "gold": "data/gold.csv"}},
    }
    experiment = make_experiment(definition, folder)
    for standing in Grid(experiment, folder, ["cpu"]).standings:
        _finish(standing.cell, folder)
    Grid(experiment, folder, ["cpu"])  # its state says now that they are done
    if reported:
        write_report(experiment, folder)
    return experiment


def _finish(cell: Cell, out: Path) -> None:
    folder = out / cell.folder
    folder.mkdir(parents=True)
    base = 0.3 if cell.row == STRATEGIES[0] else 0.2
    rows = [
        {
            "round": number,
            "labels": 20 * number,
            "positives": 5 * number,
            "average_precision": {"value": base + 0.1 * number + 0.01 * cell.seed},
            "precision_at_recall_20": {"value": 0.5},
        }
        for number in (1, 2)
    ]
    (folder / ROUNDS).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / DONE).write_text(json.dumps({"cell": cell.model_dump(mode="json"), "seconds": 1.0}))

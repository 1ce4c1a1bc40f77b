"""The whole grid: cells run side by side, resumed where they stopped, with progress reports."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from multiprocessing import connection
from pathlib import Path
from shutil import rmtree
from typing import Any

import torch

from allpairs.db.domain import batch_size_of
from allpairs.db.files.atomic import atomic_write
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.experiment.cell import is_done, rounds_done
from allpairs.learner.experiment.process import CellRun, CellWork, start_cell
from allpairs.learner.experiment.spec import Cell, Experiment, cells_of
from allpairs.learner.experiment.starting_vectors import FOLDER

STATE = "experiment.json"
LOOK = 0.5  # seconds between two checks of the processes, and two reports


@dataclass
class CellStanding:
    """The state of a cell: waiting, running, done or failed (with the reason)."""

    cell: Cell
    state: str = "waiting"
    error: str | None = None
    run: CellRun | None = None

    def as_dict(self) -> dict[str, Any]:
        cell = self.cell
        return {"dataset": cell.dataset, "row": cell.row, "seed": cell.seed, "state": self.state, "error": self.error}


def run_grid(grid: "Grid", progress: Progress = no_progress) -> None:
    """Run every cell that can be finished.

    `progress` gets the share of the remaining work that is done; it may raise to stop, and then no process stays
    behind.
    """
    try:
        while grid.step():
            progress(*grid.report())
    finally:
        grid.stop()
        if grid.count("done") == len(grid.standings):
            rmtree(grid.out / FOLDER, ignore_errors=True)


class Grid:
    """The cells and the processes that run them, one on each of the devices; `experiment.json` follows every change.

    Finished cells are read from the folder. `left`: how many were unfinished at the start.
    """

    def __init__(self, experiment: Experiment, out: Path, devices: Sequence[str]) -> None:
        self.experiment = experiment
        self.out = out
        self.free = list(devices)
        self.threads = max(1, torch.get_num_threads() // len(devices))
        cells = cells_of(experiment)
        self.standings = [CellStanding(cell, "done" if is_done(cell, out) else "waiting") for cell in cells]
        self.left = len(self.standings) - self.count("done")
        self.out.mkdir(parents=True, exist_ok=True)
        self._store()

    def count(self, state: str) -> int:
        """Return the number of cells in this state."""
        return sum(standing.state == state for standing in self.standings)

    @property
    def failed(self) -> list[CellStanding]:
        return [standing for standing in self.standings if standing.state == "failed"]

    def step(self) -> bool:
        """Record the runs that have ended and start those that can start; return whether any cell is running."""
        before = [standing.state for standing in self.standings]
        self._collect()
        self.start_waiting()
        if [standing.state for standing in self.standings] != before:
            self._store()
        running = self._running()
        if running:
            connection.wait([run.process.sentinel for run in running], LOOK)
        return bool(running)

    def stop(self) -> None:
        """Stop all processes; running cells wait again."""
        for standing in self.standings:
            if standing.run is not None:
                standing.run.stop()
                standing.run = None
                standing.state = "waiting"
        self._store()

    def report(self) -> tuple[str, float]:
        """Return the current work in words, and the share done of what was left at the start, 0 to 1."""
        finished = self.count("done") + self.count("failed") - (len(self.standings) - self.left)
        parts = [standing_share(standing, self.out) for standing in self.standings if standing.run]
        return self._words(), (finished + sum(parts)) / max(1, self.left)

    def _words(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        counted = f"{self.count('done')} of {len(self.standings)} runs done{failed}"
        running = [standing for standing in self.standings if standing.run is not None]
        if not running:
            return counted
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        return f"{counted} · {_stage(running[0], self.out)}{more}"

    def _running(self) -> list[CellRun]:
        return [standing.run for standing in self.standings if standing.run is not None]

    def _collect(self) -> None:
        """Mark runs that have ended as done or failed."""
        for standing in self.standings:
            if standing.run is None:
                continue
            standing.run.listen()
            if standing.run.ended:
                standing.error = standing.run.outcome()
                standing.state = "failed" if standing.error else "done"
                self.free.append(standing.run.work.device)
                standing.run = None

    def start_waiting(self) -> None:
        """Give every free device a cell whose labels exist, if there is one."""
        states = {standing.cell.folder: standing.state for standing in self.standings}
        for standing in self.standings:
            if standing.state != "waiting":
                continue
            needed = standing.cell.source
            state = "done" if needed is None else states[needed.folder]
            if needed is not None and state == "failed":
                standing.state = "failed"
                standing.error = f"it needs {needed.title}, which failed"
                states[standing.cell.folder] = "failed"
            elif state == "done" and self.free:
                standing.run = self._launch(standing.cell)
                standing.state = "running"

    def _launch(self, cell: Cell) -> CellRun:
        files = self.experiment.datasets[cell.dataset]
        return start_cell(CellWork(cell, files, self.out, self.experiment.keep_models, self.free.pop(0), self.threads))

    def _store(self) -> None:
        """Write the state to its file by an atomic write."""
        state = {
            "name": self.experiment.name,
            "definition": self.experiment.model_dump(mode="json"),
            "cells": [standing.as_dict() for standing in self.standings],
            "updated": time.time(),
        }
        with atomic_write(self.out / STATE) as part:
            part.write_text(json.dumps(state, indent=2), encoding="utf-8")


def standing_share(standing: CellStanding, out: Path) -> float:
    """Return the share of a running cell that is done: of an encoder what it says, else from its finished rounds.

    Assumes that half of the cost is the same in every round (encoding, measuring), and half grows with its labels.
    """
    if standing.cell.kind == "encoder":
        return standing.run.share if standing.run else 0.0
    settings = standing.cell.settings
    rounds = standing.cell.rounds
    sizes = [batch_size_of(number, settings.first, settings.growth, settings.growth_kind) for number in range(rounds)]
    labels = list(accumulate(sizes))
    costs = [1 / rounds + spent / sum(labels) for spent in labels]
    return sum(costs[: rounds_done(standing.cell, out)]) / 2


def _stage(standing: CellStanding, out: Path) -> str:
    assert standing.run is not None  # only for a running one
    run = standing.run
    cell = standing.cell
    number = min(rounds_done(cell, out) + 1, cell.rounds)
    round_words = "" if cell.concat or cell.kind == "encoder" else f"round {number} of {cell.rounds}, "
    return f"{cell.title}: {round_words}{run.stage}"

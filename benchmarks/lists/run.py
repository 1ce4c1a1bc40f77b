"""One run: a tool on a messy list with one seed, after all of its numbers of answers, in a process of its own."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ROOT
from benchmarks.lists.catalog import ROWS, ListPeer
from benchmarks.lists.make import messy_list
from benchmarks.lists.measure import pair_figures
from benchmarks.lists.task import ABOUT, RECORDS, read_list_task
from benchmarks.public.environments import python_of
from benchmarks.public.run import ONE_THREAD, place

Run = dict[str, Any]


def run_on_list(peer: ListPeer, name: str, seed: int, out: Path, rows: int = ROWS) -> Run:
    """Let the tool clean the list, and return what is kept of it. Raises CalledProcessError if it fails."""
    folder = out / f"{name}-{rows}-{seed}-{peer.name}"
    write_list_task(folder, peer, name, seed, rows)
    command = [str(python_of(peer.environment, out / "environments")), "-m", f"benchmarks.lists.{peer.module}"]
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    subprocess.run([*command, str(folder)], check=True, env=environment, cwd=ROOT, stdout=sys.stderr)
    task = read_list_task(folder)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for budget in report["budgets"]:
        budget |= pair_figures(np.load(folder / f"groups-{budget['labels']}.npy"), task.truth)
    about = {"list": name, "peer": peer.name, "seed": seed, "rows": rows}
    shown = f"python -m benchmarks clean --run --lists {name} --peers {peer.name} --seeds {seed}"
    return {
        **about,
        "command": shown if rows == ROWS else f"{shown} --rows {rows}",
        "date": str(date.today()),
        "machine": place(gpu=not peer.environment),
        **report,
    }


def write_list_task(folder: Path, peer: ListPeer, name: str, seed: int, rows: int) -> None:
    """Write what the tool is given into the folder."""
    made = messy_list(name, rows, seed)
    made.write(folder / RECORDS, plain=True)
    columns = {column: made.kind.columns[column] for column in made.kind.compared}
    about = {"seed": seed, "id_column": next(iter(made.kind.columns)), "columns": columns, "labels": peer.labels}
    (folder / ABOUT).write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")

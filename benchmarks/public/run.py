"""One run: a peer on a data set with one seed, at all of its budgets, in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import torch

from benchmarks.common import ROOT
from benchmarks.machine import machine
from benchmarks.public.catalog import Peer
from benchmarks.public.environments import python_of
from benchmarks.public.measure import figures, read_scored
from benchmarks.public.work import Data, Part, part_of

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
Run = dict[str, Any]


@dataclass(frozen=True)
class Places:
    """Where the data sets lie, and where environments and scores go."""

    files: Path
    out: Path

    def of(self, data: str, peer: str, seed: int) -> Path:
        """Return the folder of a run."""
        return self.out / data / f"{peer}-{seed}"


def run(peer: Peer, data: Data, seed: int, places: Places) -> Run:
    """Let the peer work, and return what docs/comparison keeps of it.

    A process whose report lies there already is not started again. Raises CalledProcessError if it fails.
    """
    part = part_of(data, seed, places.files)
    folder = places.of(data.name, peer.name, seed)
    if not (folder / "process.json").is_file():
        part.write(folder, places.files, peer.labels)
        used = _process(peer, folder, places)
        (folder / "process.json").write_text(json.dumps(used), encoding="utf-8")
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    command = f"python -m benchmarks public --run --data {data.name} --peers {peer.name} --seeds {seed}"
    about = {"data": data.name, "peer": peer.name, "seed": seed, "command": command}
    used = json.loads((folder / "process.json").read_text(encoding="utf-8"))
    budgets = [row | _figures(part, folder, row["labels"]) for row in report["budgets"]]
    kept = {name: report[name] for name in ("peak_mib", "versions", "settings")}
    return {**about, **used, **kept, "budgets": budgets}


def _process(peer: Peer, folder: Path, places: Places) -> dict[str, Any]:
    """Run the peer's module on the task, and return when and where."""
    python = python_of(peer.environment, places.out / "environments")
    more = [] if peer.environment else ["--files", str(places.files)]
    command = [str(python), "-m", f"benchmarks.public.peers.{peer.module}", str(folder), *more]
    path = os.environ.get("PYTHONPATH", str(ROOT)) if not peer.environment else str(ROOT)
    repeatable = {**os.environ, **ONE_THREAD, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}
    started = subprocess.Popen(command, env=repeatable, cwd=ROOT, stdout=sys.stderr)
    if status := started.wait():
        raise subprocess.CalledProcessError(status, command)
    return {"date": str(date.today()), "machine": place(gpu=not peer.environment)}


def place(gpu: bool) -> str:
    """Return the machine in words; gpu: whether a process could use one."""
    words = f"{machine()}, one thread"
    return f"{words}, {torch.cuda.get_device_name()}" if gpu and torch.cuda.is_available() else words


def _figures(part: Part, folder: Path, labels: int) -> dict[str, float]:
    """Return the figures at one budget; of a peer that blocks, also the average precision if it did not."""
    found = figures(read_scored(folder / f"scores-{labels}.npz", part.dataset), part.dataset)
    every = folder / f"every-{labels}.npz"
    if every.is_file():
        unblocked = figures(read_scored(every, part.dataset), part.dataset)
        found["average_precision_unblocked"] = unblocked["average_precision"]
    return {name: round(value, 4) for name, value in found.items()}

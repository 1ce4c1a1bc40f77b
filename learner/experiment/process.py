"""A cell in a process of its own: its messages, how it ended, and that it never outlives its parent."""

import multiprocessing
import os
import time
import traceback
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path

import torch
from transformers.utils.logging import disable_progress_bar

from allpairs.db.errors import InputError
from allpairs.learner.experiment.cell import run_cell
from allpairs.learner.experiment.spec import Cell, Files
from allpairs.learner.runtime import lifetime
from allpairs.learner.runtime.device import default_device
from allpairs.learner.runtime.training_group import PROCESSES

INTERVAL = 0.2  # seconds between two messages
ERROR = "error.txt"


@dataclass(frozen=True)
class CellWork:
    """The task of a process: a cell, its files, the output folder, and its share of the machine."""

    cell: Cell
    files: Files
    out: Path
    keep_models: bool
    device: str
    threads: int


@dataclass
class CellRun:
    """A running cell: its stage, the share of it that is done and, once it has ended, the error, if any."""

    work: CellWork
    process: multiprocessing.process.BaseProcess
    pipe: connection.Connection
    stage: str = "start"
    share: float = 0.0
    error: str | None = None

    @property
    def ended(self) -> bool:
        return self.process.exitcode is not None

    def listen(self) -> None:
        """Read all messages that the process has sent so far."""
        try:
            while self.pipe.poll():
                kind, content = self.pipe.recv()
                if kind == "failed":
                    self.error = content
                else:
                    self.stage, self.share = content
        except (EOFError, OSError):
            pass  # the process has ended: its exit code says how

    def outcome(self) -> str | None:
        """Return why the ended run failed, or None."""
        self.listen()
        code = self.process.exitcode
        if code and self.error is None:
            ending = f"by signal {-code}, perhaps because memory ran out" if code < 0 else f"with code {code}"
            return f"its process ended {ending}: use fewer workers, fewer neighbours or a larger machine"
        return self.error

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def start_cell(work: CellWork) -> CellRun:
    """Start the cell in a new process."""
    context = multiprocessing.get_context(lifetime.START)
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=do, args=(work, sending), daemon=True)
    process.start()
    sending.close()  # so that the pipe closes with the process
    return CellRun(work, process, receiving)


def checked_devices(devices: list[str], workers: int) -> list[str]:
    """Return one device for each cell that runs at a time: `workers` on each of the devices, else on the default one.

    Raises InputError for a device that does not exist.
    """
    known = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    for device in devices:
        if device not in known:
            raise InputError(f"there is no device {device!r}: choose among {', '.join(known)}")
    return (devices or [default_device()]) * workers


def do(work: CellWork, pipe: connection.Connection) -> None:
    """Do the work in this process, and report to the parent through the pipe."""
    lifetime.end_with_parent()
    disable_progress_bar()
    _use(work.device, work.threads)
    spoken = 0.0

    def tell(stage: str, share: float) -> None:
        nonlocal spoken
        if time.monotonic() - spoken >= INTERVAL:
            spoken = time.monotonic()
            pipe.send(("stage", (stage, share)))

    try:
        run_cell(work.cell, work.files, work.out, work.keep_models, tell)
    except Exception as error:  # every failure of a cell is reported, and the other cells continue
        (work.out / work.cell.folder / ERROR).write_text(traceback.format_exc(), encoding="utf-8")
        pipe.send(("failed", _sentence(error)))


def _use(device: str, threads: int) -> None:
    torch.set_num_threads(threads)
    os.environ[PROCESSES] = "1"  # cells train in parallel, each in one process
    if device.startswith("cuda:"):
        torch.cuda.set_device(device)
    elif device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def _sentence(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    first = (str(error).splitlines() or ["no message"])[0]
    return f"{type(error).__name__}: {first}"

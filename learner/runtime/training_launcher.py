"""Training by several processes of this machine: started, listened to, and ended, however the training ends."""

import pickle
import signal
from collections.abc import Callable, Sequence
from multiprocessing import Pipe, connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import nn
from torch.multiprocessing.spawn import ProcessContext, ProcessException, start_processes

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.learner.runtime import lifetime
from allpairs.learner.runtime.training_group import ARGUMENTS, FAILED, PROCESSES, SINGLE_PROCESS, WEIGHTS, process_count

LOOK = 0.2  # seconds between two checks for messages of the processes, and for cancellation


def train_together(
    work: Callable[..., list[nn.Module]], arguments: Sequence[Any], networks: list[nn.Module], progress: Progress
) -> None:
    """Train the networks in place, with as many processes as the environment says.

    work: a function of a module; work(*arguments, progress, group) trains the networks that are in `arguments`,
    and returns them in the order of `networks`. Every process has a copy of `arguments`, on a device of its own. Raises
    InputError if a process is killed, and whatever work raises.
    """
    processes = process_count()
    if processes == 1:
        work(*arguments, progress, SINGLE_PROCESS)
        return
    with TemporaryDirectory(prefix="allpairs-training-") as name:
        folder = Path(name)
        torch.save((work, arguments), folder / ARGUMENTS)  # tensors passed as arguments would be shared memory
        _run(folder, processes, progress)
        trained = torch.load(folder / WEIGHTS, map_location="cpu", weights_only=True)
    for network, weights in zip(networks, trained, strict=True):
        network.load_state_dict(weights)


def _run(folder: Path, processes: int, progress: Progress) -> None:
    """Do the folder's work, and leave no process behind, however it ends."""
    from allpairs.learner.runtime.training_member import member  # part of an optional requirement

    threads = max(1, torch.get_num_threads() // processes)
    receiving, sending = Pipe(duplex=False)
    with receiving, sending:
        arguments = (processes, folder, threads, sending)
        started = start_processes(  # type: ignore[no-untyped-call]
            member, arguments, processes, join=False, start_method=lifetime.START
        )
        try:
            _listen(started, receiving, progress)
        except ProcessException as error:
            raise _cause(folder, started.processes, error) from error
        finally:
            for process in started.processes:
                process.kill()
                process.join()


def _listen(started: ProcessContext, receiving: "connection.Connection[Any, Any]", progress: Progress) -> None:
    """Wait until every process has ended well; meanwhile report progress, which may raise."""
    heard = ("train", 0.0)
    while not started.join(timeout=LOOK):
        while receiving.poll():
            heard = receiving.recv()
        progress(*heard)


def _cause(folder: Path, processes: Sequence[BaseProcess], error: ProcessException) -> Exception:
    """Return why the training ended: a process was killed, or had an error; others then fail because it is missing."""
    reports = sorted(folder.glob(f"{FAILED}-*"))
    signals = {-(process.exitcode or 0) for process in processes} - {signal.SIGTERM, signal.SIGABRT}  # how others end
    killed = [signal.Signals(number).name for number in signals if number > 0]
    if reports and not killed:
        return pickle.loads(reports[0].read_bytes())
    return InputError(
        f"a training process ended by {killed[0]}, perhaps because memory ran out: set {PROCESSES} lower, or use a "
        "smaller batch size, and train again"
        if killed
        else f"a training process ended early ({error.msg}): see the worker's log, or set {PROCESSES} to 1"
    )

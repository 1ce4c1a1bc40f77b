"""A model loaded in a process of its own, with limits of memory and time, before the process that serves others does.

On Linux alone is the memory limited; the time is limited everywhere.
"""

import os
import subprocess
import sys
from pathlib import Path
from threading import BoundedSemaphore

import psutil

from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held, size_of

PATIENCE = 300.0  # seconds: a busy machine takes half a minute to load torch
SPARE = 1_000_000_000  # bytes of any model
COPIES = 4  # times the size of its files
AT_ONCE = 4  # trials: each takes the memory of torch
REFUSED = 3  # the exit status where the folder is not a sound matcher's
COMMAND = (sys.executable, "-m", "allpairs.learner.serving.trial")


class Trials:
    """The trials of this process: a few at a time, and one for the same files, as added texts load a model again."""

    def __init__(self) -> None:
        self._places = BoundedSemaphore(AT_ONCE)
        self._passed: dict[Path, frozenset[tuple[str, int, int]]] = {}  # path, bytes, time of change

    def require_loadable(self, folder: Path) -> None:
        """Raise InputError if the matcher cannot be loaded within the limits."""
        with held(folder):
            files = frozenset((str(path), *_version(path)) for path in folder.rglob("*"))
        if self._passed.get(folder) != files:
            with self._places:
                require_loadable(folder)
            self._passed[folder] = files


def _version(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def require_loadable(folder: Path, patience: float = PATIENCE, spare: int = SPARE) -> None:
    """Raise InputError if the matcher cannot be loaded within the limits.

    They are four times its files, and `spare` bytes, or what is free.
    """
    most = min(spare + COPIES * size_of(folder), psutil.virtual_memory().available)
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"}
    try:
        with held(folder):
            trial = subprocess.run(
                [*COMMAND, str(folder), str(most), str(int(patience) + 1)],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=patience,
            )
    except subprocess.TimeoutExpired:
        raise InputError(f"the model takes more than {patience:g} seconds to load: publish another round's") from None
    if trial.returncode == REFUSED:
        raise InputError(trial.stdout.strip().splitlines()[-1])
    if trial.returncode:
        problem = (
            f"the model cannot be loaded in {most / 1e9:.1f} GB: four times its files and more, or all that is free"
        )
        raise InputError(f"{problem}: publish another round's")


def main(folder: str, most: str, seconds: str) -> None:
    """Load the matcher of the folder with so many bytes more than torch takes, and seconds of a core."""
    from allpairs.learner.scoring.matcher import load_matcher

    if sys.platform == "linux":
        import resource

        data = psutil.Process().memory_info().data + int(most)
        resource.setrlimit(resource.RLIMIT_DATA, (data, data))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    try:
        load_matcher(folder, "cpu")
    except InputError as error:
        print(error)
        raise SystemExit(REFUSED) from None


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What a measurement ran on: the machine in words, and the versions of what computes."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("torch", "transformers", "sentence-transformers", "numpy")
CPUINFO = Path("/proc/cpuinfo")  # Linux alone has it; elsewhere the kind of instructions is all there is to say


def machine() -> str:
    """Return cores and processor: `2 cores, AMD EPYC, x86_64`, or `6 of 16 cores, …` where a process has a part."""
    every = os.cpu_count() or 1
    ours = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    cores = f"{every} cores" if ours in (every, None) else f"{ours} of {every} cores"
    return ", ".join([cores, *_model(), platform.machine()])


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute."""
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}


def _model() -> list[str]:
    lines = CPUINFO.read_text(encoding="utf-8").splitlines() if CPUINFO.is_file() else []
    return [line.partition(":")[2].strip() for line in lines if line.startswith("model name")][:1]

"""Timing and texts shared by the benchmarks."""

import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pandas as pd
import torch

ROOT = Path(__file__).parent.parent


def questions(n: int) -> list[str]:
    """Return n distinct Quora questions from the real data; without it, the demo's questions, numbered."""
    folder = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data"))
    file = folder / "qqp" / "questions.parquet"
    if file.is_file():
        return list(pd.read_parquet(file).text.drop_duplicates()[:n])
    demo = list(pd.read_csv(ROOT / "annotate" / "demo" / "questions.csv").text)
    return [f"{demo[i % len(demo)]} {i // len(demo)}" for i in range(n)]


def amount(quick: bool, few: int, usual: int, on_gpu: int) -> int:
    """Return the size of a measurement: few if quick, else the usual one, or one that keeps a GPU busy."""
    if quick:
        return few
    return on_gpu if torch.cuda.is_available() else usual


def peak_memory() -> float:
    """Return the most memory that the process has held, MiB: of the GPU if there is one, else resident."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def seconds(call: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def compare(
    title: str, calls: dict[str, Callable[[], object]], work: float, unit: str, repeats: int = 3
) -> dict[str, float]:
    """Return the median seconds of interleaved runs of each call; print them, the rates, and ratios to the first."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            times[name].append(seconds(call))
    medians = {name: statistics.median(values) for name, values in times.items()}
    first = next(iter(medians.values()))
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{torch.get_num_threads()} CPU threads"
    print(f"\n{title} · {date.today()} · {platform.machine()}, {device}, torch {torch.__version__}")
    for name, median in medians.items():
        print(f"  {name:42s} {median:8.2f} s  {work / median:14,.0f} {unit}/s  {first / median:6.2f} × the first")
    return medians

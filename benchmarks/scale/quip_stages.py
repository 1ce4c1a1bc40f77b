"""Measure the memory and time of QuIP's stages and variants at several numbers of passages.

    python -m benchmarks.scale.quip_stages [--passages 20000 200000] [--each 1] [--only NAME ...] [--quick]

Tiny random models read made-up passages of 20 tokens, as their own memory does not grow with the passages; what the
generator writes is made up too. Every stage and variant runs in its own process. Training takes 100 steps; the
cross-encoder student has all of its steps. Prints CPU seconds and peak memory.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

from allpairs.db.progress import no_progress
from allpairs.learner.light.catalog.quip import QuipConfig, QuipInputs
from allpairs.learner.pipelines.pipeline import Run, pipeline_named, run_stage
from allpairs.learner.pipelines.quip import questions, two_stage
from allpairs.learner.pipelines.quip.variants import VARIANTS
from allpairs.learner.runtime.memory import peak_memory
from tests.helpers.tiny_backbones import tiny_backbone

STAGES = ("texts", "generator", "questions", "teacher", "targets", "student")
UNSEEN = ("generator", "teacher")  # stages that read no passages: they learn the known questions
KNOWN = 1_000
WORDS = [str(i) for i in range(1_000)]


def main() -> None:
    """Print a line for each stage and variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--each", type=int, default=1, help="questions on each passage")
    parser.add_argument("--only", nargs="+", default=[*STAGES, *VARIANTS], help="stages and variants to print")
    parser.add_argument("--quick", action="store_true", help="few passages: tests that it works")
    arguments = parser.parse_args()
    sizes = [200, 2_000] if arguments.quick else arguments.passages
    table = dict[str, list[str]]()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["allpairs.learner.pipelines.quip", "tests.helpers.tiny_backbones"])
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
            pool.submit(write_files, Path(folder), size).result()
            for name in [*STAGES, *(name for name in VARIANTS if name in arguments.only)]:
                seconds, peak = pool.submit(measured, Path(folder), name, arguments.each).result()
                print(f"{size:,} {name}: {seconds:.0f} s, {peak / 2**20:.0f} MiB", file=sys.stderr, flush=True)
                table.setdefault(name, []).append(f"{seconds:,.0f} s | {peak / 2**20:,.0f} MiB")
    print("| |", " | ".join(f"{size:,} passages | peak memory" for size in sizes), "|")
    print("| --- |", " | ".join("---: | ---:" for _ in sizes), "|")
    for name, cells in table.items():
        if name not in UNSEEN and name in arguments.only:
            print(f"| {name} | {' | '.join(cells)} |")


def write_files(folder: Path, size: int) -> None:
    """Write passages, known questions and a tiny backbone to the folder."""
    tiny_backbone(folder, "bert", [*WORDS, passage(0), "what is it ? |"])
    rows = "".join(f"{i}\t{passage(i)}\n" for i in range(size))
    (folder / "passages.tsv").write_text(f"id\ttext\n{rows}", encoding="utf-8")
    known = "".join(f"what is it ?\t{i} dollars\tIt costs {i} dollars and is good.\n" for i in range(KNOWN))
    (folder / "known.tsv").write_text(f"x\tanswer\tpassage\n{known}", encoding="utf-8")


def passage(number: int) -> str:
    """Return a passage unlike those of other numbers, of 20 tokens."""
    return f"The fair of {number // 1000} begins in May 1902. It costs {number % 1000} dollars and is good."


def measured(folder: Path, name: str, each: int) -> tuple[float, int]:
    """Run the stage, or train the variant; return CPU seconds and this process's peak memory in bytes."""
    run = Run(
        folder / "run",
        QuipInputs(passages=str(folder / "passages.tsv"), questions=str(folder / "known.tsv")),
        QuipConfig.model_validate(settings(str(folder / "bert"), each)),
    )
    began = time.process_time()
    with (
        patch.object(
            questions, "generate_several", lambda _, passages, each, *__: [made(one, each) for one in passages]
        ),
        patch.object(two_stage, "beginnings", lambda _, passages, *__: [answers(one, each) for one in passages]),
        patch.object(two_stage, "continued", lambda _, __, begun, *___: [f"{one} what is it ?" for one in begun]),
    ):
        if name in VARIANTS:
            (run.folder / name).mkdir()
            VARIANTS[name](run, run.folder / name, no_progress)
        else:
            run_stage(run, next(stage for stage in pipeline_named("quip").stages if stage.name == name))
    return time.process_time() - began, peak_memory()


def made(passage: str, each: int) -> list[str]:
    """Return what a generator might write from the passage."""
    return [f"{answer} | what is {at} ?" for at, answer in enumerate(answers(passage, each))]


def answers(passage: str, each: int) -> Sequence[str]:
    """Return so many words of the passage."""
    return passage.split()[:each]


def settings(backbone: str, each: int) -> dict[str, Any]:
    """Return the configuration: tiny models, few steps."""
    return {
        "variants": list(VARIANTS),
        "generator": {"backbone": backbone, "each": each, "steps": 2, "decoder_layers": 1},
        "teacher": {
            "backbone": backbone,
            "steps": 20,
            "max_length": 64,
            "question_length": 12,
            "stride": 8,
            "batch_size": 256,
        },
        "student": {
            "backbone": backbone,
            "steps": 100,
            "passage_length": 40,
            "question_length": 12,
            "window_step": 30,
            "epochs": 1,
        },
    }


if __name__ == "__main__":
    main()

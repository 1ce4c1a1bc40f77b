"""Measure how the stages over all texts grow: CPU seconds of one core and peak memory by number of texts.

    python -m benchmarks.speed.growth [--only STAGE ...] [--sizes N ...] [--quick]

Each measurement runs in its own process with one thread, and is kept in docs/growth.json, from which
`python -m benchmarks public` writes docs/scale.md. Texts are Quora's questions; vectors are synthetic, 384 numbers
in half precision on disk: groups of 8 in 48 dimensions with noise in all. `search` and `lists` find 20 neighbours
of each text, exactly and in lists; above a million texts, lists find those of some texts, whose time is multiplied.
`evaluate` and `sample` measure AP over all pairs, exactly and by the near-random design; in `train` the texts are
labelled pairs, seen once. `file` encodes texts of three words with one layer of the encoder: the cost of many texts
apart from the encoder, above all memory.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import patch

import faiss
import numpy as np
import torch

from allpairs.db.domain import DEFAULT_ENCODER, Search, Settings
from allpairs.db.progress import no_progress
from allpairs.learner.data.dataset import make_dataset
from allpairs.learner.evaluation import sampling_designs
from allpairs.learner.evaluation.importance_sampling import estimate_from_strata
from allpairs.learner.jobs.data.resumable_encoding import encoded
from allpairs.learner.loop.round import evaluate_dataset
from allpairs.learner.models.cosine_bert import Labelled, train
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.search.nearest import Near, near_pairs
from benchmarks.common import ROOT, questions
from benchmarks.speed.lists_in_part import lists_in_part

STORED = ROOT / "docs" / "growth.json"
DIMENSION = 384
INNER = 48
GROUP = 8
CHUNK = 65_536
NEIGHBOURS = 20
DRAWN = 1_000_000
WHOLE = 1_000_000  # texts up to which a search in lists is run whole
PARTS = 2  # of it that are run above that
SIZES = {
    "encode": (1_000, 2_000, 4_000),
    "file": (10_000, 40_000),
    "train": (128, 256, 512),
    "search": (16_000, 32_000, 64_000),
    "lists": (64_000, 128_000, 256_000),
    "evaluate": (16_000, 32_000, 64_000),
    "sample": (256_000,),
}
QUICK = dict.fromkeys(SIZES, (500, 1_000)) | {"train": (16, 32)}
Found = dict[str, Any]


def encode(n: int) -> Found:
    """Encode n questions; only the time is returned."""
    encoder = load_encoder(DEFAULT_ENCODER)
    texts = questions(n)
    with watched() as found:
        encoder.encode(texts)
    return found


def encoded_to_file(n: int) -> Found:
    """Encode n texts of three words with only the encoder's first layer into a file, as a job does."""
    encoder = load_encoder(DEFAULT_ENCODER)
    rng = np.random.default_rng(0)
    transformer = encoder.model[0].auto_model.encoder
    transformer.layer = transformer.layer[:1]
    words = np.array(sorted({word for text in questions(5_000) for word in text.lower().split() if word.isalpha()}))
    texts = [" ".join(three) for part in range(0, n, CHUNK) for three in rng.choice(words, (min(CHUNK, n - part), 3))]
    with tempfile.TemporaryDirectory(dir=ROOT / "out") as folder, watched() as found:
        encoded(encoder, texts, Path(folder))
    return found


def trained(n: int) -> Found:
    """Train the encoder on n labelled pairs of distinct questions, for one epoch."""
    encoder = load_encoder(DEFAULT_ENCODER)
    texts = questions(2 * n)
    rows = np.arange(2 * n)
    labelled = Labelled(rows[:n], rows[n:], np.arange(n) % 2)
    with watched() as found:
        train(encoder, texts, labelled, Settings(epochs=1), no_progress)
    return found


def searched(search: Search) -> Callable[[int], Found]:
    """Return a function that searches the neighbours of n vectors in this way."""

    def stage(n: int) -> Found:
        with on_disk(n) as vectors, watched() as found:
            near = near_pairs(vectors, vectors, NEIGHBOURS, True, np.random.default_rng(0), search)
        return {**found, "recall": None if near.recall is None else near.recall.as_dict()}

    return stage


def listed(n: int) -> Found:
    """Search the neighbours of n vectors in lists; of very many, those of some, which says what all would take."""
    if n <= WHOLE:
        return searched("faiss-ivf")(n)
    with on_disk(n) as vectors, watched() as found:
        whole = lists_in_part(vectors, NEIGHBOURS, PARTS)
    return found | whole


def evaluated(n: int) -> Found:
    """Measure AP over all pairs of n vectors, exactly."""
    with on_disk(n) as vectors, watched() as found:
        dataset = make_dataset([""] * n, ["left"] * n, ["evaluation"] * n, True, positives_of(n))
        measured = evaluate_dataset(dataset, vectors.astype(np.float32), exact=True)
    assert measured is not None
    return {**found, "ap": measured.estimates["average_precision"].as_dict()}


def sampled(n: int) -> Found:
    """Measure AP over all pairs of n vectors by near pairs and a sample of the others; `search`: its seconds."""
    rng = np.random.default_rng(0)
    positives = positives_of(n)
    searches = []

    def search(*given: Any, **named: Any) -> Near:
        with watched() as taken:
            near = near_pairs(*given, **named)
        recall = None if near.recall is None else near.recall.as_dict()
        searches.append({"recall": recall, "neighbours": near.neighbours, "search": taken["seconds"]})
        return near

    with on_disk(n) as vectors, watched() as found, patch.object(sampling_designs, "near_pairs", search):
        scorer = VectorScorer(vectors, None)
        strata = sampling_designs.near_random(
            sampling_designs.Population(vectors, vectors, positives, True), scorer.score, DRAWN, rng
        )
        measured = estimate_from_strata(scorer.score(*positives.T), strata, "near-random", rng)
    return {**found, **searches[0], "ap": measured.estimates["average_precision"].as_dict()}


STAGES: dict[str, Callable[[int], Found]] = {
    "encode": encode,
    "file": encoded_to_file,
    "train": trained,
    "search": searched("exact"),
    "lists": listed,
    "evaluate": evaluated,
    "sample": sampled,
}


@contextmanager
def watched() -> Iterator[Found]:
    """Yield a dict that gets CPU and wall seconds of the block, and the process's peak memory in MiB."""
    found: Found = {}
    wall = time.perf_counter()
    own = time.process_time()
    yield found
    found["seconds"] = time.process_time() - own
    found["wall"] = time.perf_counter() - wall
    found["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def on_disk(n: int) -> Iterator[np.ndarray]:
    """Yield n unit vectors, float16, in a file; row i belongs to the group i // 8."""
    rng = np.random.default_rng(0)
    inner = rng.standard_normal((INNER, DIMENSION)).astype(np.float32)
    with tempfile.TemporaryDirectory(dir=ROOT / "out") as folder:
        path = Path(folder) / "vectors.npy"
        vectors = np.lib.format.open_memmap(path, "w+", np.float16, (n, DIMENSION))
        for start in range(0, n, CHUNK):
            size = min(CHUNK, n - start)
            middles = rng.standard_normal((-(-size // GROUP), INNER), dtype=np.float32).repeat(GROUP, axis=0)[:size]
            near = (middles + 0.5 * rng.standard_normal((size, INNER), dtype=np.float32)) @ inner
            near += 2.0 * rng.standard_normal((size, DIMENSION), dtype=np.float32)
            vectors[start : start + size] = near / np.linalg.norm(near, axis=1, keepdims=True)
        vectors.flush()
        del vectors
        yield np.load(path, mmap_mode="r")


def positives_of(n: int) -> np.ndarray:
    """Return (k, 2): the first two of each group."""
    first = np.arange(0, n - 1, GROUP)
    return np.column_stack([first, first + 1])


def apart(stage: str, n: int) -> Found:
    """Measure the stage at n in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.growth", "--one", stage, str(n)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    found: Found = json.loads(done.stdout)
    return {"stage": stage, "n": n, **found, "date": str(date.today())}


def stored() -> list[Found]:
    """Return the measurements so far."""
    found: list[Found] = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    return found


def store(row: Found) -> None:
    """Keep the row as the newest of its stage and size."""
    others = [each for each in stored() if (each["stage"], each["n"]) != (row["stage"], row["n"])]
    rows = sorted([*others, row], key=lambda each: (list(STAGES).index(each["stage"]), each["n"]))
    STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Print a line for each measurement, and keep it unless quick."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=STAGES, default=list(STAGES), metavar="STAGE")
    parser.add_argument("--sizes", type=int, nargs="+", help="instead of each stage's own")
    parser.add_argument("--quick", action="store_true", help="small sizes, keeps no figures")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        torch.set_num_threads(1)
        faiss.omp_set_num_threads(1)
        print(json.dumps(STAGES[options.one[0]](int(options.one[1]))))
        return
    for stage in options.only:
        for n in options.sizes or (QUICK if options.quick else SIZES)[stage]:
            row = apart(stage, n)
            recall = f", recall {row['recall']['value']:.3f}" if row.get("recall") else ""
            print(f"{stage:9s} {n:10,d} {row['seconds']:9.1f} s {row['mib']:8,.0f} MiB{recall}", flush=True)
            if not options.quick:
                store(row)


if __name__ == "__main__":
    main()

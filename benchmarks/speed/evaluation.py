"""Compare exact average precision over all pairs with the matrix product alone.

python -m benchmarks.speed.evaluation [--items 16000]
"""

import argparse

import numpy as np

from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import as_tensor, blocks, count_pairs
from benchmarks.common import amount, compare, peak_memory
from benchmarks.table import Row

TIMES = 1.3  # at most: multiple of the product's time
MEMORY = 1024  # at most: MiB above the vectors


def clustered(items: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors (items, 384) in groups of four, spread like real data, and the pairs (k, 2) within groups."""
    common = rng.standard_normal(384)  # real encoders' cosines are not centred at 0
    centres = rng.standard_normal((items // 4, 384)) + 0.3 * common
    vectors = np.repeat(centres, 4, axis=0) + 0.6 * rng.standard_normal((items // 4 * 4, 384))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    start = 4 * np.arange(items // 4)
    pairs = [np.column_stack([start + i, start + j]) for i in range(4) for j in range(i + 1, 4)]
    return vectors, np.concatenate(pairs)


def compared(items: int) -> tuple[dict[str, float], float, int]:
    """Return median seconds of the product, of ours, and of ours with a threshold; MiB above the vectors; pairs."""
    vectors, positives = clustered(items, np.random.default_rng(0))
    tensor = as_tensor(vectors)
    pairs = count_pairs(len(vectors), len(vectors), True)
    layer = OutputLayer(40.0, -26.0)  # threshold 0.65, between the pairs of a group and the others
    before = peak_memory()
    calls = {
        "matrix product alone": lambda: [None for _ in blocks(tensor, tensor, True)],
        "allpairs evaluate_exact": lambda: evaluate_exact(vectors, vectors, positives, True),
        "with threshold and calibration": lambda: evaluate_exact(vectors, vectors, positives, True, layer=layer),
    }
    medians = compare(f"exact AP over {pairs:,} pairs, {len(positives):,} positives", calls, pairs, "pairs")
    memory = peak_memory() - before
    print(f"  peak memory above the vectors: {memory:,.0f} MiB")
    return medians, memory, pairs


def measure(quick: bool) -> list[Row]:
    """Return the time of exact evaluation beside its unavoidable matrix product."""
    medians, memory, pairs = compared(amount(quick, 8_000, 31_624, 250_000))
    floor, *ours = medians.values()
    return [
        Row(
            what=f"exact AP over {pairs:,} pairs{also}",
            peer=f"the matrix product alone: {floor:.2f} s",
            ours=f"{seconds:.2f} s, {memory:.0f} MiB",
            ratio=seconds / floor,
            target=f"≤ {TIMES} × the product's time, ≤ {MEMORY:,} MiB",
            met=seconds <= TIMES * floor and memory <= MEMORY,
        )
        for seconds, also in zip(ours, ("", ", with threshold and calibration"), strict=True)
    ]


def main() -> None:
    """Print pairs a second and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=16_000)
    compared(parser.parse_args().items)


if __name__ == "__main__":
    main()

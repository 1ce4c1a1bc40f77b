"""Compare exact nearest neighbours, each pair once, with `faiss.IndexFlatIP` alone.

python -m benchmarks.speed.search [--items 20000] [--k 100]
"""

import argparse

import faiss
import numpy as np

from allpairs.learner.search.exact import as_tensor, blocks, nearest, search_device
from benchmarks.common import amount, compare
from benchmarks.table import Row

TIMES = 0.95  # minimum multiple of the peer's rate: it is the same search, but for noise


def compared(items: int, k: int) -> tuple[dict[str, float], float]:
    """Return median seconds of the peer, of ours and of the product; the share of equal neighbours. Print them too."""
    vectors = np.random.default_rng(0).standard_normal((items, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tensor = as_tensor(vectors)

    def by_faiss() -> np.ndarray:
        index = faiss.IndexFlatIP(vectors.shape[1])
        if search_device() == "cuda":
            index = faiss.index_cpu_to_all_gpus(index)
        index.add(vectors)
        found: np.ndarray = index.search(vectors, k + 1)[1]
        return found

    calls = {
        "faiss.IndexFlatIP": by_faiss,
        "allpairs nearest (symmetric, each pair once)": lambda: nearest(vectors, vectors, k, True),
        "matrix product alone": lambda: [None for _ in blocks(tensor, tensor, False)],
    }
    medians = compare(f"exact {k} neighbours of {items:,} items, d = 384", calls, items**2, "pairs")
    return medians, _equal(vectors[:2000])


def _equal(few: np.ndarray) -> float:
    ours = nearest(few, few, 10, True)
    index = faiss.IndexFlatIP(few.shape[1])
    index.add(few)
    rows = index.search(few, 11)[1]
    theirs = {(min(i, j), max(i, j)) for i, row in enumerate(rows.tolist()) for j in row if i != j}
    both = theirs & set(zip(ours.left.tolist(), ours.right.tolist(), strict=True))
    print(f"  equal neighbour pairs: {len(both)} of {len(theirs)}")
    return len(both) / len(theirs)


def measure(quick: bool) -> list[Row]:
    """Return the time of exact search beside FAISS's."""
    items = amount(quick, 4_000, 20_000, 200_000)
    k = 100
    medians, equal = compared(items, k)
    peer, ours, product = medians.values()
    return [
        Row(
            what=f"{k} exact neighbours of {items:,} items, {equal:.1%} equal neighbours",
            peer=f"`faiss.IndexFlatIP`: {peer:.2f} s; the matrix product alone: {product:.2f} s",
            ours=f"{ours:.2f} s",
            ratio=peer / ours,
            target=f"≥ {TIMES:g} × the peer's rate, the same neighbours",
            met=peer >= TIMES * ours and equal == 1,
        )
    ]


def main() -> None:
    """Print pairs a second and the share of equal neighbours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--k", type=int, default=100)
    options = parser.parse_args()
    compared(options.items, options.k)


if __name__ == "__main__":
    main()

"""Exact nearest neighbours: blocked matrix products against `faiss.IndexFlatIP`.

python -m benchmarks.search [--items 20000] [--k 100]
"""

import argparse

import faiss
import numpy as np

from benchmarks.common import compare
from learner.search import nearest


def main() -> None:
    """Nothing; prints pairs a second and the share of equal neighbours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--k", type=int, default=100)
    options = parser.parse_args()
    vectors = np.random.default_rng(0).standard_normal((options.items, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def by_faiss() -> np.ndarray:
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        found: np.ndarray = index.search(vectors, options.k + 1)[1]
        return found

    calls = {
        "faiss.IndexFlatIP": by_faiss,
        "allpairs nearest (symmetric, each pair once)": lambda: nearest(vectors, vectors, options.k, True),
        "matrix product alone": lambda: [vectors[i : i + 1024] @ vectors.T for i in range(0, len(vectors), 1024)],
    }
    compare(f"exact {options.k} neighbours of {options.items:,} items, d = 384", calls, options.items**2, "pairs")
    few = vectors[:2000]
    ours = nearest(few, few, 10, True)
    index = faiss.IndexFlatIP(few.shape[1])
    index.add(few)
    rows = index.search(few, 11)[1]
    theirs = {(min(i, j), max(i, j)) for i, row in enumerate(rows.tolist()) for j in row if i != j}
    both = theirs & set(zip(ours.left.tolist(), ours.right.tolist(), strict=True))
    print(f"  equal neighbour pairs: {len(both)} of {len(theirs)}")


if __name__ == "__main__":
    main()

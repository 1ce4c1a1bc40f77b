"""Compare encoding by length-sorted token budgets with sentence-transformers' own `encode`.

python -m benchmarks.speed.encode [--texts 4000]
"""

import argparse

import numpy as np

from allpairs.learner.models.encoder import load_encoder
from benchmarks.common import amount, compare, questions
from benchmarks.table import Row

TIMES = 1.2  # at least: multiple of the peer's rate
COSINE = 0.9999  # at least: cosine between both vectors of a text


def compared(n: int) -> tuple[float, float, float]:
    """Return sentences a second of the peer and of ours, and the lowest cosine between both; print them too."""
    texts = questions(n)
    encoder = load_encoder()
    peer = encoder.model.encode(texts[:500])
    ours = encoder.encode(texts[:500])
    calls = {
        "sentence-transformers encode, default": lambda: encoder.model.encode(texts),
        "allpairs": lambda: encoder.encode(texts),
    }
    medians = compare(f"encode {n:,} questions, all-MiniLM-L6-v2", calls, n, "sentences")
    lowest = float(np.einsum("nd,nd->n", peer, ours).min())
    print(f"  lowest cosine between both: {lowest:.6f}")
    theirs, mine = (n / median for median in medians.values())
    return theirs, mine, lowest


def measure(quick: bool) -> list[Row]:
    """Return the rate of encoding beside sentence-transformers'."""
    n = amount(quick, 500, 3_000, 50_000)
    peer, ours, lowest = compared(n)
    return [
        Row(
            what=f"encode {n:,} questions, lowest cosine to the peer's vectors {lowest:.5f}",
            peer=f"sentence-transformers `encode`: {peer:,.0f}/s",
            ours=f"{ours:,.0f}/s",
            ratio=ours / peer,
            target=f"≥ {TIMES} × the peer's rate, cosine ≥ {COSINE}",
            met=ours >= TIMES * peer and lowest >= COSINE,
        )
    ]


def main() -> None:
    """Print sentences a second and the lowest cosine between both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=4000)
    compared(parser.parse_args().texts)


if __name__ == "__main__":
    main()

"""Encoding: length-sorted token budgets against sentence-transformers' own `encode`.

python -m benchmarks.encode [--texts 4000]
"""

import argparse

import numpy as np

from benchmarks.common import compare, questions
from learner.encoder import load_encoder


def main() -> None:
    """Nothing; prints sentences a second and the lowest cosine between both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=4000)
    n = parser.parse_args().texts
    texts, encoder = questions(n), load_encoder()
    peer, ours = encoder.model.encode(texts[:500]), encoder.encode(texts[:500])
    calls = {
        "sentence-transformers encode, default": lambda: encoder.model.encode(texts),
        "allpairs": lambda: encoder.encode(texts),
    }
    compare(f"encode {n:,} questions, all-MiniLM-L6-v2", calls, n, "sentences")
    print(f"  lowest cosine between both: {np.einsum('nd,nd->n', peer, ours).min():.6f}")


if __name__ == "__main__":
    main()

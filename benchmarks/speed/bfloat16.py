"""Compare encoding in bfloat16, as a GPU reads, with float32: average precision over all pairs, vectors and rate.

python -m benchmarks.speed.bfloat16 [--questions 50000]

The questions are made up, with planted duplicates. A CPU without units for bfloat16 is slower in it.
"""

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

import numpy as np
import torch

from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.models import encoder as encoders
from allpairs.learner.runtime.device import computing
from benchmarks.common import seconds
from benchmarks.data.qqp_texts import common_words, make_up
from benchmarks.table import Row

WITHIN = 0.005  # the most by which average precision may differ
Reading = Callable[[torch.device], AbstractContextManager[object]]
READING: dict[str, Reading] = {
    "float32": lambda device: nullcontext(),
    "bfloat16": lambda device: computing(device, bfloat16=True),
}


def compared(n: int) -> Row:
    """Return average precision and rate in both, and the lowest cosine between the vectors of a text."""
    questions = make_up(n, common_words(), np.random.default_rng(0))
    encoder = encoders.load_encoder()
    vectors = {}
    words = {}
    ap = {}
    rate = {}
    for name, reading in READING.items():
        with patch.object(encoders, "fast_reading", reading):
            encoder.encode(questions.texts[:64])  # the first call of a process is slower
            taken = seconds(lambda: vectors.update({name: encoder.encode(questions.texts)}))  # noqa: B023
        measured = evaluate_exact(vectors[name], vectors[name], questions.positives(), True)
        assert measured is not None
        ap[name] = measured.estimates["average_precision"].value
        rate[name] = n / taken
        words[name] = f"{name}: AP {ap[name]:.4f}, {rate[name]:,.0f}/s"
    lowest = float(np.einsum("nd,nd->n", *vectors.values()).min())
    return Row(
        what=f"encode {n:,} made-up questions in bfloat16, lowest cosine to the vectors in float32 {lowest:.5f}",
        ours=words["bfloat16"],
        peer=words["float32"],
        ratio=rate["bfloat16"] / rate["float32"],
        target=f"AP within {WITHIN}",
        met=abs(ap["bfloat16"] - ap["float32"]) <= WITHIN,
    )


def measure(quick: bool) -> list[Row]:
    """Return bfloat16 beside float32."""
    return [compared(500 if quick else 50_000)]


def main() -> None:
    """Print the row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=50_000)
    row = compared(parser.parse_args().questions)
    print(f"{row.what}: {row.ours}; {row.peer}; {row.target}: {'yes' if row.met else 'no'}")


if __name__ == "__main__":
    main()

"""Data and configurations for tests of back-training."""

from pathlib import Path
from typing import Any

THINGS = [f"{colour} {thing}" for colour in ("red", "blue", "green", "black") for thing in ("cat", "dog", "hen", "owl", "fox")]  # fmt: skip  # noqa: E501

PAIRS = [(f"what is the {thing}", f"the {thing} is an animal here") for thing in THINGS]


def wanted(data: Path, inputs: dict[str, str], **config: Any) -> dict[str, Any]:
    files = {"source_pairs": "source.csv", "questions": "questions.tsv", "passages": "passages.csv",
             "dev_pairs": "dev.tsv", "test_pairs": "test.tsv", "test_passages": "search.tsv"}  # fmt: skip
    generator = {"backbone": str(data / "bert"), "decoder_layers": 1, "steps": 6, "batch_size": 4, "beams": 2,
                 "learning_rate": 5e-3, "decoder_rate": 1, "source_length": 32, "target_length": 8}  # fmt: skip
    retriever = {"backbone": str(data / "tiny"), "steps": 6, "batch_size": 4, "learning_rate": 2e-3}
    adaptation = {"generator_epochs": 1, "retriever_epochs": 1, "generator_rate": 1e-3, "retriever_rate": 1e-3}
    return {"inputs": files | inputs, "generator": generator, "retriever": retriever, "adaptation": adaptation,
            "lists": {"negatives": 3}, "wanted": 3} | config  # fmt: skip

"""A small corpus on disk, and what a simulation on it wrote."""

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer
from sklearn.metrics import average_precision_score

from tests.helpers.tiny import tiny_encoder

AT_THRESHOLD = {"precision", "recall", "f1", "calibration_error"}  # figures of a trained model
TRAINING = ["--learning-rate", "0.002", "--epochs", "12", "--neighbours", "20"]


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def texts_of(topics: Sequence[int], seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"topic{topic} " + " ".join(rng.choice([f"word{i}" for i in range(20)], 4)) for topic in topics]


@dataclass(frozen=True)
class Files:
    """A small corpus on disk: left and right ids with their texts, and the gold pairs."""

    folder: Path
    encoder: Path
    left: dict[str, str]
    right: dict[str, str]
    gold: set[tuple[str, str]]

    @property
    def items(self) -> list[object]:
        right = ["--right", self.folder / "right.csv"] if self.right else []
        return ["--left", self.folder / "left.csv", *right]

    @property
    def known(self) -> list[object]:
        return [*self.items, "--gold", self.folder / "gold.csv"]

    def simulate(self, out: Path, *more: object) -> list[object]:
        return ["simulate", *self.known, "--encoder", self.encoder, "--first", 10, "--rounds", 3,
                "--first-batch", "most-similar", *TRAINING, "--out", out, *more]  # fmt: skip

    def pairs(self, ids: Iterable[str] | None = None) -> list[tuple[str, str]]:
        """Return all pairs of these left ids (default: all): with each other, or with all right ones."""
        left = list(self.left) if ids is None else [name for name in self.left if name in set(ids)]
        return list(product(left, self.right) if self.right else combinations(left, 2))

    def brute_force(self, model: Path, pairs: Sequence[tuple[str, str]]) -> float:
        """Return the average precision over these pairs by the library's own encoding."""
        encoder = SentenceTransformer(str(model), device="cpu")
        names = [("left", name) for name in self.left] + [("right", name) for name in self.right]
        vectors = encoder.encode([getattr(self, side)[name] for side, name in names], normalize_embeddings=True)
        at = dict(zip(names, vectors, strict=True))
        second = "right" if self.right else "left"
        scores = [float(at["left", one] @ at[second, other]) for one, other in pairs]
        return float(average_precision_score([pair in self.gold for pair in pairs], np.round(scores, 6)))


def make_files(folder: Path, left: dict[str, str], right: dict[str, str], gold: Iterable[tuple[str, str]]) -> Files:
    files = Files(folder, Path(), left, right, set(gold))
    write(folder / "left.csv", ["id", "text"], left.items())
    if right:
        write(folder / "right.csv", ["id", "text"], right.items())
    write(folder / "gold.csv", ["id1", "id2"], sorted(files.gold))
    encoder = tiny_encoder(folder, [*left.values(), *right.values()])
    return Files(folder, encoder, left, right, files.gold)


def rounds_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "rounds.jsonl").read_text().splitlines()]


def split_of(out: Path) -> dict[tuple[str, str], str]:
    with (out / "split.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["id", "side", "split"]
    return {(side, name): split for name, side, split in rows}


def evaluation_ids(out: Path) -> list[str]:
    return [name for (side, name), split in split_of(out).items() if side == "left" and split == "evaluation"]

"""Retrieved and generated pairs of the target domain, made in shards that are written whole.

Source: Kulshreshtha et al. (2021), algorithm 1, lines 4 to 11. A shard also has both old models' scores of its pairs.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.generator import TextGenerator, generate
from allpairs.learner.light.catalog.backtraining import BackTrainingConfig
from allpairs.learner.models.bi_encoder_training import Retriever
from allpairs.learner.pipelines.backtraining.files import PassageQuestion
from allpairs.learner.pipelines.backtraining.lists import ScoredPairs
from allpairs.learner.pipelines.backtraining.measure import likelihoods
from allpairs.learner.pipelines.backtraining.negatives import near_by_words
from allpairs.learner.pipelines.backtraining.texts import Data
from allpairs.learner.pipelines.pipeline import finish
from allpairs.learner.search import exact as search

RETRIEVED = "retrieved"
GENERATED = "generated"
SHARDS = {RETRIEVED: 2_000, GENERATED: 500}  # questions to search for, passages to write about
NEAR = "near.npz"


@dataclass(frozen=True)
class SyntheticPairs:
    """Synthetic pairs in the order of the real list: questions, rows (n,) of their passages, and scores."""

    questions: list[str]
    rows: np.ndarray
    judged: ScoredPairs

    @property
    def asks(self) -> np.ndarray:
        """Which pairs have a question at all, (n,) bool: a generator may write nothing."""
        return np.array([bool(text) for text in self.questions], dtype=bool)

    def asked(self, data: Data, chosen: np.ndarray) -> list[PassageQuestion]:
        """Return the chosen pairs (n,) bool."""
        return [
            PassageQuestion(self.questions[row], data.passages[self.rows[row]].text) for row in np.flatnonzero(chosen)
        ]


def make_lists(
    folder: Path,
    generator: TextGenerator,
    retriever: Retriever,
    data: Data,
    config: BackTrainingConfig,
    seed: int,
    progress: Progress,
) -> None:
    """Write both lists to the folder. Existing shards are not made again."""
    settings = config.generator.model_copy(update={"decoding": config.lists.decoding})
    passages = [text.text for text in data.passages]
    questions = [text.text for text in data.questions]

    def vectors(path: Path) -> None:
        with path.open("wb") as file:
            np.save(file, retriever.passage.encode(passages, part_of(progress, 0.0, 0.1)))

    passage_vectors = np.load(finish(folder / "passages.npy", vectors))

    def retrieve(part: slice, progress: Progress) -> SyntheticPairs:
        query_vectors = retriever.query.encode(questions[part], part_of(progress, 0.0, 0.3))
        near = search.neighbours(query_vectors, passage_vectors, 1, False)
        pairs = [
            PassageQuestion(text, passages[row])
            for text, row in zip(questions[part], near.ids[:, 0].tolist(), strict=True)
        ]
        return SyntheticPairs(
            questions[part], near.ids[:, 0], ScoredPairs(likelihoods(generator, pairs, settings), near.scores[:, 0])
        )

    def write(part: slice, progress: Progress) -> SyntheticPairs:
        texts = generate(
            generator, passages[part], settings, part_of(progress, 0.0, 0.8), seed=seed * 100_003 + part.start
        )
        pairs = [PassageQuestion(text, passage) for text, passage in zip(texts, passages[part], strict=True)]
        score = np.einsum("nd,nd->n", retriever.query.encode(texts), passage_vectors[part])
        rows = np.arange(len(passages), dtype=np.int64)[part]
        return SyntheticPairs(
            texts, rows, ScoredPairs(likelihoods(generator, pairs, settings, part_of(progress, 0.8, 1.0)), score)
        )

    _shards(folder, RETRIEVED, len(questions), retrieve, part_of(progress, 0.1, 0.4))
    _shards(folder, GENERATED, len(passages), write, part_of(progress, 0.4, 1.0))
    (folder / "passages.npy").unlink()


def _shards(
    folder: Path, name: str, n: int, work: Callable[[slice, Progress], SyntheticPairs], progress: Progress
) -> None:
    size = SHARDS[name]
    for start in range(0, n, size):

        def write(path: Path, start: int = start) -> None:
            began = time.monotonic()
            part = slice(start, min(start + size, n))
            pairs = work(part, part_of(progress, part.start / n, part.stop / n))
            columns = {
                "questions": pairs.questions,
                "rows": pairs.rows.tolist(),
                "nll": pairs.judged.nll.tolist(),
                "score": pairs.judged.score.tolist(),
                "seconds": time.monotonic() - began,
            }
            path.write_text(json.dumps(columns, ensure_ascii=False), encoding="utf-8")

        finish(folder / f"{name}-{start:08d}.json", write)
        progress({RETRIEVED: "retrieve", GENERATED: "generate"}[name], min(1.0, (start + size) / n))


def read_list(folder: Path, name: str) -> SyntheticPairs:
    """Return the list that `make_lists` left in the folder."""
    parts = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob(f"{name}-*.json"))]

    def column(key: str, dtype: type) -> np.ndarray:
        return np.concatenate([np.array(part[key], dtype=dtype) for part in parts])

    questions = [text for part in parts for text in part["questions"]]
    return SyntheticPairs(
        questions, column("rows", np.int64), ScoredPairs(column("nll", np.float32), column("score", np.float32))
    )


def write_learned(
    path: Path, data: Data, lists: dict[str, SyntheticPairs], selected: dict[str, np.ndarray], learners: dict[str, str]
) -> None:
    """Write both lists as a table: which model trains on a pair, both models' scores, and whether it was kept."""
    rows = (
        row for name, pairs in lists.items() for row in _learned_rows(data, learners[name], name, pairs, selected[name])
    )
    write_csv(path, ("for", "list", "target_text", "input_text", "nll", "score", "kept"), rows)


def _learned_rows(
    data: Data, learner: str, name: str, pairs: SyntheticPairs, selected: np.ndarray
) -> Iterator[tuple[Any, ...]]:
    passages = (data.passages[row].text for row in pairs.rows.tolist())
    figures = pairs.judged.nll.tolist(), pairs.judged.score.tolist(), selected.astype(int).tolist()
    for question, passage, *numbers in zip(pairs.questions, passages, *figures, strict=True):
        yield learner, name, question, passage, *numbers


def seconds_of(folder: Path) -> float:
    """Return how long both lists in the folder took to make."""
    return sum(
        float(json.loads(path.read_text(encoding="utf-8"))["seconds"])
        for name in SHARDS
        for path in folder.glob(f"{name}-*.json")
    )


def find_near(path: Path, folder: Path, data: Data, k: int, progress: Progress) -> None:
    """Write, for each pair of both lists, rows of the passages that BM25 finds for its question."""
    passages = [passage.text for passage in data.passages]
    rows = {name: near_by_words(read_list(folder, name).questions, passages, k + 1, progress) for name in SHARDS}
    with path.open("wb") as file:
        np.savez(file, retrieved=rows[RETRIEVED], generated=rows[GENERATED])

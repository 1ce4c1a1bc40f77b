"""The stage that trains every variant with every seed, and reads the candidates of the tests.

A finished training leaves a folder and is not repeated, so a killed run resumes with the next one. Each variant keeps
the model of the seed that is best on the test.
"""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking.fusion import Fused
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import Reranker, scores_of, truth_logits
from allpairs.learner.backbones.reranking.training import Row, train_reranker
from allpairs.learner.pipelines.multiview.first import TRAIN, first_stage_of, found_passages
from allpairs.learner.pipelines.multiview.fusing import fitted
from allpairs.learner.pipelines.multiview.inputs import FIT, TEST, RankingTexts, TestSet, texts_of
from allpairs.learner.pipelines.multiview.lists import TextTable
from allpairs.learner.pipelines.multiview.mixing import View, streams_of
from allpairs.learner.pipelines.multiview.ranking import measured, ranked
from allpairs.learner.pipelines.multiview.variants import Variant, variants_of
from allpairs.learner.pipelines.pipeline import Run, finish

MODEL = "model"
SCORES = "scores.npz"
FIGURE = "figure.json"
QUERIES = 64  # queries whose candidates' texts are in memory at once
LEARN = 0.5  # share of a training's work


@dataclass(frozen=True)
class VariantTraining:
    """A variant with a seed; number: the variant's position."""

    number: int
    variant: Variant
    seed: int

    def within(self, stage: Path) -> Path:
        """Return the training's folder within that of the stage."""
        return stage / f"variant-{self.number}" / f"seed-{self.seed}"


def trainings_of(run: Run) -> list[VariantTraining]:
    """Return all trainings: the first seed of every variant before any second one."""
    variants = list(enumerate(variants_of(run.config)))
    return [VariantTraining(number, variant, seed) for seed in range(run.config.seeds) for number, variant in variants]


def train_variants(run: Run, folder: Path, progress: Progress) -> None:
    """Write the logits of all candidates for each training, and a model for each variant, to the folder."""
    trainings = trainings_of(run)
    triples = _triples(run)
    for place, training in enumerate(trainings):
        name = f"{place + 1} of {len(trainings)}, {training.variant.title}, seed {training.seed}: "
        part = part_of(progress, place / len(trainings), (place + 1) / len(trainings), name)

        def train(partial: Path, training: VariantTraining = training, progress: Progress = part) -> None:
            partial.mkdir()
            run_training(run, training, triples, partial, progress)

        finish(training.within(folder), train)
        _keep_best(training.within(folder).parent)
        part("done", 1.0)


def run_training(run: Run, training: VariantTraining, triples: np.ndarray, folder: Path, progress: Progress) -> None:
    """Write the model, its logits, and its figure on the test to the folder."""
    texts = texts_of(run)
    variant = training.variant
    config = run.config
    settings = config.model.model_copy(update={"backbone": variant.backbone})
    seed = config.seed + training.seed
    generator = load_generator(variant.backbone, settings.decoder_layers, seed)
    ranking = ranking_rows(texts, triples, variant.first)
    second = None if variant.second is None else right_rows(texts, variant.second)
    steps = settings.steps or settings.epochs * -(-ranking[0] // settings.batch_size)
    reading = Reading(variant.first, variant.second, settings.source_length, settings.compiled, settings.int8)
    streams = streams_of(ranking, second, variant.rate, steps, config.order == "write first", [seed, 3])
    reranker = train_reranker(generator, reading, streams, settings, seed, part_of(progress, 0.0, LEARN))
    share = (1 - LEARN) / len(texts.judged)
    logits = {}
    for place, test in enumerate(texts.judged):
        part = part_of(progress, LEARN + place * share, LEARN + (place + 1) * share)
        logits[test.name] = read_candidates(reranker, test, found_passages(run, test.name), part)
    if texts.fitting is not None:
        fusion = fitted(run, texts.fitting, scores_of(logits[FIT]))
        fused = None if fusion is None else Fused(first_stage_of(run), fusion)
        reranker = replace(reranker, fused=fused)
    reranker.save(folder / MODEL)
    np.savez(folder / SCORES, **logits)  # type: ignore[arg-type]
    (folder / FIGURE).write_text(json.dumps(_figure(run, texts.tests[0], logits[TEST])), encoding="utf-8")


def read_candidates(reranker: Reranker, test: TestSet, near: np.ndarray, progress: Progress) -> np.ndarray:
    """Return the two logits of each candidate, (n, k, 2) float32; NaN for padding."""
    logits = np.full((*near.shape, 2), np.nan, dtype=np.float32)
    for start in range(0, len(near), QUERIES):
        chunk = near[start : start + QUERIES]
        places = np.argwhere(chunk >= 0)
        queries = test.queries.take(range(start, start + len(chunk)))
        passages, column = np.unique(chunk[chunk >= 0], return_inverse=True)
        pairs = np.column_stack([places[:, 0], column])
        part = part_of(progress, start / len(near), (start + len(chunk)) / len(near))
        logits[start + places[:, 0], places[:, 1]] = truth_logits(
            reranker, queries, test.passages.take(passages), pairs, part
        )
    return logits


def _figure(run: Run, test: TestSet, logits: np.ndarray) -> float:
    """Return the mean of the measure that chooses among seeds."""
    name = run.config.measures[0]
    ranking = ranked(found_passages(run, test.name), scores_of(logits), run.config.depth)
    return float(measured(ranking, test.gold, [name])[name].mean())


def best_training(folders: Iterable[Path]) -> Path:
    """Return the folder of the finished training that is best on the test; ties go to the first."""
    numbered = sorted(folders, key=lambda folder: (_number(folder.parent), _number(folder)))
    return max(numbered, key=lambda folder: float(json.loads((folder / FIGURE).read_text(encoding="utf-8"))))


def _number(folder: Path) -> int:
    """Return the number at the end of the folder's name."""
    return int(folder.name.rsplit("-")[-1])


def _keep_best(folder: Path) -> None:
    """Delete the models of the variant's finished trainings except the best one."""
    best = best_training(folder.glob("seed-*"))
    for training in folder.glob("seed-*"):
        if training != best:
            shutil.rmtree(training / MODEL, ignore_errors=True)


def ranking_rows(texts: RankingTexts, triples: np.ndarray, view: str) -> View:
    """Return the ranking rows, two per triple. triples: `_triples`."""
    if texts.triples is not None:
        return 2 * len(texts.triples), partial(_row_of_file, texts.triples, view)
    return 2 * len(triples), partial(_row_of_pair, texts, triples, view)


def _row_of_file(triples: TextTable, view: str, number: int) -> Row:
    right = number % 2 == 0
    [query], [passage] = (triples.take([number // 2], name) for name in ("query", "right" if right else "wrong"))
    return Row(view, query, passage, right)


def _row_of_pair(texts: RankingTexts, triples: np.ndarray, view: str, number: int) -> Row:
    query, *passages = triples[number // 2].tolist()
    [query_text], [passage] = texts.queries.take([query]), texts.passages.take([passages[number % 2]])
    return Row(view, query_text, passage, number % 2 == 0)


def right_rows(texts: RankingTexts, view: str) -> View:
    """Return the rows of the right pairs."""
    return len(texts.positives), partial(_right_row, texts, view)


def _right_row(texts: RankingTexts, view: str, number: int) -> Row:
    query, passage = texts.positives[number].tolist()
    return Row(view, texts.queries.take([query])[0], texts.passages.take([passage])[0])


def _triples(run: Run) -> np.ndarray:
    """Return rows (n, 3) of query, right and wrong passage; empty if the inputs have triples."""
    texts = texts_of(run)
    if texts.triples is not None:
        return np.empty((0, 3), dtype=np.int64)
    rng = np.random.default_rng([run.config.seed, 4])
    near = found_passages(run, TRAIN) if run.config.from_best else np.empty((len(texts.queries), 0), dtype=np.int64)
    drawn = draw_triples(texts.positives, texts.negatives, near, len(texts.passages), run.config.negatives, rng)
    if not len(drawn):
        raise InputError("no wrong passage is left to train on: every passage answers every query")
    return drawn


def draw_triples(
    positives: np.ndarray, negatives: np.ndarray, near: np.ndarray, passages: int, k: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw k wrong passages for each right pair, (n · k, 3): half known, half near, topped up at random.

    Known negatives alone are only as hard as people or the matcher chose them, and would teach nothing about the rest.
    positives, negatives: (n, 2) of query and passage; near: (queries, …) the first stage's finds.
    """
    right: dict[int, set[int]] = {}
    known: dict[int, list[int]] = {}
    for query, passage in positives.tolist():
        right.setdefault(query, set()).add(passage)
    for query, passage in negatives.tolist():
        known.setdefault(query, []).append(passage)
    rows = []
    for query, passage in positives.tolist():
        stated = [row for row in known.get(query, []) if row not in right[query]]
        hard = [row for row in near[query].tolist() if row >= 0 and row not in right[query] and row not in stated]
        known_first = rng.permutation(stated).tolist()
        half = -(-k // 2)
        drawn = [*known_first[:half], *rng.permutation(hard).tolist()[: k - len(known_first[:half])]]
        if near.shape[1]:
            drawn += known_first[half : half + k - len(drawn)]
        while len(drawn) < k and len(right[query]) < passages:
            random_passage = int(rng.integers(passages))
            drawn += [random_passage] if random_passage not in right[query] else []
        rows += [(query, passage, int(wrong)) for wrong in drawn]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)

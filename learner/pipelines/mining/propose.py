"""The stages that propose pairs: a bi-encoder trained on the seed pairs, vectors of all texts, and their margins."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.light.catalog.mining import MiningConfig
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.models.bi_encoder_training import (
    Retriever,
    lesson_of,
    load_retriever,
    new_retriever,
    train_retriever,
)
from allpairs.learner.pipelines.mining.answers.negatives import PassageAnswer
from allpairs.learner.pipelines.mining.answers.reading import PASSAGE, wrong_texts
from allpairs.learner.pipelines.mining.classifier import FILE as CLASSIFIER
from allpairs.learner.pipelines.mining.classifier import TextClassifier, passing_rows, probabilities
from allpairs.learner.pipelines.mining.development import best_model, retrieval_measure, watch_of, write_looks
from allpairs.learner.pipelines.mining.filters import period
from allpairs.learner.pipelines.mining.inputs import MiningTexts, mining_texts, tagger_of
from allpairs.learner.pipelines.mining.margin import mine_pairs
from allpairs.learner.pipelines.mining.shards import encode_list
from allpairs.learner.pipelines.mining.texts import CHUNK, DATE, ID, TEXT, TextList
from allpairs.learner.pipelines.pipeline import Run

RETRIEVER = "model"
PAIRS = "pairs.npz"
CANDIDATES = "candidates.jsonl"
COLUMNS = ("x_id", "y_id", "cos", "margin", "rank_forward", "rank_backward")
RANDOM_TEXTS = 20_000  # texts to draw random negatives from
DEV_OTHERS = 1_000  # random texts besides those of the development pairs, among which these are searched
SYNTHETIC = 8  # wrong second texts for each seed pair, if the task can construct them
_Trained = tuple[Retriever, TextClassifier | None]
ENCODED = 0.95  # share of the stage's work that encodes both lists


def train_retriever_stage(run: Run, folder: Path, progress: Progress) -> None:
    """Train the retriever, and the classifier if one is configured, and save both in the folder.

    Development pairs choose the learning rate and the step.
    """
    texts = mining_texts(run)
    config = run.config
    rng = np.random.default_rng([config.seed, 1])
    random_texts = {"x": sample(texts.x, RANDOM_TEXTS, rng), "y": sample(texts.y, RANDOM_TEXTS, rng)}
    wrong = wrong_of(run, texts, texts.asked, SYNTHETIC, rng)
    lesson = lesson_of(texts.directed(texts.seeds.pairs), random_texts["y"], wrong)
    dev_texts = dev_others(random_texts["y"], config.seed)

    def train(settings: RetrieverSettings, part: Progress) -> tuple[_Trained, BestWeights | None]:
        retriever = new_retriever(settings)
        classifier = _classifier(texts, config, retriever, random_texts)
        measure = retrieval_measure(retriever, texts.dev, dev_texts)
        best = watch_of(retriever.networks, measure, config.development, settings.learning_rate)
        train_retriever(retriever, lesson, settings, config.seed, part, classifier, best)
        return (retriever, classifier), best

    (retriever, classifier), looks = best_model(config.biencoder, config.development, train, progress)
    write_looks(folder, looks)
    retriever.save(folder / RETRIEVER)
    if classifier is not None:
        classifier.save(folder / CLASSIFIER)


def _classifier(
    texts: MiningTexts, config: MiningConfig, retriever: Retriever, random_texts: Mapping[str, Sequence[str]]
) -> TextClassifier | None:
    """Return the untrained classifier of the texts of one side, if one is configured."""
    side = config.classifier.side
    if side == "none":
        return None
    encoder = retriever.query if side == "x" else retriever.passage
    seeds = [pair["xy".index(side)] for pair in texts.seeds.pairs]
    size = config.biencoder.batch_size
    longest = config.biencoder.max_length
    return TextClassifier(encoder, seeds, random_texts[side], config.classifier, size, longest)


def wrong_of(
    run: Run, texts: MiningTexts, questions: Sequence[PassageAnswer], n: int, rng: np.random.Generator
) -> list[list[str]] | None:
    """Construct n wrong second texts for each of these pairs; None if the task cannot construct any."""
    if not questions:
        return None
    passages = sample(texts.y, RANDOM_TEXTS, rng, PASSAGE) + [question.passage for question in questions]
    wrong = wrong_texts(questions, list(dict.fromkeys(passages)), tagger_of(run.config), n, rng)
    if short := [question.question for question, drawn in zip(questions, wrong, strict=True) if not drawn]:
        raise InputError(f"no wrong passage was found for the question {short[0][:60]!r}: add more passages")
    return [[drawn[number % len(drawn)] for number in range(n)] for drawn in wrong]


def sample(texts: TextList, n: int, rng: np.random.Generator, column: str = TEXT) -> list[str]:
    """Return n random texts, or all if there are no more."""
    size = len(texts)
    return texts.take(np.sort(rng.choice(size, n, replace=False)), column) if size > n else texts.all(column)


def dev_others(texts: Sequence[str], seed: int) -> list[str]:
    """Return the random texts among which the second texts of development pairs are searched."""
    rng = np.random.default_rng([seed, 8])
    return [texts[row] for row in rng.permutation(len(texts))[:DEV_OTHERS]]


def encode_lists(run: Run, folder: Path, progress: Progress) -> None:
    """Write the vectors of both lists, and the rows that the classifier keeps, to the folder."""
    texts = mining_texts(run)
    config = run.config
    retriever = load_retriever(run.of("biencoder") / RETRIEVER)
    encode_all(texts, retriever, folder, part_of(progress, 0.0, ENCODED))
    for side in ("x",) if texts.one_list else ("x", "y"):
        vectors = np.load(folder / f"{side}.npy", mmap_mode="r")
        chosen = np.ones(len(vectors), dtype=bool)
        if config.classifier.side == side or (texts.one_list and config.classifier.side != "none"):
            head = run.of("biencoder") / CLASSIFIER
            parts = [probabilities(head, vectors[start : start + CHUNK]) for start in range(0, len(vectors), CHUNK)]
            chosen = passing_rows(np.concatenate(parts), config.classifier)
        if not chosen.any():
            problem = f"the classifier keeps none of the {len(chosen):,} texts in list {side}"
            raise InputError(f"{problem}: lower classifier.threshold, or keep a fraction")
        np.save(folder / f"{side}_rows.npy", np.flatnonzero(chosen))


def encode_all(texts: MiningTexts, retriever: Retriever, folder: Path, progress: Progress) -> None:
    """Write x.npy, and y.npy if the second texts have vectors of their own, to the folder."""
    lists = {"x": (retriever.query, texts.x), "y": (retriever.passage, texts.y)}
    names = ["x"] if texts.one_list else ["x", "y"]
    whole = sum(len(lists[name][1]) for name in names)
    before = 0
    for name in names:
        encoder, side = lists[name]
        part = part_of(progress, before / whole, (before + len(side)) / whole)
        encode_list(encoder, side, folder / f"{name}.npy", part)
        before += len(side)


class Vectors:
    """The results of the stage `vectors`, on disk: vectors (n, d) float16 and the kept rows of each side."""

    def __init__(self, folder: Path) -> None:
        self.x, self.x_rows = _side(folder, "x")
        self.y, self.y_rows = _side(folder, "y") if (folder / "y.npy").exists() else (self.x, self.x_rows)

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the kept vectors of both sides; those of a whole list stay on disk."""
        return _of_rows(self.x, self.x_rows), _of_rows(self.y, self.y_rows)


def _side(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    return np.load(folder / f"{name}.npy", mmap_mode="r"), np.load(folder / f"{name}_rows.npy")


def _of_rows(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return vectors if len(rows) == len(vectors) else vectors[rows]


def _periods(run: Run, texts: MiningTexts, vectors: Vectors) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the day, month or year of each kept text of both lists, if only texts of one are compared."""
    unit = run.config.filters.same_date
    if unit == "no":
        return None
    sides = (texts.x, vectors.x_rows), (texts.y, vectors.y_rows)
    x, y = (
        np.array([period(day, unit, side.path) for day in side.take(rows, DATE)], dtype=str) for side, rows in sides
    )
    return x, y


def propose_pairs(run: Run, folder: Path, progress: Progress) -> None:
    """Write the proposed pairs, largest margin first, as rows and by their ids, to the folder."""
    texts = mining_texts(run)
    vectors = Vectors(run.of("vectors"))
    x, y = vectors.kept()
    pairs = mine_pairs(x, None if texts.one_list else y, run.config.margin, progress, _periods(run, texts, vectors))
    pairs = replace(pairs, x=vectors.x_rows[pairs.x], y=vectors.y_rows[pairs.y])
    pairs.save(folder / PAIRS)
    columns = [
        texts.x.take(pairs.x, ID),
        texts.y.take(pairs.y, ID),
        pairs.cos.tolist(),
        pairs.margin.tolist(),
        pairs.rank_forward.tolist(),
        pairs.rank_backward.tolist(),
    ]
    with (folder / CANDIDATES).open("w", encoding="utf-8") as file:
        for values in zip(*columns, strict=True):
            file.write(json.dumps(dict(zip(COLUMNS, values, strict=True)), ensure_ascii=False) + "\n")

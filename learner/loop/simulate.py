"""The browser's rounds with gold labels in the annotator's place."""

import csv
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.formula import guarded
from allpairs.db.corpus.split import write_split
from allpairs.db.domain import Settings, batch_size_of
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.catalog import STRATEGIES
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.evaluation.exact import AllPairs
from allpairs.learner.evaluation.given_pairs import why_all_negative
from allpairs.learner.loop.bare import measured_bare
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.development import Development, near_by
from allpairs.learner.loop.round import choose, evaluate, refit
from allpairs.learner.models.cosine_bert import Labelled, train
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.scoring.lexical_weights import fit_lexical
from allpairs.learner.scoring.make_reference import with_reference
from allpairs.learner.scoring.matcher import Matcher, save_matcher
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.nearest import BYTES, SHARE, most_neighbours
from allpairs.learner.search.rescored import NOTHING
from allpairs.learner.second_stage.make import Staged, make_staged
from allpairs.learner.strategies.pool import Background, gold_of

Composition = list[tuple[int, int]]  # positives and negatives of each round
Start = Callable[[Encoder, Sequence[str], Progress], np.ndarray]  # how the pre-trained encoder's vectors are had


@dataclass
class Labels:
    """The labels collected so far, in the order of collection."""

    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    round: list[int] = field(default_factory=list)
    score: list[float] = field(default_factory=list)

    def add(self, dataset: Dataset, pairs: Pairs, number: int) -> None:
        """Label the round's pairs with gold; pairs that are not gold positives are negatives."""
        positives = dataset.keys(*dataset.positives.T)
        self.left += pairs.left.tolist()
        self.right += pairs.right.tolist()
        self.label += np.isin(dataset.keys(pairs.left, pairs.right), positives).astype(int).tolist()
        self.round += [number] * len(pairs)
        self.score += pairs.score.tolist()

    def keys(self, dataset: Dataset) -> np.ndarray:
        """Return one key for each labelled pair, (n,)."""
        labelled = self.arrays()
        return dataset.keys(labelled.left, labelled.right)

    def arrays(self) -> Labelled:
        return Labelled(*(np.array(column, dtype=np.int64) for column in (self.left, self.right, self.label)))


After = Callable[[Labels, Dataset, VectorScorer], None]


class Stopwatch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - start, 3)


@dataclass(frozen=True)
class _State:
    """What scores pairs after a round: the matcher, and its vectors of all texts.

    encoded: (texts, e) by its encoder; vectors: (texts, d) blended. Once there were labels of both classes, layer: the
    output layer of the first score; staged: that of the whole score, and its second stage.
    """

    matcher: Matcher
    encoded: np.ndarray
    vectors: np.ndarray
    layer: OutputLayer | None = None
    staged: Staged | None = None

    @property
    def scorer(self) -> VectorScorer:
        """The score of all pairs."""
        rescored = self.staged.rescored if self.staged else NOTHING
        return VectorScorer(self.vectors, self.matcher.layer, self.matcher.space, rescored)


def simulate(
    corpus: Corpus,
    encoder: Encoder,
    settings: Settings,
    rounds: int,
    out: Path,
    progress: Progress = no_progress,
    composition: Composition | None = None,
    development: Corpus | None = None,
    start: Start = Encoder.encode,
    sizes: Sequence[int] = (),
    after: After | None = None,
) -> list[dict[str, Any]]:
    """Run the rounds; return one object a round, as written to `out/rounds.jsonl`.

    Also writes labels.csv, split.csv, base.json and model/. base.json has the figures of the pre-trained encoder, where
    a simulation starts; a round that is not `trained`, because labels of one class are missing, has the same figures.
    The encoder gets the pooling and the distance of the settings, and is trained in place. composition: the positives
    and negatives of each round, for stratified-match. development: the corpus with the split of a development set,
    whose figures every round has as `development`. start: returns the pre-trained encoder's vectors of the texts.
    sizes: the pairs of each round, where the settings' first batch and growth do not say. after: called with the
    labels so far, the dataset and what scores its pairs, before the first round and after each.
    Raises InputError if there is nothing to measure or to train on, or if the strategy lacks what it needs.
    """
    dataset = dataset_of(corpus)
    _check(dataset)
    _check_strategy(dataset, settings, rounds, composition)
    _check_neighbours(len(dataset.train_left), settings.neighbours)
    beside = Development(development, dataset) if development else None
    encoder = encoder.variant(settings.pooling, settings.distance, settings.max_length)
    out.mkdir(parents=True, exist_ok=True)
    write_split(corpus, out / "split.csv")
    base = {name: value.clone() for name, value in encoder.model.state_dict().items()}
    rng = np.random.default_rng(settings.seed)
    labels, watch = Labels(), Stopwatch()
    with watch.stage("encode"):
        encoded, blend = start(encoder, dataset.texts, progress), Blend(settings.hubness)
        pretrained = blended(dataset, encoded, blend, settings.distance, progress)
    state = _State(Matcher(encoder, None, blend, columns=dataset.columns), encoded, pretrained)
    measured = _measure(dataset, state.scorer, settings, watch, progress)
    base_row = _row(0, labels, None, measured, watch) | near_by(dataset, encoded, progress)
    base_row |= _beside(beside, state, watch, progress)
    (out / "base.json").write_text(json.dumps(base_row, indent=2), encoding="utf-8")
    if after:
        after(labels, dataset, state.scorer)
    written = []
    with (out / "rounds.jsonl").open("w", encoding="utf-8") as file:
        for number in range(1, rounds + 1):
            watch = Stopwatch()
            with watch.stage("choose"):
                known, size = labels.keys(dataset), sizes[number - 1] if sizes else _size(number, settings)
                gold = gold_of(dataset, known, composition[number - 1] if composition else None)
                seen = Background(labels.arrays(), pretrained, gold)
                space = state.matcher.space
                batch = choose(dataset, state.vectors, state.layer, known, size, settings, rng, progress, seen, space)
            labels.add(dataset, batch.pairs, number)
            if labels.arrays().has_both_classes:
                if not settings.warm_start:
                    encoder.model.load_state_dict(base)
                state = _trained(state, dataset, labels.arrays(), pretrained, number, settings, watch, progress)
            measured = _measure(dataset, state.scorer, settings, watch, progress)
            row = _row(number, labels, state.staged, measured, watch) | {"stated": corpus.stated}
            row |= {"search": batch.near.as_dict()} if batch.near else {}
            written.append(row | _beside(beside, state, watch, progress))
            _write_line(file, written[-1])
            _write_labels(corpus, labels, out / "labels.csv")
            if after:
                after(labels, dataset, state.scorer)
    matcher, bare = state.matcher, {}
    if state.staged is not None:
        bare = measured_bare(dataset, state.vectors, matcher.blend, labels.arrays(), settings, progress)
        own = np.random.default_rng(settings.seed)
        matcher = with_reference(matcher, dataset, state.vectors, own, state.staged.competition)
    _save(matcher, measured, labels, settings, out / "model", bare)
    return written


def _trained(
    before: _State, dataset: Dataset, labelled: Labelled, pretrained: np.ndarray, number: int, settings: Settings,
    watch: Stopwatch, progress: Progress,
) -> _State:  # fmt: skip
    """Train the encoder in place on the labels, and return what scores with it."""
    encoder, space, blend = before.matcher.encoder, before.matcher.space, before.matcher.blend
    with watch.stage("train"):
        train(encoder, dataset.texts, labelled, settings, progress, offset=pretrained[:, -1])
    with watch.stage("encode"):
        encoded = encoder.encode(dataset.texts, progress)
        if settings.lexical:
            blend = Blend(settings.hubness, fit_lexical(dataset, labelled, pretrained))
        vectors = blended(dataset, encoded, blend, settings.distance, progress)
        layer = refit(vectors, labelled, space)
    with watch.stage("second_stage"):
        use, own = settings.second_stage, np.random.default_rng([settings.seed, number, 3])
        staged = make_staged(dataset, vectors, labelled, layer, use, own, space, progress)
    matcher = replace(before.matcher, layer=staged.layer, blend=blend, second=staged.second)
    return _State(matcher, encoded, vectors, layer, staged)


def composition_of(labels_csv: Path) -> Composition:
    """Return how many positives and negatives each round of a simulation collected, from its labels.csv.

    Raises InputError if the file is not one.
    """
    try:
        with labels_csv.open(encoding="utf-8", newline="") as file:
            rows = [(int(row["round"]), int(row["label"])) for row in csv.DictReader(file)]
    except (OSError, KeyError, ValueError, TypeError) as error:
        what = f"{labels_csv} does not list what each round collected ({error!r})"
        raise InputError(f"{what}: give the labels.csv of a simulation by uncertainty") from error
    counts = Counter(rows)
    return [(counts[number, 1], counts[number, 0]) for number in range(1, max(counts, default=(0, 0))[0] + 1)]


def _size(number: int, settings: Settings) -> int:
    """Return the number of pairs that round `number`, counted from 1, collects."""
    return batch_size_of(number - 1, settings.first, settings.growth, settings.growth_kind)


def _check(dataset: Dataset) -> None:
    if all_negative := why_all_negative(dataset):
        raise InputError(all_negative)
    if not len(dataset.evaluation_positives):
        raise InputError("no gold positive is among the evaluation items: use a larger --test-fraction or more gold")
    if not len(dataset.train_left) or not len(dataset.train_right):
        raise InputError("no training pairs are left: use a smaller --test-fraction")


def _check_strategy(dataset: Dataset, settings: Settings, rounds: int, composition: Composition | None) -> None:
    if settings.lexical and settings.distance != "cosine":
        raise InputError(f"--lexical needs the cosine, not {settings.distance}: leave out --lexical")
    if settings.second_stage == "on" and settings.distance != "cosine":
        raise InputError(f"--second-stage on needs the cosine, not {settings.distance}: leave it out")
    name, gold = settings.strategy, gold_of(dataset, np.empty(0, dtype=np.int64))
    if STRATEGIES[name].seed == "stated" and len(gold.given) == len(gold.positives):
        what = f"{name} needs given negatives, but gold has none among the training pairs"
        raise InputError(f"{what}: add pairs with label 0, or choose another strategy")
    if name == "stratified-match" and len(composition or []) < rounds:
        what = f"{name} copies another run, which has {len(composition or [])} of the {rounds} rounds asked for"
        raise InputError(f"{what}: give --match-labels the labels.csv of an uncertainty run with as many rounds")


def _check_neighbours(texts: int, wanted: int) -> None:
    """Raise InputError if memory holds fewer neighbours of each text than wanted: a simulation changes no setting."""
    most = most_neighbours(texts)
    if most < wanted:
        memory = wanted * texts * BYTES / SHARE / 1e9
        what = f"{wanted:,} neighbours of {texts:,} texts need a machine with {memory:,.0f} GB of memory"
        raise InputError(f"{what}: use one, or at most {most:,} neighbours")


def _measure(
    dataset: Dataset, scorer: VectorScorer, settings: Settings, watch: Stopwatch, progress: Progress
) -> AllPairs:
    with watch.stage("evaluate"):
        measured = evaluate(
            dataset, scorer.vectors, progress, scorer.layer, scorer.space, settings.seed, rescored=scorer.rescored
        )
    assert measured is not None  # _check found a positive
    return measured


def _beside(development: Development | None, state: _State, watch: Stopwatch, progress: Progress) -> dict[str, Any]:
    """Return the figures of the development set under its name, if there is one."""
    if development is None:
        return {}
    with watch.stage("development"):
        return {"development": development.measure(state.matcher, state.encoded, progress)}


def _row(number: int, labels: Labels, staged: Staged | None, measured: AllPairs, watch: Stopwatch) -> dict[str, Any]:
    row = {
        **{name: estimate.as_dict() for name, estimate in measured.estimates.items()},
        "round": number,
        "labels": len(labels.label),
        "positives": sum(labels.label),  # among the labels; those of the evaluation pairs are below
        "trained": staged is not None,
        "pairs": measured.pairs,
        "evaluation_positives": measured.positives,
        "seconds": watch.seconds,
    }
    if staged is None or staged.gain is None:
        return row
    return row | {"second_stage": {"used": staged.second is not None, "gain": staged.gain}}


def _write_line(file: TextIO, row: dict[str, Any]) -> None:
    file.write(json.dumps(row) + "\n")
    file.flush()


def _write_labels(corpus: Corpus, labels: Labels, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id1", "id2", "label", "round", "score"])
        for left, right, label, number, score in zip(
            labels.left, labels.right, labels.label, labels.round, labels.score, strict=True
        ):
            ids = corpus.items[left].ids[0], corpus.items[right].ids[0]
            writer.writerow([*map(guarded, ids), label, number, f"{score:.6f}"])


def _save(
    matcher: Matcher, measured: AllPairs, labels: Labels, settings: Settings, folder: Path, bare: dict[str, Any]
) -> None:
    save_matcher(
        matcher,
        folder,
        labels=len(labels.label),
        positives=sum(labels.label),
        settings=settings.model_dump(),
        curve=measured.curve.thinned().as_dict(),
        average_precision=measured.estimates["average_precision"].as_dict(),
        **bare,
    )

"""The browser's rounds with gold labels in the annotator's place."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.split import write_split
from allpairs.db.domain import Settings, batch_size_of
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.evaluation.exact import AllPairs
from allpairs.learner.evaluation.given_pairs import why_none_to_measure
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.loop.bare import measured_bare
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.development import DevelopmentSet, near_by
from allpairs.learner.loop.round import choose, evaluate_dataset, refit
from allpairs.learner.loop.simulated_labels import Composition, Labels
from allpairs.learner.models.cosine_bert import train
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.scoring.lexical_weights import fit_lexical
from allpairs.learner.scoring.make_reference import with_reference
from allpairs.learner.scoring.matcher import PairModel, save_matcher
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.scoring.untrained import untrained_stage
from allpairs.learner.search.nearest import BYTES, SHARE, Near, most_neighbours
from allpairs.learner.search.rescored import NOTHING
from allpairs.learner.second_stage.make import Staged, make_staged
from allpairs.learner.strategies.pool import Background, gold_of

Start = Callable[[Encoder, Sequence[str], Progress], np.ndarray]  # how the pre-trained encoder's vectors are had
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

    matcher: PairModel
    encoded: np.ndarray
    vectors: np.ndarray
    layer: OutputLayer | None = None
    staged: Staged | None = None

    @property
    def scorer(self) -> VectorScorer:
        """The score of all pairs."""
        rescored = self.staged.rescored if self.staged else NOTHING
        return VectorScorer(self.vectors, self.matcher.layer, self.matcher.space, rescored)


def run_simulation(
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

    Also writes labels.csv, split.csv, base.json and model/, in place of those of an earlier simulation. base.json has
    the figures of the pre-trained encoder, where a simulation starts; a round that is not `trained`, because labels of
    one class are missing, has the same figures.
    The encoder gets the pooling and the distance of the settings, and is trained in place. composition: the positives
    and negatives of each round, for stratified-match. development: the corpus with the split of a development set,
    whose figures every round has as `development`. start: returns the pre-trained encoder's vectors of the texts.
    sizes: the pairs of each round, where the settings' first batch and growth do not say. after: called with the
    labels so far, the dataset and what scores its pairs, before the first round and after each.
    Raises InputError if there is nothing to measure or to train on, or if an input of the strategy is missing.
    """
    dataset = dataset_of(corpus)
    _check(dataset)
    _check_strategy(dataset, settings, rounds, composition)
    _check_neighbours(len(dataset.train_left), settings.neighbours)
    development_set = DevelopmentSet(development, dataset) if development else None
    encoder = encoder.variant(settings.pooling, settings.distance, settings.max_length)
    out.mkdir(parents=True, exist_ok=True)
    _clear(out)
    write_split(corpus, out / "split.csv")
    simulation = _Simulation(dataset, encoder, settings, development_set, progress, start)
    (out / "base.json").write_text(json.dumps(simulation.row, indent=2), encoding="utf-8")
    if after:
        after(simulation.labels, dataset, simulation.state.scorer)
    written = []
    with (out / "rounds.jsonl").open("w", encoding="utf-8") as file:
        for number in range(1, rounds + 1):
            size = sizes[number - 1] if sizes else _size(number, settings)
            simulation.add_round(number, size, composition[number - 1] if composition else None)
            written.append(simulation.row | {"stated": corpus.stated})
            _write_line(file, written[-1])
            simulation.labels.write(corpus, out / "labels.csv")
            if after:
                after(simulation.labels, dataset, simulation.state.scorer)
    simulation.save(out / "model")
    return written


def _clear(out: Path) -> None:
    """Remove what an earlier simulation wrote, so that one that is stopped leaves nothing of two."""
    for name in ("split.csv", "base.json", "rounds.jsonl", "labels.csv"):
        (out / name).unlink(missing_ok=True)
    shutil.rmtree(out / "model", ignore_errors=True)


class _Simulation:
    """The labels so far, what scores pairs with them, and its figures: row, as it is written."""

    def __init__(
        self,
        dataset: Dataset,
        encoder: Encoder,
        settings: Settings,
        development_set: DevelopmentSet | None,
        progress: Progress,
        start: Start,
    ) -> None:
        self.dataset = dataset
        self.encoder = encoder
        self.settings = settings
        self.development_set = development_set
        self.progress = progress
        self.base = {name: value.clone() for name, value in encoder.model.state_dict().items()}
        self.rng = np.random.default_rng(settings.seed)
        self.labels = Labels()
        watch = Stopwatch()
        with watch.stage("encode"):
            encoded = start(encoder, dataset.texts, progress)
            blend = Blend(settings.hubness)
            self.pretrained = blended(dataset, encoded, blend, settings.distance, progress)
        self.state = _State(PairModel(encoder, None, blend, columns=dataset.columns), encoded, self.pretrained)
        self.measured = self._measure(watch)
        self.row = self._row(0, watch, near_by(dataset, encoded, progress))

    def add_round(self, number: int, size: int, composition: tuple[int, int] | None) -> None:
        """Label the pairs that the strategy chooses, train on all labels if they have both classes, and measure."""
        watch = Stopwatch()
        near = self._collect(number, size, composition, watch)
        if self.labels.arrays().has_both_classes:
            if not self.settings.warm_start:
                self.encoder.model.load_state_dict(self.base)
            self._train(number, watch)
        self.measured = self._measure(watch)
        self.row = self._row(number, watch, {"search": near.as_dict()} if near else {})

    def _collect(self, number: int, size: int, composition: tuple[int, int] | None, watch: Stopwatch) -> Near | None:
        """Label the round's pairs, and return those that they were chosen from, if the strategy asked for them."""
        state = self.state
        known = self.labels.keys(self.dataset)
        with watch.stage("choose"):
            background = Background(self.labels.arrays(), self.pretrained, gold_of(self.dataset, known, composition))
            batch = choose(
                self.dataset,
                state.vectors,
                state.layer,
                known,
                size,
                self.settings,
                self.rng,
                self.progress,
                background,
                state.matcher.space,
                self.by_columns,
            )
        self.labels.add(self.dataset, batch.pairs, number)
        return batch.near

    @property
    def by_columns(self) -> Staged | None:
        """The whole score, if it compares columns: then it chooses."""
        staged = self.state.staged
        if staged is None:
            return self.untrained
        return staged if staged.by_columns else None

    @cached_property
    def untrained(self) -> Staged | None:
        """What chooses before there are labels of both classes, if columns are compared."""
        return untrained_stage(self.dataset, self.pretrained, self.settings, self.progress)

    def _train(self, number: int, watch: Stopwatch) -> None:
        """Train the encoder in place on the labels, and make what scores with it."""
        dataset = self.dataset
        settings = self.settings
        progress = self.progress
        labelled = self.labels.arrays()
        space = self.state.matcher.space
        blend = self.state.matcher.blend
        with watch.stage("train"):
            train(self.encoder, dataset.texts, labelled, settings, progress, offset=self.pretrained[:, -1])
        with watch.stage("encode"):
            encoded = self.encoder.encode(dataset.texts, progress)
            if settings.lexical:
                blend = Blend(settings.hubness, fit_lexical(dataset, labelled, self.pretrained))
            vectors = blended(dataset, encoded, blend, settings.distance, progress)
            layer = refit(vectors, labelled, space)
        with watch.stage("second_stage"):
            use = settings.second_stage
            rng = np.random.default_rng([settings.seed, number, 3])
            staged = make_staged(dataset, vectors, labelled, layer, use, rng, space, progress)
        matcher = replace(self.state.matcher, layer=staged.layer, blend=blend, second=staged.second)
        self.state = _State(matcher, encoded, vectors, layer, staged)

    def _measure(self, watch: Stopwatch) -> AllPairs:
        scorer = self.state.scorer
        seed = self.settings.seed
        with watch.stage("evaluate"):
            measured = evaluate_dataset(
                self.dataset, scorer.vectors, self.progress, scorer.layer, scorer.space, seed, rescored=scorer.rescored
            )
        assert measured is not None  # _check found a positive
        return measured

    def _row(self, number: int, watch: Stopwatch, more: dict[str, Any]) -> dict[str, Any]:
        """Return the figures of this round, and of the development set under its name, if there is one."""
        development_figures = {}
        staged = self.state.staged
        if self.development_set:
            with watch.stage("development"):
                figures = self.development_set.measure(self.state.matcher, self.state.encoded, self.progress)
            development_figures["development"] = figures
        row = {
            **{name: estimate.as_dict() for name, estimate in self.measured.estimates.items()},
            "round": number,
            "labels": len(self.labels.label),
            "positives": sum(self.labels.label),  # among the labels; those of the evaluation pairs are below
            "trained": staged is not None,
            "pairs": self.measured.pairs,
            "evaluation_positives": self.measured.positives,
            "seconds": watch.seconds,
        }
        if staged is not None and staged.gain is not None:
            row |= {"second_stage": {"used": staged.second is not None, "gain": staged.gain}}
        return row | more | development_figures

    def save(self, folder: Path) -> None:
        """Save the newest matcher as `allpairs match` and `allpairs.Matcher` read it."""
        dataset = self.dataset
        settings = self.settings
        state = self.state
        bare = {}
        matcher = state.matcher
        if state.staged is not None:
            labelled = self.labels.arrays()
            rng = np.random.default_rng(settings.seed)
            bare = measured_bare(dataset, state.vectors, matcher.blend, labelled, settings, self.progress)
            matcher = with_reference(matcher, dataset, state.vectors, rng, state.staged.competition)
        save_matcher(
            matcher,
            folder,
            labels=len(self.labels.label),
            positives=sum(self.labels.label),
            settings=settings.model_dump(),
            curve=self.measured.curve.thinned().as_dict(),
            average_precision=self.measured.estimates["average_precision"].as_dict(),
            **bare,
        )


def _size(number: int, settings: Settings) -> int:
    """Return the number of pairs that round `number`, counted from 1, collects."""
    return batch_size_of(number - 1, settings.first, settings.growth, settings.growth_kind)


def _check(dataset: Dataset) -> None:
    if not len(dataset.evaluation_positives):
        raise InputError(why_none_to_measure(dataset))
    if not len(dataset.train_left) or not len(dataset.train_right):
        raise InputError("no training pairs are left: use a smaller --test-fraction")


def _check_strategy(dataset: Dataset, settings: Settings, rounds: int, composition: Composition | None) -> None:
    if settings.lexical and settings.distance != "cosine":
        raise InputError(f"--lexical needs the cosine, not {settings.distance}: leave out --lexical")
    if settings.second_stage == "on" and settings.distance != "cosine":
        raise InputError(f"--second-stage on needs the cosine, not {settings.distance}: leave it out")
    name = settings.strategy
    gold = gold_of(dataset, np.empty(0, dtype=np.int64))
    if STRATEGIES[name].seed == "stated" and len(gold.known) == len(gold.positives):
        problem = f"{name} needs given negatives, but gold has none among the training pairs"
        raise InputError(f"{problem}: add pairs with label 0, or choose another strategy")
    if name == "stratified-match" and len(composition or []) < rounds:
        problem = f"{name} copies another run, which has {len(composition or [])} of the {rounds} rounds asked for"
        raise InputError(f"{problem}: give --match-labels the labels.csv of an uncertainty run with as many rounds")


def _check_neighbours(texts: int, neighbours: int) -> None:
    """Raise InputError if memory does not hold the neighbours of each text: a simulation changes no setting."""
    most = most_neighbours(texts)
    if most < neighbours:
        memory = neighbours * texts * BYTES / SHARE / 1e9
        problem = f"{neighbours:,} neighbours of {texts:,} texts need a machine with {memory:,.0f} GB of memory"
        raise InputError(f"{problem}: use one, or at most {most:,} neighbours")


def _write_line(file: TextIO, row: dict[str, Any]) -> None:
    file.write(json.dumps(row) + "\n")
    file.flush()

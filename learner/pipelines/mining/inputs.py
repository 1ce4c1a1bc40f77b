"""The first stage: check the inputs and copy them into files for the other stages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from allpairs.db.corpus.cells import Ids, label_of, present_columns
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.light.catalog.mining import READING, MiningConfig
from allpairs.learner.metrics.text import squad_form
from allpairs.learner.models.model_folder import require_folder
from allpairs.learner.pipelines.mining.answers.entities import EntityTagger, PatternTagger, spacy_tagger
from allpairs.learner.pipelines.mining.answers.negatives import PassageAnswer
from allpairs.learner.pipelines.mining.answers.reading import (
    ANSWER,
    SEED_COLUMNS,
    load_answered,
    questions_as_pairs,
    read_answered,
    rows_of_answers,
    write_answered,
    write_candidates,
)
from allpairs.learner.pipelines.mining.filters import KnownSeeds
from allpairs.learner.pipelines.mining.texts import (
    DATE,
    ID,
    TEXT,
    TextList,
    copy_texts,
    read_text_pairs,
    require_columns,
)
from allpairs.learner.pipelines.pipeline import Run

LEAST_SEEDS = 2
SEEDS = "seeds.json"
DEV = "dev.json"
TEST = "test.json"
GOLD = "gold.npy"
# The same, for reading comprehension.
SEEDS_ASKED = "seeds_asked.json"
DEV_ASKED = "dev_asked.json"
TEST_ASKED = "test_asked.json"


@dataclass(frozen=True)
class MiningTexts:
    """The inputs of a run, read from its first stage; y is x for pairs within one list."""

    folder: Path

    @property
    def one_list(self) -> bool:
        """Whether pairs are made within one list."""
        return not (self.folder / "y.parquet").exists()

    @property
    def x(self) -> TextList:
        """The first texts."""
        return TextList(self.folder / "x.parquet")

    @property
    def y(self) -> TextList:
        """The second texts."""
        return self.x if self.one_list else TextList(self.folder / "y.parquet")

    @cached_property
    def seeds(self) -> KnownSeeds:
        """The seed pairs."""
        return KnownSeeds(self._pairs(SEEDS), self.one_list)

    def directed(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the training pairs: within one list, where their order does not matter, each in both directions."""
        return [*pairs, *((y, x) for x, y in pairs)] if self.one_list else list(pairs)

    @cached_property
    def asked(self) -> list[PassageAnswer]:
        """The seed pairs as questions with passages and answers; empty for other tasks."""
        return load_answered(self.folder / SEEDS_ASKED)

    @cached_property
    def test_asked(self) -> list[PassageAnswer]:
        """The test pairs likewise."""
        return load_answered(self.folder / TEST_ASKED)

    @cached_property
    def dev_asked(self) -> list[PassageAnswer]:
        """The development pairs likewise."""
        return load_answered(self.folder / DEV_ASKED)

    @cached_property
    def test(self) -> list[tuple[str, str]]:
        """The test pairs; empty if there are none."""
        return self._pairs(TEST)

    @cached_property
    def dev(self) -> list[tuple[str, str]]:
        """The development pairs; empty if there are none."""
        return self._pairs(DEV)

    def _pairs(self, name: str) -> list[tuple[str, str]]:
        path = self.folder / name
        return [(x, y) for x, y in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []

    @cached_property
    def gold(self) -> np.ndarray | None:
        """Rows (n, 2) int64 of the known positives, smaller rows first in one list; None if none are known."""
        path = self.folder / GOLD
        return np.load(path) if path.exists() else None

    @cached_property
    def positives(self) -> set[tuple[int, int]]:
        """The known positives as pairs of rows."""
        return set() if self.gold is None else set(map(tuple, self.gold.tolist()))


def mining_texts(run: Run) -> MiningTexts:
    """Return the texts that the run's first stage has read."""
    return MiningTexts(run.of("texts"))


def check_mining_inputs(run: Run) -> None:
    """Raise InputError if a file lacks a column, or there are too few seed pairs."""
    inputs = run.inputs
    config = run.config
    if inputs.corpus_y is None and config.biencoder.towers == 2:
        raise InputError("biencoder.towers: two encoders need two lists, but there is only one: choose 1")
    for backbone in (*config.biencoder.backbones, config.crossencoder.backbone, config.reader.backbone):
        require_folder(backbone)
    reading = config.kind == READING
    if reading:
        tagger_of(config)
    if reading and inputs.corpus_y is None:
        raise InputError("inputs.corpus_y: reading comprehension needs passages as the second list: add their file")
    dated = [DATE] if config.filters.same_date != "no" else []
    for path in (inputs.corpus_x, inputs.corpus_y):
        if path is not None:
            require_columns(Path(path), [ID, TEXT, *dated])
    if inputs.gold is not None:
        require_columns(Path(inputs.gold), ["id1", "id2", *([ANSWER] if reading else [])])
    for path in (inputs.dev_pairs, inputs.test_pairs):
        if path is not None:
            require_columns(Path(path), SEED_COLUMNS if reading else ("x", "y"))
    if inputs.dev_pairs is not None and not _pairs(Path(inputs.dev_pairs), reading):
        raise InputError(f"{Path(inputs.dev_pairs).name}: the file has no pairs: add some, or leave it out")
    if config.development.learning_rates and inputs.dev_pairs is None:
        raise InputError("development.learning_rates: only development pairs can choose one: add inputs.dev_pairs")
    seeds = Path(inputs.seed_pairs)
    require_columns(seeds, SEED_COLUMNS if reading else ("x", "y"))
    if (count := len(_pairs(seeds, reading))) < LEAST_SEEDS:
        raise InputError(
            f"{seeds.name}: only {count} of at least {LEAST_SEEDS} seed pairs: add some (the paper uses 100)"
        )


def _pairs(path: Path, reading: bool) -> list[tuple[str, str]]:
    return questions_as_pairs(read_answered(path)) if reading else read_text_pairs(path)


def read_mining_inputs(run: Run, folder: Path, progress: Progress) -> None:
    """Write texts, seed pairs and known pairs to the folder."""
    inputs = run.inputs
    config = run.config
    reading = config.kind == READING
    dated = config.filters.same_date != "no"
    for path, file, as_asked in (
        (inputs.seed_pairs, SEEDS, SEEDS_ASKED),
        (inputs.dev_pairs, DEV, DEV_ASKED),
        (inputs.test_pairs, TEST, TEST_ASKED),
    ):
        if path is not None:
            (folder / file).write_text(json.dumps(_pairs(Path(path), reading)), encoding="utf-8")
        if path is not None and reading:
            write_answered(folder / as_asked, read_answered(Path(path)))
    copy_texts(Path(inputs.corpus_x), folder / "x.parquet", dated, part_of(progress, 0.0, 0.5))
    if inputs.corpus_y is not None:
        _second(Path(inputs.corpus_y), folder / "y.parquet", config, part_of(progress, 0.5, 1.0))
    if inputs.gold is not None:
        known = _known_answers if reading else _gold
        np.save(folder / GOLD, known(Path(inputs.gold), MiningTexts(folder)))


def _second(source: Path, target: Path, config: MiningConfig, progress: Progress) -> None:
    if config.kind == READING:
        write_candidates(source, target, tagger_of(config), progress)
    else:
        copy_texts(source, target, config.filters.same_date != "no", progress)


def tagger_of(config: MiningConfig) -> EntityTagger:
    """Return the tagger that finds candidate answers."""
    return PatternTagger() if config.tagger == "patterns" else spacy_tagger(config.tagger)


def _known_answers(path: Path, texts: MiningTexts) -> np.ndarray:
    """Return rows (n, 2) of questions and of the candidates that match their answers in SQuAD's normal form."""
    questions = _rows_by_id(texts.x)
    answers = rows_of_answers(texts.y)
    positives: set[tuple[int, int]] = set()
    for row in read_rows(path, ("id1", "id2", ANSWER)):
        question, passage, answer = row.values
        if (question_row := questions.get(question)) is not None:
            positives |= {(question_row, answer_row) for answer_row in answers.get((passage, squad_form(answer)), ())}
    return np.array(sorted(positives), dtype=np.int64).reshape(-1, 2)


def _gold(path: Path, texts: MiningTexts) -> np.ndarray:
    """Return rows (n, 2) of the positives in the table, without pairs of texts that are not in the lists."""
    x = _rows_by_id(texts.x)
    y = x if texts.one_list else _rows_by_id(texts.y)
    labels = present_columns(["label"], column_names(path), path.name)
    positives: set[tuple[int, int]] = set()
    for row in read_rows(path, ("id1", "id2", *labels)):
        label = label_of(row.values[2], path, row.number) if labels else True
        pair = x.get(row.values[0]), y.get(row.values[1])
        if label and pair[0] is not None and pair[1] is not None:
            positives.add((min(pair), max(pair)) if texts.one_list else pair)  # type: ignore[type-var, arg-type]
    return np.array(sorted(positives), dtype=np.int64).reshape(-1, 2)


def _rows_by_id(texts: TextList) -> Ids:
    return Ids({id_.strip(): row for row, id_ in enumerate(id_ for chunk in texts.chunks(ID) for id_ in chunk)})

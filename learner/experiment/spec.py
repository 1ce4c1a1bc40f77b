"""The specification of an experiment: data sets, rows and seeds from TOML, and the cells of their grid."""

import hashlib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from allpairs.db.domain import DEFAULT_ENCODER, Settings, Stated
from allpairs.db.errors import InputError, first_wrong, nearest_of
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.scorers.cross_encoder import ConcatSettings

# The first draws as many of each class as the second collected.
MATCHED = "stratified-match"
REFERENCE = "uncertainty"
PATHS = ("left", "right", "gold", "split", "development")
LABELS = "labels"  # the file that only comparisons of encoders have
MethodName = Literal["exact", "near-random", "stratified"]

# Names become folders, so they are restricted to what every file system accepts.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,59}$", strip_whitespace=True)]


class SpecModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Files(SpecModel):
    """The files of one data set, as `allpairs simulate` takes them, and which of the paper's data sets they are.

    columns: the text columns of each list and what they hold, as a project stores them, in place of `text_columns`.
    labels: of training pairs, which compare encoders; these need no gold.
    """

    left: Path
    gold: Path | None = None
    right: Path | None = None
    split: Path | None = None
    development: Path | None = None  # the split of a development set, which is measured beside the test set
    labels: Path | None = None
    id_column: str = "id"
    text_columns: list[str] = Field(["text"], min_length=1)
    columns: dict[str, list[str]] | None = None
    test_fraction: float = Field(0.5, gt=0, lt=1)
    paper: Literal["qqp", "wikiqa"] | None = None  # whose figures are compared with ours
    part: Literal["dev", "test"] = "test"  # the paper's part that the evaluation items are
    stated: Stated = Stated.CLOSED  # whether accuracy and F1 count the positives that closure adds


class GridRow(SpecModel):
    """One line of the tables: a strategy, ConcatBERT on the labels of another row, or an encoder on given labels.

    The settings of a concat row are those of `ConcatSettings`, those of other rows are those of projects.
    """

    name: Name
    kind: Literal["cosine", "concat", "encoder"] = "cosine"
    strategy: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    rounds: int | None = Field(None, ge=1)
    labels: str | None = None  # the row whose labels a concat row uses, or whose counts a matched row uses
    backbone: str = DEFAULT_ENCODER  # of concat rows and encoders
    sample: int = Field(20_000, ge=100)  # negatives that a concat row is measured with
    method: MethodName | None = None  # how it is measured; None: by the pairs
    base: str = DEFAULT_ENCODER  # the encoder that tells near pairs from far ones in a sampled method


class Concat(SpecModel):
    """How a ConcatBERT is trained and measured."""

    backbone: str
    sample: int
    settings: ConcatSettings
    method: MethodName | None = None
    base: str = DEFAULT_ENCODER


class Cell(SpecModel):
    """One run: a row on a data set with a seed. `digest` identifies the data; `source`: the cell whose labels it uses.

    Equal cells have equal results, so a finished run is recognised by its cell.
    """

    dataset: str
    digest: str
    row: str
    seed: int
    rounds: int
    settings: Settings
    concat: Concat | None = None
    source: "Cell | None" = None
    kind: Literal["loop", "encoder"] = "loop"

    @property
    def folder(self) -> Path:
        """The run's folder below the experiment's."""
        return Path("runs", self.dataset, self.row, f"seed-{self.seed}")

    @property
    def title(self) -> str:
        return f"{self.dataset} {self.row} seed {self.seed}"


class Experiment(SpecModel):
    """A grid: every row with every seed on every data set; `settings` apply to all rows."""

    name: str = Field(min_length=1, max_length=200)
    datasets: dict[Name, Files] = Field(min_length=1)
    rows: list[GridRow] = Field(min_length=1)
    seeds: list[Annotated[int, Field(ge=0, le=2**31 - 1)]] = Field([0], min_length=1)
    rounds: int = Field(4, ge=1)
    settings: dict[str, Any] = Field(default_factory=dict)
    reach: list[Annotated[float, Field(gt=0, lt=1)]] = Field(
        default_factory=list
    )  # AP values whose cost in labels is reported
    baseline: str | None = None  # the row to compare others with; default: the first
    keep_models: bool = False

    @property
    def compares_encoders(self) -> bool:
        """Whether it compares encoders on labels, in place of simulating."""
        return any(row.kind == "encoder" for row in self.rows)

    @model_validator(mode="after")
    def _check(self) -> Self:
        _distinct("row", [row.name for row in self.rows])
        _distinct("seed", list(map(str, self.seeds)))
        for place, row in enumerate(self.rows):
            _check_row(row, [earlier.name for earlier in self.rows[:place]])
            labels_row(self, row)
            settings_of(self, row, 0)
            concat_of(row, 0)
        _check_kinds(self)
        if self.baseline is not None and self.baseline not in {row.name for row in self.rows}:
            raise InputError(f"baseline {self.baseline!r} is not a row: name one of the rows")
        return self


def _check_kinds(experiment: Experiment) -> None:
    """Raise InputError unless all rows are encoders or none is, and the data sets have the known answers they need."""
    encoders = {row.kind == "encoder" for row in experiment.rows}
    if len(encoders) > 1:
        raise InputError("encoders are compared by themselves: give the other rows an experiment of their own")
    needed = LABELS if experiment.compares_encoders else "gold"
    for name, files in experiment.datasets.items():
        if getattr(files, needed) is None:
            raise InputError(f'dataset {name!r} has no {needed}: name the file, {needed} = "…"')


def _distinct(kind: str, values: list[str]) -> None:
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise InputError(f"{kind} {twice!r} occurs twice: give each {kind} once")


def _check_row(row: GridRow, above: list[str]) -> None:
    if row.kind == "cosine" and row.strategy not in STRATEGIES:
        raise InputError(
            f"row {row.name!r}: strategy {row.strategy!r} is not known; {nearest_of(str(row.strategy), STRATEGIES)}"
        )
    if row.labels is not None and row.labels not in above:
        raise InputError(f"row {row.name!r} uses the labels of {row.labels!r}: put a row of that name above it")
    if row.kind == "concat" and row.labels is None:
        raise InputError(f'row {row.name!r} has kind concat: name the row whose labels it is trained on, labels = "…"')
    if unknown := sorted({"strategy", "seed"} & row.settings.keys()):
        raise InputError(
            f"row {row.name!r}: {unknown[0]} is not a setting of a row: strategies and seeds span the grid"
        )


def labels_row(experiment: Experiment, row: GridRow) -> GridRow | None:
    """Return the row whose labels this one needs. Raises InputError if a matched row has none to match."""
    source = row.labels
    if source is not None:
        return next(candidate for candidate in experiment.rows if candidate.name == source)
    if row.strategy != MATCHED:
        return None
    above = experiment.rows[: experiment.rows.index(row)]
    reference = next((candidate for candidate in above if candidate.strategy == REFERENCE), None)
    if reference is None:
        raise InputError(f"row {row.name!r} needs the labels of an {REFERENCE} row: put such a row above it")
    return reference


def settings_of(experiment: Experiment, row: GridRow, seed: int) -> Settings:
    """Return the settings of the row's simulation with this seed. Raises InputError for an impossible name or value."""
    row_settings = {} if row.kind == "concat" else row.settings
    row_settings = {**row_settings, "encoder": row.backbone} if row.kind == "encoder" else row_settings
    strategy = {} if row.strategy is None else {"strategy": row.strategy}
    try:
        return Settings.model_validate({**experiment.settings, **row_settings, **strategy, "seed": seed})
    except ValidationError as error:
        raise InputError(f"row {row.name!r}: settings: {first_wrong(error, model=Settings)}") from None


def concat_of(row: GridRow, seed: int) -> Concat | None:
    """Return how the row's ConcatBERT is trained with this seed; None for other rows. Raises InputError likewise."""
    if row.kind != "concat":
        return None
    try:
        settings = ConcatSettings.model_validate({**row.settings, "seed": seed})
    except ValidationError as error:
        raise InputError(f"row {row.name!r}: settings: {first_wrong(error, model=ConcatSettings)}") from None
    return Concat(backbone=row.backbone, sample=row.sample, settings=settings, method=row.method, base=row.base)


def read_experiment(path: Path) -> Experiment:
    """Read an experiment from a TOML file; its data sets' paths are relative to the file, and are made absolute.

    Raises InputError, one line, for any error in it.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}; correct it") from None
    try:
        return make_experiment(values, path.parent)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None


def make_experiment(values: dict[str, Any], folder: Path) -> Experiment:
    """Return the experiment of these values; paths are relative to the folder. Raises InputError."""
    try:
        experiment = Experiment.model_validate(values)
    except ValidationError as error:
        raise InputError(first_wrong(error, model=Experiment)) from None
    datasets = {name: _located(files, folder) for name, files in experiment.datasets.items()}
    return experiment.model_copy(update={"datasets": datasets})


def _located(files: Files, folder: Path) -> Files:
    paths = {name: (folder / path).resolve() for name in (*PATHS, LABELS) if (path := getattr(files, name)) is not None}
    missing = next((path for path in paths.values() if not path.is_file()), None)
    if missing is not None:
        raise InputError(f"there is no file {missing}: paths are relative to the experiment's file")
    return files.model_copy(update=paths)


def cells_of(experiment: Experiment) -> list[Cell]:
    """Return every cell of the grid, seed by seed; a cell follows the one whose labels it needs."""
    digests = {name: files_digest(files) for name, files in experiment.datasets.items()}
    cells: list[Cell] = []
    for seed in experiment.seeds:
        for dataset, digest in digests.items():
            row_cells: dict[str, Cell] = {}
            for row in experiment.rows:
                row_cells[row.name] = _cell(experiment, row, seed, dataset, digest, row_cells)
            cells += row_cells.values()
    return cells


def _cell(
    experiment: Experiment, row: GridRow, seed: int, dataset: str, digest: str, row_cells: dict[str, Cell]
) -> Cell:
    source = labels_row(experiment, row)
    return Cell(
        dataset=dataset,
        digest=digest,
        row=row.name,
        seed=seed,
        rounds=1 if row.kind == "encoder" else row.rounds or experiment.rounds,
        settings=settings_of(experiment, row, seed),
        concat=concat_of(row, seed),
        source=row_cells[source.name] if source else None,
        kind="encoder" if row.kind == "encoder" else "loop",
    )


def files_digest(files: Files) -> str:
    """Return the SHA-256 of the files' contents and of how they are read."""
    read = files.model_dump(mode="json", exclude={*PATHS, LABELS, "paper", "part"})
    whole = hashlib.sha256(repr(sorted(read.items())).encode())
    for name in (*PATHS, LABELS):
        path = getattr(files, name)
        whole.update(f"{name}:".encode())
        if path is not None:
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()

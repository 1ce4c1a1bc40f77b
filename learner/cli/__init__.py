"""The commands of `python -m learner`."""

import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from pydantic import ValidationError
from transformers.utils.logging import disable_progress_bar

from db.corpus.corpus import load_corpus
from db.corpus.split import read_split, split_corpus
from db.domain import DEFAULT_ENCODER, Queue, Settings
from db.errors import InputError
from db.version import VERSION
from learner import worker as worker_process
from learner.catalog import STRATEGIES
from learner.cli.concat import concat
from learner.cli.dataset import dataset
from learner.cli.experiment import experiment
from learner.cli.pipeline import pipeline
from learner.files.evaluate import checked_method, evaluate_audit, evaluate_corpus
from learner.files.labels import read_training
from learner.files.match import Cut, match_corpus
from learner.loop.simulate import composition_of
from learner.loop.simulate import simulate as run_simulation
from learner.models.encoder import load_encoder
from learner.runtime.progress_output import fail, print_result, progress_bar
from learner.scorers.two_feature_scorer import PREFIX as FEATURES
from learner.scorers.two_feature_scorer import is_feature_scorer

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(concat)
app.command()(dataset)
app.command()(experiment)
app.command()(pipeline)

Left = Annotated[Path, typer.Option(help="Items of the left (or only) list: csv, tsv, jsonl or parquet, also .gz.")]
Right = Annotated[Path | None, typer.Option(help="Items of the right list, for left × right matching.")]
Gold = Annotated[Path, typer.Option(help="Known pairs: id1, id2 and optionally label.")]
IdColumn = Annotated[str, typer.Option(help="Name of the id column.")]
TextColumn = Annotated[list[str] | None, typer.Option(help="Name of a text column; repeat to join several.")]
Model = Annotated[str, typer.Option(help="A matcher's folder, or an encoder's name or folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print results as JSON.")]


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"allpairs {VERSION}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Train, measure and use matchers."""


@app.command()
def worker(
    name: Annotated[str | None, typer.Option(help="Name of this worker; default: the machine's name.")] = None,
    queue: Annotated[
        Queue | None,
        typer.Option(
            help="Whose jobs to run: gpu (training and encoding) or cpu (audits, previews, searches; never uses "
            "a GPU); default: gpu on a machine with a GPU, else cpu."
        ),
    ] = None,
) -> None:
    """Run jobs of the app one at a time, until stopped.

    Jobs of a queue that no live worker serves go to the workers of the other queue, so that none waits in vain.

    Example: python -m learner worker --queue gpu
    """
    worker_process.run(name, queue)


@app.command()
def simulate(
    left: Left,
    gold: Gold,
    out: Annotated[Path, typer.Option(help="Folder for rounds.jsonl, split.csv, labels.csv and model/.")],
    right: Right = None,
    strategy: Annotated[str, typer.Option(help=f"One of {', '.join(STRATEGIES)}.")] = "uncertainty",
    first: Annotated[int, typer.Option(help="Labels in the first round.")] = 40,
    growth: Annotated[float, typer.Option(help="Each round collects this many times the one before.")] = 1.5,
    growth_kind: Annotated[str, typer.Option(help="exponential, linear or constant.")] = "exponential",
    rounds: Annotated[int, typer.Option(min=1, help="Number of rounds.")] = 5,
    neighbours: Annotated[int, typer.Option(help="Nearest neighbours searched for each text.")] = 100,
    per_text: Annotated[int, typer.Option(help="Maximum pairs of a batch that share one text; 0: no cap.")] = 0,
    per_neighbourhood: Annotated[int, typer.Option(help="Maximum pairs of a batch from one cluster; 0: no cap.")] = 0,
    control_share: Annotated[float, typer.Option(help="Share of a batch drawn at random from the candidates.")] = 0.0,
    match_labels: Annotated[
        Path | None,
        typer.Option(help="labels.csv of an uncertainty run, whose class counts stratified-match copies."),
    ] = None,
    test_fraction: Annotated[float, typer.Option(help="Share of the items kept for measuring.")] = 0.5,
    split: Annotated[Path | None, typer.Option(help="A file id,side,split to use instead of drawing a split.")] = None,
    both_sides: Annotated[bool, typer.Option(help="Split the right side too.")] = False,
    encoder: Annotated[str, typer.Option(help="Pre-trained encoder: name or folder.")] = DEFAULT_ENCODER,
    epochs: Annotated[int, typer.Option(help="Passes over the labels in each training.")] = 2,
    learning_rate: Annotated[float, typer.Option(help="Learning rate of the encoder.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(help="Pairs in one training step.")] = 16,
    group_pairs: Annotated[bool, typer.Option(help="Put pairs that share a text into the same training step.")] = False,
    initialization: Annotated[str, typer.Option(help="balanced or reference.")] = "balanced",
    batch_norm: Annotated[
        bool, typer.Option(help="Normalise scores (batch norm) when training the output layer.")
    ] = True,
    pooling: Annotated[str, typer.Option(help="model (as in its folder), mean, cls or max.")] = "model",
    distance: Annotated[str, typer.Option(help="Score of two texts: cosine, dot or l2.")] = "cosine",
    hubness: Annotated[float, typer.Option(help="Weight of the hubness correction; new projects use 0.25.")] = 0.0,
    crowding: Annotated[float | None, typer.Option(hidden=True)] = None,
    lexical: Annotated[
        bool, typer.Option(help="Use lexical features as far as the labels show that they help; new projects do.")
    ] = False,
    warm_start: Annotated[bool, typer.Option(help="Continue from the last round's encoder.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Json = False,
) -> None:
    """Replay the rounds of the app with gold labels in the annotator's place.

    Example: python -m learner simulate --left q.csv --gold gold.csv --strategy uncertainty --first 64 --rounds 4 --out
    out/q
    """
    settings = _settings(
        strategy=strategy, first=first, growth=growth, growth_kind=growth_kind, neighbours=neighbours,
        per_text=per_text, per_neighbourhood=per_neighbourhood, control_share=control_share,
        evaluation_share=test_fraction, encoder=encoder, epochs=epochs, learning_rate=learning_rate,
        batch_size=batch_size, group_pairs=group_pairs, initialization=initialization, batch_norm=batch_norm,
        pooling=pooling, distance=distance, hubness=hubness if crowding is None else crowding, lexical=lexical,
        warm_start=warm_start, seed=seed,
    )  # fmt: skip
    composition = composition_of(match_labels) if match_labels else None
    corpus = load_corpus(left, right, gold, id_column=id_column, text_columns=_columns(text_column))
    rng = np.random.default_rng(seed)
    corpus = read_split(split, corpus) if split else split_corpus(corpus, test_fraction, rng, both_sides=both_sides)
    for note in corpus.notes:
        typer.echo(f"note: {note}", err=True)
    with progress_bar() as progress:
        rows = run_simulation(corpus, load_encoder(encoder), settings, rounds, out, progress, composition)
    for row in rows:
        _note_untrained(row)
    if json:
        print_result({"rounds": rows}, None)
        return
    typer.echo("round  labels  positives  AP      P@R20")
    for row in rows:
        ap, precision = row["average_precision"]["value"], row["precision_at_recall_20"]["value"]
        typer.echo(f"{row['round']:5d}  {row['labels']:6d}  {row['positives']:9d}  {ap:.4f}  {precision:.4f}")


@app.command()
def evaluate(
    model: Annotated[
        str,
        typer.Option(
            help="A matcher's folder, an encoder's name or folder, a cross-encoder's or a re-ranker's folder; "
            "bertscore:ENCODER@LAYER compares tokens; cosine+bertscore:ENCODER@LAYER weights both by --labels."
        ),
    ],
    left: Left,
    gold: Annotated[Path | None, typer.Option(help="Known pairs: id1, id2 and optionally label.")] = None,
    right: Right = None,
    audit: Annotated[
        Path | None, typer.Option(help="Audit labels instead of gold: id1, id2, label, inclusion, stratum, size.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="exact (every pair), near-random or stratified (sampled); default: by the model."),
    ] = None,
    sample: Annotated[int, typer.Option(min=100, help="Negatives scored by a sampled method.")] = 200_000,
    base: Annotated[
        str, typer.Option(help="Encoder that tells near pairs from far ones in a sampled method.")
    ] = DEFAULT_ENCODER,
    seed: Annotated[int, typer.Option(help="Seed of a sampled method and of an audit's intervals.")] = 0,
    split: Annotated[Path | None, typer.Option(help="Measure only the evaluation items of this file.")] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Labelled pairs of train items, to fit the weights of two features.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="A matcher or an encoder to compare with: adds the model's gain over it, with an interval."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the result; default: stdout.")] = None,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Annotated[bool, typer.Option("--json", help="Print the curve and the histogram too.")] = False,
) -> None:
    """Measure a model over all pairs of the files. The result is JSON; a file also gets the curve and the histogram.

    A matcher is measured exactly; a model that reads pairs one by one (a cross-encoder, a re-ranker) is measured
    exactly up to 200,000 pairs, and beyond that from a stratified sample.

    Example: python -m learner evaluate --model out/q/model --left q.csv --gold gold.csv
    """
    how = checked_method(method, sample, base, seed)
    if gold is None and audit is None:
        raise InputError("no labels to measure by: give --gold or --audit")
    if audit is not None and method is not None:
        raise InputError("--audit is a method of its own: leave out --method")
    if audit is not None and against is not None:
        raise InputError("--against compares by gold labels: give --gold")
    _check_labels(model, labels, split)
    corpus = load_corpus(left, right, gold, id_column=id_column, text_columns=_columns(text_column))
    divided = read_split(split, corpus) if split else corpus
    labelled = read_training(labels, corpus, divided) if labels else None
    with progress_bar() as progress:
        if audit is not None:
            result = evaluate_audit(model, divided, audit, seed, progress)
        else:
            result = evaluate_corpus(model, divided, how, progress, against, labelled)
    if out is None and not json:
        result = {name: value for name, value in result.items() if name not in ("curve", "histogram")}
    print_result(result, out)


@app.command()
def match(
    model: Model,
    left: Left,
    out: Annotated[Path, typer.Option(help="File for the pairs: csv, jsonl or parquet.")],
    right: Right = None,
    top: Annotated[int | None, typer.Option(min=1, help="The K best pairs.")] = None,
    threshold: Annotated[float | None, typer.Option(help="All pairs with at least this score.")] = None,
    precision: Annotated[
        float | None, typer.Option(help="All pairs above the lowest score at which this precision was measured.")
    ] = None,
    why: Annotated[bool, typer.Option(help="Add a column with the parts of each score.")] = False,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Json = False,
) -> None:
    """Find the matching pairs of a file, or of two.

    Example: python -m learner match --model out/q/model --left q.csv --precision 0.8 --out matches.csv
    """
    corpus = load_corpus(left, right, None, id_column=id_column, text_columns=_columns(text_column))
    with progress_bar() as progress:
        found = match_corpus(model, corpus, Cut(top, threshold, precision), out, progress, why)
    if json:
        print_result(found, None)
    else:
        lowest = f", the lowest score {found['lowest_score']:.4f}" if found["pairs"] else ""
        typer.echo(f"{found['pairs']} pairs in {out}{lowest}")


def _note_untrained(row: dict[str, Any]) -> None:
    if not row["trained"]:
        kind = "positive" if row["positives"] else "negative"
        what = f"round {row['round']}: all {row['labels']} labels are {kind}, and training needs both kinds"
        typer.echo(f"note: {what}; the figures are those of the pre-trained encoder", err=True)


def _check_labels(model: str, labels: Path | None, split: Path | None) -> None:
    """Raise InputError if the model has no weights to fit, or would be measured on the pairs that fit them."""
    if labels is not None and not is_feature_scorer(model):
        raise InputError(
            f"--labels fit feature weights, and {model} has none: omit --labels, or name {FEATURES}ENCODER"
        )
    if labels is not None and split is None:
        raise InputError("--labels without --split would measure on the pairs that fit the weights: name a split")


def _columns(names: list[str] | None) -> tuple[str, ...]:
    return tuple(names) if names else ("text",)


def _settings(**values: object) -> Settings:
    if values["strategy"] not in STRATEGIES:
        raise InputError(f"strategy {values['strategy']!r} is not known: use one of {', '.join(STRATEGIES)}")
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", "-").replace("evaluation-share", "test-fraction")
        raise InputError(f"--{name}: {first['msg'].lower()}, not {first['input']!r}") from error


def main() -> None:
    """Run the command line. Exit code 0, 1 (failed) or 2 (bad input); errors take one line."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if not sys.stderr.isatty():
        disable_progress_bar()  # the model library's; our own bars decide for themselves
    try:
        raise SystemExit(app(sys.argv[1:] or ["--help"], standalone_mode=False))
    except InputError as error:
        fail(str(error), 2)
    except typer.TyperException as error:
        fail(error.format_message(), error.exit_code)
    except Exception as error:  # the last line of defence: one line, not a traceback
        logging.getLogger(__name__).debug("traceback", exc_info=True)
        fail(f"{type(error).__name__}: {error}", 1)

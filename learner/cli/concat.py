"""The command `allpairs concat`: trains a ConcatBERT on collected labels, and measures it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from allpairs.db.domain import DEFAULT_ENCODER, Stated
from allpairs.db.errors import InputError
from allpairs.learner.cli.options import (
    Base,
    IdColumn,
    Json,
    Left,
    Method,
    Right,
    Sample,
    StatedPairs,
    TextColumn,
    text_columns,
)
from allpairs.learner.experiment.paper import PAPER_BACKBONES
from allpairs.learner.runtime.progress_output import print_result, progress_bar

HELP_OF_BACKBONE = f"The bundled encoder, a folder, or a hub name such as {', '.join(PAPER_BACKBONES)}."


def concat(
    left: Left,
    labels: Annotated[Path, typer.Option(help="Labelled pairs: id1, id2, label, such as labels.csv of a simulation.")],
    out: Annotated[Path, typer.Option(help="Folder for model/ and evaluation.json.")],
    right: Right = None,
    gold: Annotated[Path | None, typer.Option(help="Known pairs to measure by: id1, id2 and optionally label.")] = None,
    split: Annotated[
        Path | None, typer.Option(help="A file id,side,split: train items train, evaluation items measure.")
    ] = None,
    held_out: Annotated[
        Path | None, typer.Option(help="Labelled pairs that measure accuracy and F1, and never train.")
    ] = None,
    backbone: Annotated[str, typer.Option(help=HELP_OF_BACKBONE)] = DEFAULT_ENCODER,
    epochs: Annotated[int, typer.Option(help="Passes over the labels (the paper: 2 on QQP, 3 on WikiQA).")] = 2,
    learning_rate: Annotated[float, typer.Option(help="Learning rate.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(help="Pairs in one training step.")] = 32,
    max_length: Annotated[int, typer.Option(help="Tokens of a pair, both texts together.")] = 128,
    dropout: Annotated[bool, typer.Option(help="Train with the backbone's dropout.")] = True,
    method: Method = None,
    sample: Sample = 20_000,
    base: Base = DEFAULT_ENCODER,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    stated: StatedPairs = Stated.CLOSED,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Json = False,
) -> None:
    """Train a cross-encoder (ConcatBERT) on collected labels, and measure it on a sample of all pairs.

    With --split only pairs of train items are trained on, so that --labels may be the gold file: the paper's stated
    data.

    Example: allpairs concat --left q.csv --labels out/q/labels.csv --gold gold.csv --split out/q/split.csv
    --out out/concat
    """
    from allpairs.db.corpus.corpus import load_corpus
    from allpairs.learner.files.concat import checked_concat_settings, train_and_measure
    from allpairs.learner.files.evaluate import checked_method

    method_settings = checked_method(method, sample, base, seed)
    settings = checked_concat_settings(
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        max_length=max_length,
        dropout=dropout,
        seed=seed,
    )
    if gold is not None and split is None:
        raise InputError("--gold without --split would measure on the pairs trained on: name a split")
    corpus = load_corpus(left, right, gold, id_column=id_column, text_columns=text_columns(text_column), stated=stated)
    with progress_bar() as progress:
        result = train_and_measure(
            backbone,
            corpus,
            labels,
            settings,
            out,
            split=split,
            method=method_settings if gold else None,
            held_out=held_out,
            progress=progress,
        )
    for note in result.pop("notes"):
        typer.echo(f"note: {note}", err=True)
    _show(result, json)


def _show(result: dict[str, Any], json: bool) -> None:
    if json:
        print_result(result, None)
        return
    typer.echo(f"trained {result['model']} on {result['labels']:,} labels ({result['labelled_positives']:,} positive)")
    if held_out := result.pop("held_out", None):
        typer.echo(
            f"held out  {held_out['pairs']:,} pairs  accuracy {held_out['accuracy']:.4f}  F1 {held_out['f1']:.4f}"
        )
    for name, figures in result.items():
        if isinstance(figures, dict):
            interval = f"{figures['low']:.4f} to {figures['high']:.4f}"
            typer.echo(f"{name:24s} {figures['value']:.4f}  ({interval}, {figures['method']})")

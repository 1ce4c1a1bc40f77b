"""The command `evaluate`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.db.domain import DEFAULT_ENCODER, Stated
from allpairs.db.errors import InputError
from allpairs.learner.cli.notes import print_notes
from allpairs.learner.cli.options import (
    Base,
    IdColumn,
    Left,
    Method,
    Right,
    Sample,
    StatedPairs,
    TextColumn,
    text_columns,
)
from allpairs.learner.runtime.progress_output import keep_inputs, print_result, progress_bar


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
        Path | None, typer.Option(help="Audit labels instead of gold: the columns of `labels export --format audit`.")
    ] = None,
    method: Method = None,
    sample: Sample = 200_000,
    base: Base = DEFAULT_ENCODER,
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
    stated: StatedPairs = Stated.CLOSED,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Annotated[bool, typer.Option("--json", help="Print the curve and the histogram too.")] = False,
) -> None:
    """Measure a model over all pairs of the files. The result is JSON; a file also gets the curve and the histogram.

    A matcher is measured exactly; a model that reads pairs one by one (a cross-encoder, a re-ranker) is measured
    exactly up to 200,000 pairs, and beyond that from a stratified sample.

    Example: allpairs evaluate --model out/q/model --left q.csv --gold gold.csv
    """
    from allpairs.db.corpus.corpus import load_corpus
    from allpairs.db.corpus.split import read_split
    from allpairs.learner.files.evaluate import (
        checked_method,
        evaluate_audit,
        evaluate_corpus,
        load_model,
        repeated_texts_note,
    )
    from allpairs.learner.files.labels import read_training

    method_settings = checked_method(method, sample, base, seed)
    if gold is None and audit is None:
        raise InputError("no labels to measure by: give --gold or --audit")
    if audit is not None and method is not None:
        raise InputError("--audit is a method of its own: leave out --method")
    if audit is not None and against is not None:
        raise InputError("--against compares by gold labels: give --gold")
    _check_labels(model, labels, split)
    keep_inputs(out, left, right, gold, audit, split, labels)
    corpus = load_corpus(left, right, gold, id_column=id_column, text_columns=text_columns(text_column), stated=stated)
    divided = read_split(split, corpus) if split else corpus
    labelled = read_training(labels, corpus, divided) if labels else None
    with progress_bar() as progress:
        loaded = load_model(model)
        if audit is not None:
            result = evaluate_audit(loaded, divided, audit, seed, progress)
        else:
            result = evaluate_corpus(loaded, divided, method_settings, progress, against, labelled)
    print_notes(loaded, divided)
    if about_texts := repeated_texts_note(divided):
        typer.echo(about_texts, err=True)
    if out is None and not json:
        result = {name: value for name, value in result.items() if name not in ("curve", "histogram")}
    print_result(result, out)


def _check_labels(model: str, labels: Path | None, split: Path | None) -> None:
    """Raise InputError if the model has no weights to fit, or would be measured on the pairs that fit them."""
    from allpairs.learner.scorers.two_feature_scorer import PREFIX, is_feature_scorer

    if labels is not None and not is_feature_scorer(model):
        raise InputError(f"--labels fit feature weights, and {model} has none: omit --labels, or name {PREFIX}ENCODER")
    if labels is not None and split is None:
        raise InputError("--labels without --split would measure on the pairs that fit the weights: name a split")

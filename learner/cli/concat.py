"""The command `python -m learner concat`: trains a ConcatBERT on collected labels, and measures it."""

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from db.corpus.corpus import Corpus, load_corpus
from db.corpus.split import read_split
from db.domain import DEFAULT_ENCODER
from db.errors import InputError
from db.progress import Progress
from learner.experiment.paper import PAPER_BACKBONES
from learner.files.evaluate import Method, checked_method, evaluate_corpus
from learner.files.labels import read_labels, training_pairs
from learner.models.cosine_bert import Labelled
from learner.runtime.progress_output import print_result, progress_bar
from learner.scorers.cross_encoder import ConcatSettings, save_concat, train_concat

HELP_OF_BACKBONE = f"The bundled encoder, a folder, or a hub name such as {', '.join(PAPER_BACKBONES)}."


def concat(
    left: Annotated[Path, typer.Option(help="Items of the left (or only) list: csv, tsv, jsonl or parquet.")],
    labels: Annotated[Path, typer.Option(help="Labelled pairs: id1, id2, label, such as labels.csv of a simulation.")],
    out: Annotated[Path, typer.Option(help="Folder for model/ and evaluation.json.")],
    right: Annotated[Path | None, typer.Option(help="Items of the right list, for left × right matching.")] = None,
    gold: Annotated[Path | None, typer.Option(help="Known pairs to measure by: id1, id2 and optionally label.")] = None,
    split: Annotated[
        Path | None, typer.Option(help="A file id,side,split: train items train, evaluation items measure.")
    ] = None,
    backbone: Annotated[str, typer.Option(help=HELP_OF_BACKBONE)] = DEFAULT_ENCODER,
    epochs: Annotated[int, typer.Option(help="Passes over the labels (the paper: 2 on QQP, 3 on WikiQA).")] = 2,
    learning_rate: Annotated[float, typer.Option(help="Learning rate.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(help="Pairs in one training step.")] = 32,
    max_length: Annotated[int, typer.Option(help="Tokens of a pair, both texts together.")] = 128,
    dropout: Annotated[bool, typer.Option(help="Train with the backbone's dropout.")] = True,
    method: Annotated[
        str | None,
        typer.Option(help="exact, near-random or stratified; default: exact for few pairs, else stratified."),
    ] = None,
    sample: Annotated[int, typer.Option(min=100, help="Negatives scored by a sampled method.")] = 20_000,
    base: Annotated[
        str, typer.Option(help="Encoder that tells near pairs from far ones in a sampled method.")
    ] = DEFAULT_ENCODER,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    id_column: Annotated[str, typer.Option(help="Name of the id column.")] = "id",
    text_column: Annotated[
        list[str] | None, typer.Option(help="Name of a text column; repeat to join several.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print results as JSON.")] = False,
) -> None:
    """Train a cross-encoder (ConcatBERT) on collected labels, and measure it on a sample of all pairs.

    With --split only pairs of train items are trained on, so that --labels may be the gold file: the paper's stated
    data.

    Example: python -m learner concat --left q.csv --labels out/q/labels.csv --gold gold.csv --split out/q/split.csv
    --out out/concat
    """
    how = checked_method(method, sample, base, seed)
    settings = _settings(
        epochs=epochs, learning_rate=learning_rate, batch_size=batch_size, max_length=max_length, dropout=dropout,
        seed=seed,
    )  # fmt: skip
    if gold is not None and split is None:
        raise InputError("--gold without --split would measure on the pairs trained on: name a split")
    corpus = load_corpus(left, right, gold, id_column=id_column, text_columns=tuple(text_column or ("text",)))
    labelled = read_labels(labels, corpus)
    divided = read_split(split, corpus) if split else None
    chosen = training_pairs(labelled, corpus, divided) if divided else labelled
    for note in [*(divided or corpus).notes, *_left_out(len(labelled) - len(chosen))]:
        typer.echo(f"note: {note}", err=True)
    with progress_bar() as progress:
        _train(backbone, corpus, chosen, settings, out / "model", progress)
        measured = divided if gold is not None else None
        result = _evaluate(out, measured, how, progress) if measured else {}
    _show({"labels": len(chosen), "labelled_positives": chosen.positives, "model": str(out / "model"), **result}, json)


def _train(
    backbone: str, corpus: Corpus, labelled: Labelled, settings: ConcatSettings, folder: Path, progress: Progress
) -> None:
    scorer = train_concat(backbone, [item.text for item in corpus.items], labelled, settings, progress)
    counts = {"labels": len(labelled), "positives": labelled.positives}
    save_concat(scorer, folder, backbone=backbone, settings=settings.model_dump(), **counts)


def _evaluate(out: Path, corpus: Corpus, how: Method, progress: Progress) -> dict[str, Any]:
    """Return the estimates; with curve and histogram they are written to evaluation.json."""
    result = evaluate_corpus(str(out / "model"), corpus, how, progress)
    print_result(result, out / "evaluation.json")
    return {name: value for name, value in result.items() if name not in ("curve", "histogram", "strata")}


def _left_out(n: int) -> list[str]:
    return [f"{n:,} labelled pairs are not of two train items, and were not used"] if n else []


def _show(result: dict[str, Any], json: bool) -> None:
    if json:
        print_result(result, None)
        return
    typer.echo(f"trained {result['model']} on {result['labels']:,} labels ({result['labelled_positives']:,} positive)")
    for name, found in result.items():
        if isinstance(found, dict):
            typer.echo(
                f"{name:24s} {found['value']:.4f}  ({found['low']:.4f} to {found['high']:.4f}, {found['method']})"
            )


def _settings(**values: Any) -> ConcatSettings:
    try:
        return ConcatSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", "-")
        raise InputError(f"--{name}: {first['msg'].lower()}, not {first['input']!r}") from error

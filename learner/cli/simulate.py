"""The command `simulate`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from allpairs.db.domain import DEFAULT_ENCODER, Settings
from allpairs.db.errors import as_option
from allpairs.learner.cli.options import Gold, IdColumn, Json, Left, Right, TextColumn, text_columns
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.runtime.progress_output import print_result, progress_bar


def simulate(
    left: Left,
    gold: Gold,
    out: Annotated[Path, typer.Option(help="Folder for rounds.jsonl, split.csv, labels.csv and model/.")],
    right: Right = None,
    strategy: Annotated[str, typer.Option(help=f"One of {', '.join(STRATEGIES)}.")] = "uncertainty",
    first: Annotated[int, typer.Option(help="Labels in the first round.")] = 40,
    first_batch: Annotated[
        str,
        typer.Option(help="Pairs before the first training: half-spread, or most-similar as in the paper."),
    ] = "half-spread",
    growth: Annotated[float, typer.Option(help="Each round collects this many times the one before.")] = 1.5,
    growth_kind: Annotated[str, typer.Option(help="exponential, linear or constant.")] = "exponential",
    rounds: Annotated[int, typer.Option(min=1, help="Number of rounds.")] = 5,
    neighbours: Annotated[int, typer.Option(help="Nearest neighbours searched for each text.")] = 100,
    per_text: Annotated[int, typer.Option(help="Maximum pairs of one text in a batch; 0: no limit.")] = 0,
    control_share: Annotated[float, typer.Option(help="Share of a batch drawn at random from the candidates.")] = 0.0,
    match_labels: Annotated[
        Path | None,
        typer.Option(help="labels.csv of an uncertainty run, whose class counts stratified-match copies."),
    ] = None,
    test_fraction: Annotated[float, typer.Option(help="Share of the items kept for measuring.")] = 0.5,
    split: Annotated[Path | None, typer.Option(help="A file id,side,split to use instead of drawing a split.")] = None,
    development: Annotated[
        Path | None, typer.Option(help="The split of a development set, whose items are measured too.")
    ] = None,
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
    max_length: Annotated[int, typer.Option(help="Most tokens of a text that the encoder reads.")] = 128,
    distance: Annotated[str, typer.Option(help="Score of two texts: cosine, dot or l2.")] = "cosine",
    hubness: Annotated[float, typer.Option(help="Weight of the hubness correction; new projects use 0.25.")] = 0.0,
    lexical: Annotated[
        bool, typer.Option(help="Use lexical features as far as the labels show that they help; new projects do.")
    ] = False,
    second_stage: Annotated[
        str,
        typer.Option(help="Score the best pairs again: off, on, or auto: where unseen labels bear it out."),
    ] = "off",
    warm_start: Annotated[bool, typer.Option(help="Continue from the last round's encoder.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Json = False,
) -> None:
    """Replay the rounds of the app with gold labels in the annotator's place.

    Example: allpairs simulate --left q.csv --gold gold.csv --strategy uncertainty --first 64 --rounds 4 --out
    out/q
    """
    parameters = locals()
    from allpairs.db.corpus.corpus import load_corpus
    from allpairs.learner.files.simulate import checked_simulation_settings, simulate_corpus
    from allpairs.learner.loop.simulated_labels import composition_of

    values = {name: value for name, value in parameters.items() if name in Settings.model_fields}
    values |= {"evaluation_share": test_fraction}
    settings = checked_simulation_settings(values, _as_option)
    composition = composition_of(match_labels) if match_labels else None
    corpus = load_corpus(left, right, gold, id_column=id_column, text_columns=text_columns(text_column))
    with progress_bar() as progress:
        rows, notes = simulate_corpus(
            corpus,
            settings,
            rounds,
            out,
            split=split,
            development=development,
            both_sides=both_sides,
            composition=composition,
            progress=progress,
        )
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    if json:
        print_result({"rounds": rows}, None)
    else:
        _show(rows)


def _show(rows: list[dict[str, Any]]) -> None:
    typer.echo("round  labels  positives  AP      P@R20")
    for row in rows:
        ap = row["average_precision"]["value"]
        precision = row["precision_at_recall_20"]["value"]
        typer.echo(f"{row['round']:5d}  {row['labels']:6d}  {row['positives']:9d}  {ap:.4f}  {precision:.4f}")


def _as_option(setting: str) -> str:
    return "--test-fraction" if setting == "evaluation_share" else as_option(setting)

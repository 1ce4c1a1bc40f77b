"""The command `mistakes`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.db.domain import DEFAULT_ENCODER
from allpairs.db.errors import InputError
from allpairs.learner.cli.options import Base, IdColumn, Json, Right, TextColumn, text_columns
from allpairs.learner.runtime.progress_output import keep_inputs, print_result, progress_bar


def mistakes(
    model: Annotated[str | None, typer.Option(help="A matcher, an encoder, a cross-encoder or a re-ranker.")] = None,
    left: Annotated[Path | None, typer.Option(help="Items of the left (or only) list.")] = None,
    gold: Annotated[Path | None, typer.Option(help="Known pairs: id1, id2 and optionally label.")] = None,
    out: Annotated[Path | None, typer.Option(help="File for the mistakes: csv.")] = None,
    right: Right = None,
    split: Annotated[Path | None, typer.Option(help="Look only at the evaluation items of this file.")] = None,
    recall: Annotated[float, typer.Option(min=0.001, max=1, help="Recall of the threshold.")] = 0.2,
    checks: Annotated[int, typer.Option(min=1, help="Most confident mistakes, and pairs to check of each kind.")] = 50,
    checked: Annotated[
        Path | None, typer.Option(help="The sample with labels filled in: print the corrected precision.")
    ] = None,
    sample: Annotated[int, typer.Option(min=100, help="Pairs scored that are not near ones.")] = 200_000,
    base: Base = DEFAULT_ENCODER,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Json = False,
) -> None:
    """List a model's most confident mistakes and a sample to check; correct its precision by the checked sample.

    In the sample, write 1 into the column `label` if the pair is a match after all, and 0 if it is not.

    Example: allpairs mistakes --model out/q/model --left q.csv --gold gold.csv --out mistakes.csv
    """
    if checked is not None:
        _correct(checked, seed, json)
        return
    if model is None or left is None or gold is None or out is None:
        raise InputError("give --model, --left, --gold and --out to list mistakes, or --checked to correct by them")
    keep_inputs(out, left, right, gold, split)
    import numpy as np

    from allpairs.db.corpus.corpus import load_corpus
    from allpairs.db.corpus.split import read_split
    from allpairs.learner.files.mistakes import find_mistakes, write_mistakes

    corpus = load_corpus(left, right, gold, id_column=id_column, text_columns=text_columns(text_column))
    corpus = read_split(split, corpus) if split else corpus
    with progress_bar() as progress:
        dataset, true, mistake_parts = find_mistakes(model, corpus, recall, sample, base, seed, progress)
    rows = write_mistakes(dataset, corpus, true, mistake_parts, checks, out, np.random.default_rng(seed))
    parts = {part.name: part.size for part in mistake_parts}
    if json:
        print_result({"true": true, "mistakes": parts, "rows": rows, "out": str(out)}, None)
        return
    sizes = " and ".join(f"{size:,} {name}" for name, size in parts.items())
    typer.echo(
        f"at recall {recall:g}: {true:,} known matches, {sizes} pairs that gold does not list; {rows} are in {out}"
    )


def _correct(path: Path, seed: int, json: bool) -> None:
    import numpy as np

    from allpairs.learner.files.mistakes import corrected_by

    estimates = corrected_by(path, np.random.default_rng(seed))
    if json:
        print_result({name: estimate.as_dict() for name, estimate in estimates.items()}, None)
        return
    for name, estimate in estimates.items():
        typer.echo(f"{name:12s} {estimate.value:.4f}  ({estimate.low:.4f} to {estimate.high:.4f})")

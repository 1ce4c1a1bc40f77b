"""The command `match`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.learner.cli.options import IdColumn, Json, Left, Model, Right, TextColumn, text_columns
from allpairs.learner.runtime.progress_output import print_result, progress_bar


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
    why: Annotated[bool, typer.Option(help="Add a column: what each part adds to the log-odds of a match.")] = False,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Json = False,
) -> None:
    """Find the matching pairs of a file, or of two.

    Example: allpairs match --model out/q/model --left q.csv --precision 0.8 --out matches.csv
    """
    from allpairs.db.corpus.corpus import load_corpus
    from allpairs.learner.files.match import Cut, match_corpus

    corpus = load_corpus(left, right, None, id_column=id_column, text_columns=text_columns(text_column))
    with progress_bar() as progress:
        found = match_corpus(model, corpus, Cut(top, threshold, precision), out, progress, why)
    if json:
        print_result(found, None)
    else:
        lowest = f", the lowest score {found['lowest_score']:.4f}" if found["pairs"] else ""
        typer.echo(f"{found['pairs']} pairs in {out}{lowest}")

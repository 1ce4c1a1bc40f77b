"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.db.domain import Stated

Left = Annotated[
    Path, typer.Option(help="Items of the left (or only) list: csv, xlsx, ods, jsonl, parquet …, also .gz.")
]
Right = Annotated[Path | None, typer.Option(help="Items of the right list, for left × right matching.")]
Gold = Annotated[Path, typer.Option(help="Known pairs: id1, id2 and optionally label.")]
IdColumn = Annotated[str, typer.Option(help="Name of the id column.")]
TextColumn = Annotated[list[str] | None, typer.Option(help="Name of a text column; repeat to join several.")]
Method = Annotated[
    str | None,
    typer.Option(help="exact (every pair), near-random or stratified (sampled); default: by the model."),
]
Sample = Annotated[int, typer.Option(min=100, help="Negatives scored by a sampled method.")]
Base = Annotated[str, typer.Option(help="Encoder that tells near pairs from far ones in a sampled method.")]
StatedPairs = Annotated[
    Stated, typer.Option("--stated", help="Known pairs for accuracy and F1: with positives by closure, or as given.")
]
Model = Annotated[str, typer.Option(help="A matcher's folder, or an encoder's name or folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print results as JSON.")]


def text_columns(names: list[str] | None) -> tuple[str, ...]:
    """Return the names of the text columns; `text` unless some are given."""
    return tuple(names) if names else ("text",)

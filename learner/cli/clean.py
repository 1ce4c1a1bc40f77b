"""The command `clean`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.learner.cli.options import Json
from allpairs.learner.light.clean.rules import CellRule, KeepRule
from allpairs.learner.runtime.progress_output import keep_inputs, print_result, progress_bar
from allpairs.program import EncodingOption, SeparatorOption, SheetOption


def clean(
    file: Annotated[Path, typer.Argument(help="The list: xlsx, ods, csv, tsv, jsonl or parquet.")],
    out: Annotated[
        Path,
        typer.Option(
            help="File for the clean list; xlsx: one workbook with three sheets; else OUT-marked, OUT-changes."
        ),
    ],
    model: Annotated[
        str | None, typer.Option(help="A matcher's folder; without one only rows that agree well are joined.")
    ] = None,
    keep: Annotated[
        KeepRule,
        typer.Option(
            help="The row of a group that stays: with the most filled cells, the newest, the first, a source's."
        ),
    ] = KeepRule.COMPLETE,
    newest_by: Annotated[
        str, typer.Option(help="Column of dates or numbers, in which the newest row has the largest value.")
    ] = "",
    sources: Annotated[
        str, typer.Option(help="Column that names a row's source, and the sources, best first: SOURCE=shop,web.")
    ] = "",
    stays: Annotated[list[str] | None, typer.Option(help="Id of a row that stays in any case; repeat it.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Where a column's value comes from, NAME=RULE; *=RULE for all others; rules: {', '.join(CellRule)}."
        ),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Name of the id column; '' numbers the rows; by default it is guessed.")
    ] = None,
    text_column: Annotated[
        list[str] | None, typer.Option(help="Name of a column to compare; repeat it; by default all but the id column.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="The lowest score of a match; of several columns without a model the lowest probability."),
    ] = None,
    separator: SeparatorOption = "",
    encoding: EncodingOption = "",
    sheet: SheetOption = "",
    json: Json = False,
) -> None:
    """Write a list without its doubles, the list marked, and what changed.

    Example: allpairs clean customers.xlsx --out clean.xlsx --model out/customers/model --column phone=joined
    """
    from allpairs.db.corpus.files import FileFormat
    from allpairs.learner.files.clean import CleanChoices, clean_file, clean_list_in_words, model_for_list
    from allpairs.learner.light.clean.files import require_table_paths, table_paths
    from allpairs.learner.light.clean.rules import CleanRules, read_cell_rules, read_sources

    require_table_paths(out)
    for path in table_paths(out):
        keep_inputs(path, file)
    rules = CleanRules(keep, newest_by, *read_sources(sources), frozenset(stays or ()), read_cell_rules(column or ()))
    stated = FileFormat(separator, encoding, sheet)
    choices = CleanChoices(rules, id_column, tuple(text_column or ()), threshold, stated)
    with progress_bar() as progress:
        matcher = model_for_list(model)
        result = clean_file(file, out, matcher, choices, progress)
    for note in result["notes"]:
        typer.echo(note, err=True)
    if json:
        print_result(result, None)
        return
    for sentence in clean_list_in_words(result, matcher.layer is not None):
        typer.echo(sentence)
    typer.echo(f"Written: {', '.join(result['out'])}")

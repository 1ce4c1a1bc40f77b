"""The command `match`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.db.domain import Clustering, Representative
from allpairs.learner.cli.notes import print_notes
from allpairs.learner.cli.options import IdColumn, Json, Left, Model, Right, TextColumn, text_columns
from allpairs.learner.runtime.progress_output import keep_inputs, print_result, progress_bar


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
    groups: Annotated[
        Clustering | None,
        typer.Option(help="Also write the groups that the pairs make, to a second file; average suits most data."),
    ] = None,
    representative: Annotated[
        Representative,
        typer.Option(help="The text of each group that stands for it: the most central, the longest, or the newest."),
    ] = Representative.CENTRAL,
    newest_by: Annotated[
        str, typer.Option(help="Column of the files, numbers or dates, of which the newest text has the largest value.")
    ] = "",
    answers: Annotated[
        Path | None, typer.Option(help="People's answers (id1, id2, label), which decide over the model in groups.")
    ] = None,
    why: Annotated[bool, typer.Option(help="Add a column: what each part adds to the log-odds of a match.")] = False,
    id_column: IdColumn = "id",
    text_column: TextColumn = None,
    json: Json = False,
) -> None:
    """Find the matching pairs of a file, or of two.

    Example: allpairs match --model out/q/model --left q.csv --precision 0.8 --out matches.csv --groups average
    """
    from allpairs.db.corpus.corpus import load_corpus
    from allpairs.db.corpus.table_files import require_writable
    from allpairs.learner.files.evaluate import load_model
    from allpairs.learner.files.groups import column_values
    from allpairs.learner.files.labels import read_label_file
    from allpairs.learner.files.match import Cut, check_cut, equal_in_words, groups_file, match_corpus
    from allpairs.learner.light.groups.grouping import Grouping

    for file in (out, groups_file(out)) if groups else (out,):
        keep_inputs(file, left, right, answers)
    corpus = load_corpus(left, right, None, id_column=id_column, text_columns=text_columns(text_column), fewest=1)
    answered = read_label_file(answers, corpus, with_audit=True) if answers else None
    grouping = Grouping(groups, representative, newest_by) if groups else None
    values = column_values(corpus, newest_by, left, right, id_column) if newest_by else ()
    cut = Cut(top, threshold, precision)
    check_cut(cut)
    require_writable(out)
    with progress_bar() as progress:
        loaded = load_model(model)
        summary = match_corpus(loaded, corpus, cut, out, progress, why, grouping, answered, values)
    print_notes(loaded, corpus)
    if json:
        print_result(summary, None)
    else:
        lowest = "" if summary["lowest_score"] is None else f", the lowest score {summary['lowest_score']:.4f}"
        typer.echo(f"{summary['pairs']} pairs in {out}{lowest}")
        for note in equal_in_words(summary["equal"], summary["left_out"]):
            typer.echo(note)
        if groups:
            typer.echo(f"{summary['groups']} groups in {summary['groups_out']}")
            if summary["note"]:
                typer.echo(summary["note"])

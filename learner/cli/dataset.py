"""The command `allpairs dataset`: converts a published data set to Allpairs' files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allpairs.db.corpus.cells import with_noun
from allpairs.db.domain import DEFAULT_ENCODER
from allpairs.db.errors import InputError, nearest_of
from allpairs.db.progress import Progress
from allpairs.learner.cli.options import Json
from allpairs.learner.published import ADAPTERS, FEW_SHOT, Options, Titles
from allpairs.learner.published.released import Released, evaluated_part, write_released
from allpairs.learner.runtime.progress_output import print_result, progress_bar

if TYPE_CHECKING:
    from allpairs.learner.published.table1 import Encode


def dataset(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join([*ADAPTERS, *FEW_SHOT])}.")],
    path: Annotated[Path, typer.Argument(help="The released file, or the folder that holds the files.")],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the files: left.csv, right.csv, gold.csv, split.csv and stats.json; "
            "of squad and xsum those that few-shot mining reads."
        ),
    ],
    evaluate: Annotated[
        str | None, typer.Option(help="The part to measure on, dev or test; default: the last part there is.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split, where none is published.")] = 0,
    titles: Annotated[
        Titles, typer.Option(help="WikiQA's titles before the sentences; auto: if every row has one.")
    ] = Titles.AUTO,
    near: Annotated[bool, typer.Option("--near", help="Count near negatives too, which encodes every text.")] = False,
    encoder: Annotated[str, typer.Option(help="Encoder that decides which negatives are near.")] = DEFAULT_ENCODER,
    json: Json = False,
) -> None:
    """Convert a published data set to files for the other commands, and compare its counts with the paper's Table 1.

    Example: allpairs dataset wikiqa WikiQACorpus --out out/wikiqa
    """
    if name in FEW_SHOT:
        if evaluate is not None or near or titles is not Titles.AUTO:
            raise InputError(f"{name}: --evaluate, --titles and --near are of other data sets: leave them out")
        _few_shot(name, path, out, seed, json)
        return
    if name not in ADAPTERS:
        raise InputError(f"data set {name!r} is not known; {nearest_of(name, [*ADAPTERS, *FEW_SHOT])}")
    released = ADAPTERS[name](path, Options(seed, titles))
    part = evaluated_part(released, evaluate)
    with progress_bar() as progress:
        result = _write(released, part, out, _encode(encoder, progress) if near else None)
    for note in result["notes"]:
        typer.echo(f"note: {note}", err=True)
    if json:
        print_result(result, None)
    else:
        _show(result)


def _few_shot(name: str, path: Path, out: Path, seed: int, json: bool) -> None:
    """Write the files of few-shot mining, and tell how many rows each has."""
    from allpairs.learner.published.few_shot import write_few_shot

    counts = write_few_shot(name, path, out, Options(seed))
    if json:
        print_result({"dataset": name, "rows": counts}, None)
    else:
        typer.echo("\n".join(f"{file:14s} {rows:12,d} rows" for file, rows in counts.items()))


def _write(released: Released, evaluated: str, out: Path, encode: "Encode | None") -> dict[str, Any]:
    """Write the files; return the contents of stats.json."""
    from allpairs.learner.experiment.paper import printed
    from allpairs.learner.published.table1 import load_written, statistics

    try:
        moved = write_released(released, evaluated, out)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}") from error
    corpus = load_written(out, released)
    figures = statistics(corpus, released, encode)
    paper = {part: dict(printed("table1", released.name, part)) for part in figures}
    result = {
        "dataset": released.name,
        "evaluated": evaluated,
        "conflicts": released.conflicts,
        "titles": released.titles,
        "parts": figures,
        "paper": {part: known for part, known in paper.items() if known},
        "notes": [*released.notes, *moved, *corpus.notes, *_differences(figures, paper)],
    }
    print_result(result, out / "stats.json")
    return result


def _differences(figures: Mapping[str, Mapping[str, int]], paper: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return a note on each part whose positives differ from the paper's."""
    return [
        f"{part}: {with_noun(counts['positives'], 'positive')}, {counts['positives'] / paper[part]['positives']:.0%} "
        f"of the paper's {paper[part]['positives']:,.0f}."
        for part, counts in figures.items()
        if paper[part] and counts["positives"] != paper[part]["positives"]
    ]


def _show(result: Mapping[str, Any]) -> None:
    typer.echo(f"{'part':6s} {'':17s} {'here':>16s} {'paper':>16s}")
    for part, figures in result["parts"].items():
        for name, value in figures.items():
            paper = result["paper"].get(part, {}).get(name)
            paper_value = "" if paper is None else f"{paper:,.0f}"
            typer.echo(f"{part:6s} {name.replace('_', ' '):17s} {value:16,d} {paper_value:>16s}")
    typer.echo(f"train items train, {result['evaluated']} items measure; others are not used")


def _encode(encoder: str, progress: Progress) -> "Encode":
    from allpairs.learner.models.encoder import load_encoder

    model = load_encoder(encoder)
    return lambda texts: model.encode(texts, progress)

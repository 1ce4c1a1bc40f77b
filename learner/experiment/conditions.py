"""Under which conditions each figure was measured, beside those of Mussmann, Jia and Liang (2020), and what differs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.learner.experiment.paper import BERT, PAIRS, PAPER_BACKBONES, POSITIVES, printed
from allpairs.learner.experiment.results import Record, Results
from allpairs.learner.experiment.spec import Files, GridRow, settings_of
from allpairs.learner.reports.tables import NONE, grid

# Labels that the paper trains on: those of its ten (QQP) or four rounds, unless a strategy has a number of its own.
LABELS: dict[str, dict[str | None, int]] = {
    "qqp": {None: 232_100, "stated": 257_421, "stratified-all-positives": 249_250},
    "wikiqa": {None: 16_640, "stated": 20_360},
}
MARKS = {
    "E": "another encoder than the paper's (BERT-base; of ConcatBERT the one that the row names)",
    "L": "another number of labels",
    "P": "other evaluation pairs or other positives among them, by more than 2 %",
}
NEAR = 0.02  # how far a number of pairs may be from the paper's, which is rounded
STATS = "stats.json"  # what `allpairs dataset` writes beside its files


@dataclass(frozen=True)
class Conditions:
    """What the last figures of a row on a data set were measured with.

    titles: whether a title precedes each sentence of WikiQA; None where that is not known. marks: which of MARKS apply,
    empty where there is nothing to compare with.
    """

    dataset: str
    row: str
    encoder: str
    labels: int
    pairs: int
    positives: int
    titles: bool | None
    hubness: float | None
    method: str
    seeds: int
    marks: tuple[str, ...]

    def as_row(self) -> dict[str, Any]:
        """Return the row of its table."""
        return {**vars(self), "marks": " ".join(self.marks)}


def conditions_of(results: Results) -> list[Conditions]:
    """Return the conditions of every row that trains on labels, in the experiment's order."""
    return [conditions_of_row(results, name, row) for name in results.datasets for row in results.rows(name)]


def conditions_of_row(results: Results, dataset: str, row: GridRow) -> Conditions:
    """Return the conditions of a row on a data set."""
    files = results.experiment.datasets[dataset]
    last = results.last(dataset, row.name)[0]
    settings = settings_of(results.experiment, row, 0)
    is_concat = row.kind == "concat"
    encoder = row.backbone if is_concat else settings.encoder
    method = last.method + (f" under {row.base}" if is_concat and last.method != "exact" else "")
    return Conditions(
        dataset,
        row.name,
        encoder,
        last.labels,
        last.pairs,
        last.known,
        _titles(files.left.parent),
        None if is_concat else settings.hubness,
        method,
        len(results.last(dataset, row.name)),
        tuple(_marks(files, encoder, is_concat, _strategy(results, row), last)) if files.paper else (),
    )


def _strategy(results: Results, row: GridRow) -> str | None:
    """Return the strategy that collected the labels."""
    source = next((candidate for candidate in results.experiment.rows if candidate.name == row.labels), row)
    return source.strategy if row.kind == "concat" else row.strategy


def _marks(files: Files, encoder: str, is_concat: bool, strategy: str | None, last: Record) -> Iterator[str]:
    if encoder not in (PAPER_BACKBONES if is_concat else (BERT,)):
        yield "E"
    labels = LABELS[str(files.paper)]
    if last.labels != labels.get(strategy, labels[None]):
        yield "L"
    paper = printed("table1", files.paper, files.part)
    if not (_close(last.pairs, paper[PAIRS]) and _close(last.known, paper[POSITIVES])):
        yield "P"


def _close(count: float, printed_count: float) -> bool:
    return abs(count - printed_count) <= NEAR * printed_count


def _titles(folder: Path) -> bool | None:
    """Return whether the data set's files have titles, by what `allpairs dataset` wrote beside them."""
    try:
        titled = json.loads((folder / STATS).read_text(encoding="utf-8"))["titles"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return titled if isinstance(titled, bool) else None


def conditions_markdown(lines: list[Conditions]) -> str:
    """Return the table with the meaning of its marks."""
    header = ["", "encoder", "labels", "pairs (positives)", "titles", "hubness", "measured", "seeds", "differs"]
    body = [
        [
            f"{line.row}, {line.dataset}",
            line.encoder,
            f"{line.labels:,}",
            f"{line.pairs:,} ({line.positives:,})",
            {True: "yes", False: "no", None: NONE}[line.titles],
            NONE if line.hubness is None else f"{line.hubness:g}",
            line.method,
            str(line.seeds),
            " ".join(line.marks) or NONE,
        ]
        for line in lines
    ]
    marks = {mark for line in lines for mark in line.marks}
    legend = " ".join(f"{mark}: {meaning}." for mark, meaning in MARKS.items() if mark in marks)
    orders = "Each pair of one list is labelled and counted once; the paper may count both orders."
    return f"### Conditions\n\n{grid(header, body, numbers=False)}\n{orders} {legend}\n".rstrip(" \n") + "\n"

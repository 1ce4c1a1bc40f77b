"""A rating study as files: all current ratings, and the figures computed from them."""

from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import Engine

from allpairs.annotate.features.studies.rating_scores import PAPER, results
from allpairs.db.corpus.table_files import write_table
from allpairs.db.errors import InputError
from allpairs.db.estimate import Estimate
from allpairs.db.projects.studies import CRITERIA, ratings_of, study_of, units_of
from allpairs.db.schema.engine import reading

Row = list[object]
RATINGS = "ratings"
FIGURES = "figures"
_FIGURE = {
    "of": str,
    "criterion": str,
    "figure": str,
    "value": float,
    "low": float,
    "high": float,
    "ratings": int,
    "paper": float,
}


def write_study(engine: Engine, project_id: int, study_id: int, table: str, path: Path) -> None:
    """Write `ratings` or `figures` of the study to the file.

    Raises InputError for another word, and if the project has no such study.
    """
    writers: dict[str, Callable[[Engine, int, int, Path], None]] = {RATINGS: _ratings, FIGURES: _figures}
    if table not in writers:
        raise InputError(f"a study has no file {table!r}: use {' or '.join(writers)}")
    writers[table](engine, project_id, study_id, path)


def _ratings(engine: Engine, project_id: int, study_id: int, path: Path) -> None:
    with reading(engine) as session:
        study_of(session, project_id, study_id)
        units = {unit.id: unit for unit in units_of(session, study_id)}
        ratings = ratings_of(session, study_id)
    columns = {
        "number": int,
        "models": str,
        "passage": str,
        "question": str,
        "rater": str,
        **dict.fromkeys(CRITERIA, int),
        "rated_at": str,
    }
    rows = []
    for rating in ratings:
        unit = units[rating.unit_id]
        texts = [unit.position + 1, "; ".join(unit.models), unit.passage, unit.question, rating.rater]
        rows.append([*texts, *(int(rating.scores[name]) for name in CRITERIA), rating.time.isoformat()])
    write_table(path, columns, rows, for_people=True)


def _figures(engine: Engine, project_id: int, study_id: int, path: Path) -> None:
    write_table(path, _FIGURE, _figure_rows(engine, project_id, study_id), for_people=True)


def _figure_rows(engine: Engine, project_id: int, study_id: int) -> Iterator[Row]:
    outcome = results(engine, project_id, study_id)
    for scores in outcome.scores:
        printed = dict(zip(CRITERIA, PAPER.get(scores.model, ()), strict=False))
        for name, estimate in scores.shares.items():
            yield [scores.model, name, "share of good ratings", *_cells(estimate), printed.get(name)]
    if gain := outcome.gain:
        for name, difference in gain.differences.items():
            yield [gain.better, name, f"gain over {gain.than}", *_cells(difference), None]
    for agreement in outcome.agreement:
        for name, estimate in agreement.figures.items():
            yield ["raters", agreement.criterion, name, *_cells(estimate), None]


def _cells(estimate: Estimate | None) -> Row:
    return [estimate.value, estimate.low, estimate.high, estimate.labels] if estimate else [None, None, None, 0]

"""Annotators' work as data frames: labels by day and annotator, and the time per label."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from allpairs.db.domain import AnswerKind
from allpairs.db.labels.label_counts import Tally, label_tally, newest_times
from allpairs.db.schema.engine import reading
from allpairs.learner.light.stats.label_times import NEWEST, Timed, pace

COLUMNS = {AnswerKind.POSITIVE: "positives", AnswerKind.NEGATIVE: "negatives", AnswerKind.UNSURE: "unsure"}
EVERYBODY = "Everybody"


def read_tally(engine: Engine, project_id: int) -> list[Tally]:
    """Return the project's labels, counted."""
    with reading(engine) as session:
        return label_tally(session, project_id)


def read_times(engine: Engine, project_id: int) -> list[Timed]:
    """Return the time on screen of the newest 5,000 answers."""
    with reading(engine) as session:
        return [Timed(*row) for row in newest_times(session, project_id, NEWEST)]


def days_table(tally: Sequence[Tally]) -> pd.DataFrame:
    """Return one row for each day (UTC) and annotator with labels: positives, negatives, unsure and the total."""
    return _counted(tally, lambda row: {"day": date_of_day(row.day), "annotator": row.annotator})


def annotators_table(tally: Sequence[Tally]) -> pd.DataFrame:
    """Return one row for each annotator, most labels first: days with labels, and labels of each kind."""
    table = _counted(tally, lambda row: {"annotator": row.annotator})
    days = {name: len({row.day for row in tally if row.annotator == name}) for name in table["annotator"]}
    table.insert(1, "days", [days[name] for name in table["annotator"]])
    return table.sort_values(["labels", "annotator"], ascending=[False, True], ignore_index=True)


def date_of_day(days: int) -> date:
    """Return the day that many days after 1 January 1970."""
    return date(1970, 1, 1) + timedelta(days=days)


def _counted(tally: Sequence[Tally], key_of: Callable[[Tally], dict[str, Any]]) -> pd.DataFrame:
    """Return one row for each key with its labels of each kind, in the order of the tally."""
    keys: dict[tuple[Any, ...], dict[str, Any]] = {}
    counts: dict[tuple[Any, ...], dict[str, int]] = defaultdict(lambda: dict.fromkeys([*COLUMNS.values(), "labels"], 0))
    for row in tally:
        key = key_of(row)
        place = tuple(key.values())
        keys[place] = key
        counts[place][COLUMNS[row.answer]] += row.count
        counts[place]["labels"] += row.count
    return pd.DataFrame([keys[place] | counts[place] for place in keys])


def pace_table(times: Sequence[Timed]) -> pd.DataFrame:
    """Return seconds per label: one row for everybody, then one for each annotator, most answers first.

    median with its 95% interval low, high; half of the answers lie between first_quarter and third_quarter. Empty
    where too few answers are timed.
    """
    people: dict[str, list[float]] = defaultdict(list)
    for row in times:
        people[row.annotator].append(row.seconds)
    named = sorted(people.items(), key=lambda item: (-len(item[1]), item[0]))
    if len(people) > 1:
        named.insert(0, (EVERYBODY, [row.seconds for row in times]))
    rows = [
        {
            "annotator": annotator,
            "answers": timing.answers,
            "median": timing.median,
            "low": timing.low,
            "high": timing.high,
            "first_quarter": timing.first,
            "third_quarter": timing.third,
            "capped": timing.capped,
        }
        for annotator, seconds in named
        if (timing := pace(seconds)) is not None
    ]
    columns = ["annotator", "answers", "median", "low", "high", "first_quarter", "third_quarter", "capped"]
    return pd.DataFrame(rows, columns=columns)

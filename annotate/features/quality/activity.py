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
        return [Timed(*one) for one in newest_times(session, project_id, NEWEST)]


def days_table(tally: Sequence[Tally]) -> pd.DataFrame:
    """Return one row for each day (UTC) and annotator with labels: positives, negatives, unsure and the total."""
    return _counted(tally, lambda one: {"day": day_of(one.day), "annotator": one.annotator})


def annotators_table(tally: Sequence[Tally]) -> pd.DataFrame:
    """Return one row for each annotator, most labels first: days with labels, and labels of each kind."""
    table = _counted(tally, lambda one: {"annotator": one.annotator})
    days = {who: len({one.day for one in tally if one.annotator == who}) for who in table["annotator"]}
    table.insert(1, "days", [days[who] for who in table["annotator"]])
    return table.sort_values(["labels", "annotator"], ascending=[False, True], ignore_index=True)


def day_of(days: int) -> date:
    """Return the day that many days after 1 January 1970."""
    return date(1970, 1, 1) + timedelta(days=days)


def _counted(tally: Sequence[Tally], key_of: Callable[[Tally], dict[str, Any]]) -> pd.DataFrame:
    """Return one row for each key with its labels of each kind, in the order of the tally."""
    keys: dict[tuple[Any, ...], dict[str, Any]] = {}
    counts: dict[tuple[Any, ...], dict[str, int]] = defaultdict(lambda: dict.fromkeys([*COLUMNS.values(), "labels"], 0))
    for one in tally:
        key = key_of(one)
        place = tuple(key.values())
        keys[place] = key
        counts[place][COLUMNS[one.answer]] += one.count
        counts[place]["labels"] += one.count
    return pd.DataFrame([keys[place] | counts[place] for place in keys])


def pace_table(times: Sequence[Timed]) -> pd.DataFrame:
    """Return seconds per label: one row for everybody, then one for each annotator, most answers first.

    median with its 95% interval low, high; half of the answers lie between first_quarter and third_quarter. Empty
    where too few answers are timed.
    """
    people: dict[str, list[float]] = defaultdict(list)
    for one in times:
        people[one.annotator].append(one.seconds)
    named = sorted(people.items(), key=lambda item: (-len(item[1]), item[0]))
    if len(people) > 1:
        named.insert(0, (EVERYBODY, [one.seconds for one in times]))
    rows = [
        {
            "annotator": who,
            "answers": found.answers,
            "median": found.median,
            "low": found.low,
            "high": found.high,
            "first_quarter": found.first,
            "third_quarter": found.third,
            "capped": found.capped,
        }
        for who, seconds in named
        if (found := pace(seconds)) is not None
    ]
    columns = ["annotator", "answers", "median", "low", "high", "first_quarter", "third_quarter", "capped"]
    return pd.DataFrame(rows, columns=columns)

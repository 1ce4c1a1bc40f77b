"""What people did: labels by batch, day and annotator, and their times."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.label.last_answer import counted_every, last_answer
from allpairs.annotate.features.quality import activity_chart as activity_charts
from allpairs.annotate.features.quality.activity import (
    EVERYBODY,
    annotators_table,
    date_of_day,
    days_table,
    pace_table,
    read_tally,
    read_times,
)
from allpairs.db.domain import AnswerKind, Purpose
from allpairs.db.labels.label_counts import Tally, newest_times
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Answer, Task
from allpairs.learner.light.stats.label_times import NEWEST, Timed
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import answer_on, make_measured_project

P, N, U, R, S = (AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE, AnswerKind.RETRACT, AnswerKind.SKIP)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def answer(
    engine: Engine, project_id: int, who: str, kind: AnswerKind, at: datetime, position: int = 0, seconds: float = 3.0
) -> None:
    """Store an answer on the task at that position."""
    with writing(engine) as session:
        task = session.scalars(select(Task).where(Task.project_id == project_id, Task.position == position)).one()
        row = answer_on(task, kind, who, act=int(at.timestamp() * 1000))
        row.created_at, row.seconds = at, seconds
        session.add(row)


@pytest.fixture
def project(engine: Engine) -> int:
    other = make_project(engine, ["x", "y"], name="Other")
    make_round(engine, other, 1)
    answer(engine, other, "zoe", P, NOON)
    project_id = make_project(engine, ["a", "b", "c", "d"])
    make_round(engine, project_id, 3, reserve=2)
    return project_id


@pytest.mark.parametrize(
    ("clock", "day"),
    [
        ("2026-03-02T00:00:00", "2026-03-02"),
        ("2026-03-02T23:59:59.999", "2026-03-02"),
        ("2026-03-03T00:00:00.001", "2026-03-03"),
    ],
)
def test_a_day_is_one_of_utc(engine: Engine, project: int, clock: str, day: str) -> None:
    answer(engine, project, "ada", P, datetime.fromisoformat(clock).replace(tzinfo=UTC))
    (one,) = read_tally(engine, project)
    assert date_of_day(one.day) == date.fromisoformat(day)


def test_each_pair_counts_once_where_its_label_was_given(engine: Engine, project: int) -> None:
    for who, kind, days, position in [
        ("ada", P, 0, 0), ("ada", N, 1, 0),  # corrected the next day
        ("ada", P, 0, 1), ("ada", R, 0, 1),  # undone
        ("ada", P, 0, 2), ("ben", U, 2, 2),  # two annotators: the last one counts
        ("ben", S, 0, 3), ("ben", P, 2, 4),
    ]:  # fmt: skip
        at = NOON + timedelta(days=days, seconds=position + 10 * (kind == R))
        answer(engine, project, who, kind, at, position)
    tally = read_tally(engine, project)
    round_id = tally[0].round_id
    day = (NOON.date() - date(1970, 1, 1)).days
    assert tally == [
        Tally(round_id, Purpose.TRAIN, day + 1, "ada", N, 1),
        Tally(round_id, Purpose.TRAIN, day + 2, "ben", P, 1),
        Tally(round_id, Purpose.TRAIN, day + 2, "ben", U, 1),
    ]
    table = days_table(tally)
    assert table.values.tolist() == [[date(2026, 3, 3), "ada", 0, 1, 0, 1], [date(2026, 3, 4), "ben", 1, 0, 1, 2]]
    assert list(table.columns) == ["day", "annotator", "positives", "negatives", "unsure", "labels"]
    people = annotators_table(tally)
    assert list(people["annotator"]) == ["ben", "ada"] and list(people["days"]) == [1, 1]


def test_imported_labels_are_of_no_batch(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        task = session.scalars(select(Task).where(Task.project_id == project, Task.position == 0)).one()
        session.add(Answer(project_id=project, left_id=task.left_id, right_id=task.right_id, annotator="file", answer=P,
                           key="imported", created_at=NOON))  # fmt: skip
    (one,) = read_tally(engine, project)
    assert (one.round_id, one.purpose, one.annotator, one.count) == (None, Purpose.TRAIN, "file", 1)
    assert read_times(engine, project) == []


def test_the_times_are_those_of_the_newest_answers(engine: Engine, project: int) -> None:
    for position, (kind, seconds) in enumerate([(P, 1.5), (S, 9.0), (N, 2.5), (U, 4.0)]):
        answer(engine, project, "ada", kind, NOON + timedelta(days=position), position, seconds)
    times = read_times(engine, project)
    assert [one.seconds for one in times] == [4.0, 2.5, 1.5] and len({one.day for one in times}) == 3
    with writing(engine) as session:
        assert [seconds for _, _, seconds in newest_times(session, project, 2)] == [4.0, 2.5]
    assert NEWEST >= 1_000


def test_a_new_answer_moves_the_last_one(engine: Engine, project: int) -> None:
    assert last_answer(engine, project) == 0
    answer(engine, project, "ada", P, NOON)
    first = last_answer(engine, project)
    answer(engine, project, "ada", R, NOON + timedelta(seconds=5))
    assert 0 < first < last_answer(engine, project)


def test_everybody_comes_first_and_few_times_are_left_out() -> None:
    times = [Timed("ada", 1, 2.0)] * 8 + [Timed("ben", 1, 6.0)] * 20 + [Timed("eve", 1, 6.0)] * 2
    table = pace_table(times)
    assert list(table["annotator"]) == [EVERYBODY, "ben", "ada"]
    assert list(table["answers"]) == [30, 20, 8] and list(table["median"]) == [6.0, 6.0, 2.0]
    assert list(pace_table(times[:8])["annotator"]) == ["ada"]
    assert pace_table(times[-2:]).empty


def test_the_plots_say_what_they_show(engine: Engine) -> None:
    project_id = make_measured_project(engine)
    tally, times = read_tally(engine, project_id), read_times(engine, project_id)
    days, people, paces = days_table(tally), annotators_table(tally), pace_table(times)
    said = activity_charts.describe_days(days, EVERYBODY)
    assert "325 labels on 4" in said and said.count("2026-03-05 (135)") == 2
    assert said.endswith("132 positives, 185 negatives, 8 unsure.")
    assert "ada 217 (89 positive), ben 108 (43 positive)" in activity_charts.describe_annotators(people)
    assert "60 counted as 60" in activity_charts.describe_pace(paces)
    for chart in (
        activity_charts.days_chart(days),
        activity_charts.annotators_chart(people),
        activity_charts.pace_chart(paces),
    ):
        assert chart.to_dict()["layer"]


def test_every_day_has_a_place_and_ninety_are_drawn() -> None:
    tally = [Tally(1, Purpose.TRAIN, day, "ada", P, 1) for day in (0, 20_000, 20_089, 20_090)]
    drawn = activity_charts.newest_days(days_table(tally))
    assert [(one - date(1970, 1, 1)).days for one in drawn["day"]] == [20_089, 20_090]
    wide = activity_charts.newest_days(days_table(tally[1:3]))
    domain = activity_charts.days_chart(wide).to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert len(domain) == activity_charts.DAYS == 90


def test_few_answers_are_counted_at_each_and_many_at_thousandths() -> None:
    assert [counted_every(last) for last in (0, 1, 1_999, 2_000, 100_123)] == [1, 1, 1, 2, 100]

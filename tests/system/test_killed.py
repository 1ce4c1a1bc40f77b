"""Processes are killed while people label, rounds train, and projects come and go: nothing is lost or half-done."""

from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import Engine

from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import writing
from tests.helpers.factories import make_project
from tests.system.kills.faults import Annotator, compared, faults
from tests.system.kills.interrupted import Found, Outcome, interrupted, look
from tests.system.kills.interrupted_acts import ACTS, Act, Place


@pytest.mark.slow
@pytest.mark.parametrize("kills", [4, 50])
def test_nothing_is_lost_when_processes_are_killed(home: Path, tmp_path: Path, kills: int) -> None:
    found = faults(tmp_path, kills, seed=kills, texts=120)
    assert (found.lost, found.doubled, found.undone, found.wrong) == (0, 0, [], [])
    assert sum(found.kills.values()) == kills
    assert found.acknowledged > 0 and found.rounds >= 2


def test_what_was_lost_or_left_undone_is_seen(engine: Engine, tmp_path: Path) -> None:
    project = make_project(engine, ["a", "b"])
    with writing(engine) as session:
        add_job(session, project, "next_round").state = "failed"
    annotator = Annotator("ann", "", acknowledged=["never-stored"])
    found = compared(engine, project, [annotator], Counter(app=1), 1.0)
    assert (found.lost, found.doubled, len(found.undone)) == (1, 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "database_kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)
def test_killed_imports_exports_and_deletions_leave_no_halves(home: Path, tmp_path: Path) -> None:
    found = interrupted(tmp_path, kills=50, seed=0)
    assert found.clean, found
    assert {name: one.kills for name, one in found.acts.items()} == dict.fromkeys([act.name for act in ACTS], 10)
    assert [path for one in found.acts.values() for path in one.kept] == [] and found.acknowledged > 0


def test_what_is_half_done_is_seen(engine: Engine, tmp_path: Path) -> None:
    place, found = Place(tmp_path), Found(kills=1)
    act = Act("import", prepare=lambda _: None, work=lambda _: None, state=lambda _: "half of it", done=lambda _: "all")
    look(act, place, found, before=None, after="all")
    assert (found.undone, found.finished, len(found.half)) == (0, 0, 1)
    assert not Outcome({"import": found}, acknowledged=0, lost=0, doubled=0, seconds=1.0).clean
    assert Outcome({"import": Found()}, acknowledged=0, lost=0, doubled=0, seconds=1.0).clean

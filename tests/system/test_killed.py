"""App and worker are killed while people label and a round trains: nothing acknowledged is lost, and the round ends."""

from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import Engine

from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import writing
from benchmarks.scale.faults import Annotator, compared, faults
from tests.helpers.factories import make_project


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

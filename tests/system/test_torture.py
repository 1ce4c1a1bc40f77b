"""The torture of the labelling card sees a lost, a changed and a doubled answer."""

from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import record
from tests.helpers.browser import Desk
from tests.helpers.factories import make_project, make_round
from tests.system.kills.torture import counted, torture
from tests.system.kills.torture_acts import ACTS


@pytest.fixture
def desk(engine: Engine) -> Desk:
    project = make_project(engine, ["a", "b", "c"], auto_train=False)
    make_round(engine, project, 3)
    desk = Desk(engine, project, "")
    one, other, _ = [task.id for task in desk.tasks]
    events = [("k1", one, "positive"), ("k2", other, "negative"), ("k3", other, "unsure")]
    record(engine, project, "me", [{"key": key, "task_id": task, "answer": answer} for key, task, answer in events])
    return desk


def test_what_was_lost_changed_and_doubled_is_seen(desk: Desk) -> None:
    one, other, last = [task.id for task in desk.tasks]
    pressed = {"k1": (one, "unsure"), "k2": (other, "negative"), "k4": (last, "positive")}
    keys = Counter({"answered": 3, "told": 2, "not told": 1, "no card": 4})
    found = counted("test", keys, pressed, desk, 1.0)
    assert (found.keys, found.pressed, found.told, found.unanswered) == (10, 3, 2, "4 no card, 1 not told")
    assert (found.stored, found.lost, found.doubled, found.clean) == (2, 2, 1, False)


def test_a_second_answer_and_a_key_that_repeats_are_doubled(desk: Desk) -> None:
    one, other, _ = [task.id for task in desk.tasks]
    pressed = {"k1": (one, "positive"), "k2": (other, "negative"), "k3": (other, "unsure")}
    assert counted("test", Counter(answered=3), pressed, desk, 1.0).doubled == 1
    repeated = counted("test", Counter(answered=2, repeated=1), pressed, desk, 1.0)
    assert (repeated.keys, repeated.lost, repeated.doubled) == (2, 0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("test", ACTS)
def test_nothing_is_lost_or_doubled(tmp_path: Path, chromium: Browser, test: str) -> None:
    found = torture(test, chromium, tmp_path, presses=30, seed=1)
    assert found.clean and found.stored == found.pressed, found
    assert found.keys == 30 and found.pressed > 20

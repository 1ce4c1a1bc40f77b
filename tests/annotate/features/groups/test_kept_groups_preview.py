"""The preview of a project's groups against what an update stores."""

import re
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.groups import kept_groups_preview
from allpairs.annotate.features.groups.kept_groups import change_in_words, read_changes
from allpairs.annotate.features.groups.kept_groups_preview import (
    GroupsPreview,
    preview_groups,
    preview_in_words,
    update_to_preview,
)
from allpairs.db.domain import GroupEvent
from tests.helpers.factories import make_groups, make_project
from tests.helpers.projects.results import item_ids

BEFORE = ((0, 1, 2), (3, 4), (5, 6), (7, 8, 9, 10))
AFTER = ((0, 1), (2, 11), (3, 4), (7, 8, 9), (10, 12))


def grouped(ids: list[int], groups: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    return [[ids[at] for at in group] for group in groups]


def previewed(engine: Engine, project_id: int, groups: list[list[int]]) -> GroupsPreview:
    items = np.array([item for group in groups for item in group] + [10**6])  # the last one is alone
    of = np.append(np.repeat(np.arange(len(groups)), list(map(len, groups))), -1)
    return preview_groups(engine, project_id, items, of)


def test_a_preview_says_what_the_update_then_stores(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(14)])
    ids = item_ids(engine, project_id)
    make_groups(engine, project_id, grouped(ids, BEFORE))
    after = grouped(ids, AFTER)
    found = previewed(engine, project_id, after)
    assert (found.same, found.changed, found.ended, found.new) == (1, 2, 1, 2)
    assert "4 groups, 1 stays as it is, 2 change, 1 ends; 2 new groups" in preview_in_words(found)
    cursor = read_changes(engine, project_id, 0, 100)[-1].cursor
    make_groups(engine, project_id, after)
    stored = {one.group: one for one in read_changes(engine, project_id, cursor, 100)}
    assert {one.group for one in found.largest} == {
        name for name, one in stored.items() if one.event != GroupEvent.CREATED
    }
    for one in found.largest:
        told = stored[one.group]
        assert (one.event, one.before, one.size, one.added, one.removed) == (
            told.event, told.before, told.size, told.added, told.removed,
        )  # fmt: skip
    assert re.fullmatch("divided.* new group.* 4 → 3 texts", change_in_words(found.largest[-1]))
    assert previewed(engine, project_id, after) == GroupsPreview(5, 0, 0, 0, [])


def test_without_groups_and_with_very_many_texts_there_is_none(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(14)])
    assert update_to_preview(engine, project_id) is None
    make_groups(engine, project_id, grouped(item_ids(engine, project_id), BEFORE))
    assert update_to_preview(engine, project_id) is not None
    monkeypatch.setattr(kept_groups_preview, "MOST_TEXTS", 10)
    assert update_to_preview(engine, project_id) is None

"""Correcting groups on a page, without a browser."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.groups.open_groups import read_group_work
from allpairs.db.domain import Side
from allpairs.db.projects.stable_groups import grouped_items
from allpairs.db.results.matches import GROUPS, NEAR, Matches, write_summary, writing_matches
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, ListRow, ListVersion
from tests.helpers.factories import make_groups, make_project
from tests.helpers.figures.measured import add_matcher
from tests.helpers.projects.results import FIGURES

WEAKEST = {"g1": 0.9, "g2": 0.6, "g3": 0.7}
NAMES = ["Anna Meier", "Anna Meyer", "Ben", "Cem", "Cem K.", "Dora", "Dora S.", "Eva", "Eve"]


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    """Return a project of nine rows in groups of three, two and two, and a near miss of the last two."""
    project_id = make_project(engine, [f"text {name}" for name in NAMES], evaluation=2)
    add_matcher(engine, project_id, 1, FIGURES)
    with writing(engine) as session:
        items = list(session.scalars(select(Item.id).order_by(Item.id)))
        version = ListVersion(project_id=project_id, side=Side.LEFT, file="a.csv", columns=["name", "city"],
                              id_column="", compared=["name"], format={})  # fmt: skip
        session.add(version)
        session.flush()
        for place, name in enumerate(NAMES):
            session.add(ListRow(project_id=project_id, side=Side.LEFT, version_id=version.id, place=place,
                                external_id=f"left-{place}", cells=[name, "Bonn" if place else ""]))  # fmt: skip
    make_groups(engine, project_id, [items[:3], items[3:5], items[5:7]], matcher=1)
    group_of = {place: f"g{number}" for number, places in ((1, range(3)), (2, (3, 4)), (3, (5, 6))) for place in places}
    with writing_matches(project_id) as folder:
        groups = {
            "group_id": list(group_of.values()),
            "side": ["left"] * 7,
            "id": [f"left-{place}" for place in group_of],
            "weakest": [WEAKEST[name] for name in group_of.values()],
        }
        pyarrow.parquet.write_table(pyarrow.table(groups), folder / GROUPS)
        near = {"left_id": [items[7]], "right_id": [items[8]], "p": [0.4]}
        pyarrow.parquet.write_table(pyarrow.table(near), folder / NEAR)
        numbers = dict.fromkeys(("pairs", "groups", "grouped", "texts", "below", "rows", "left_out", "alike"), 0)
        words = {"clustering": "connected", "representative": "central", "newest_by": "", "note": ""}
        write_summary(
            folder, Matches(job_id="m", matcher=1, threshold=0.5, reranker=None, changed=3, **numbers, **words)
        )
    return project_id


def open_part(project_id: int) -> AppTest:
    script = (
        "from allpairs.annotate.features.groups.ui.correct import correct_groups\n"
        "from allpairs.annotate.kit.ui.state import engine\n"
        f"correct_groups({project_id})\n"
    )
    page = AppTest.from_string(script, default_timeout=30).run()
    assert not page.exception
    return page


def press(page: AppTest, name: str, project_id: int) -> AppTest:
    page.button(key=f"correct_{project_id}_{name}").click().run()
    assert not page.exception
    return page


def captions(page: AppTest) -> str:
    return "\n".join(text.value for text in page.caption)


def tables(page: AppTest) -> str:
    return "\n".join(part.proto.body for part in page.get("html"))


def groups_of(engine: Engine, project_id: int) -> list[list[int]]:
    with reading(engine) as session:
        first = session.scalar(select(Item.id).order_by(Item.id).limit(1)) or 0
        items, numbers = grouped_items(session, project_id)
    parts: dict[int, list[int]] = {}
    for item, number in zip(items, numbers, strict=True):
        parts.setdefault(number, []).append(item - first)
    return sorted(parts.values())


def test_groups_come_least_sure_first_as_tables(engine: Engine, project: int) -> None:
    page = open_part(project)
    assert "3 groups left" in captions(page) and "**g2** · 2 rows" in captions(page)
    page = press(page, "move_J", project)
    assert "**g3**" in captions(page)
    page = press(page, "move_J", project)
    assert "**g1** · 3 rows" in captions(page)
    table = tables(page)
    assert table.index("Meyer") < table.index("Meier")  # fewer cells are filled
    assert table.count("data-mark='missing'") == 1 and table.count("data-mark='different'") == 1
    page = press(page, "move_J", project)
    assert "Join?" in captions(page) and "Eva" in tables(page) and "Eve" in tables(page)


def test_right_split_and_undo(engine: Engine, project: int) -> None:
    page = press(open_part(project), "act_1", project)
    assert "2 groups left" in captions(page) and "**g3**" in captions(page)
    page = press(page, "act_2", project)  # of two rows without a tick
    assert groups_of(engine, project) == [[0, 1, 2], [3, 4]]
    assert "**g1**" in captions(page)
    with reading(engine) as session:
        third = session.scalars(select(Item.id).order_by(Item.id)).all()[2]
    page.button(key=f"tick_{project}_{third}").click().run()
    page = press(page, "act_2", project)
    assert groups_of(engine, project) == [[0, 1], [3, 4]]
    assert "All 2 groups were looked at: precision is exact, 0.40" in captions(page)  # two of five pairs
    for _ in range(3):
        page = press(page, "undo", project)
    assert groups_of(engine, project) == [[0, 1, 2], [3, 4], [5, 6]] and "3 groups left" in captions(page)


def test_a_group_is_merged_with_what_a_search_finds(engine: Engine, project: int) -> None:
    page = press(open_part(project), "merge", project)
    page.text_input(key=f"correct_{project}_search_words").set_value("Eva").run()
    (button,) = [button for button in page.button if (button.key or "").startswith("merge_")]
    button.click().run()
    assert groups_of(engine, project) == [[0, 1, 2], [3, 4, 7], [5, 6]]


def test_near_misses_are_joined_or_kept_apart(engine: Engine, project: int) -> None:
    page = open_part(project)
    for _ in range(3):
        page = press(page, "act_1", project)
    assert "1 near miss left" in captions(page)
    page = press(page, "act_2", project)
    assert groups_of(engine, project) == [[0, 1, 2], [3, 4], [5, 6]]
    work = read_group_work(engine, project)
    assert work is not None and work.open == []
    page = press(press(page, "undo", project), "act_1", project)
    assert groups_of(engine, project) == [[0, 1, 2], [3, 4], [5, 6], [7, 8]]
    assert "precision is exact, 1.00" in captions(page)


def test_without_groups_the_page_says_where_to_find_them(engine: Engine, home: Path) -> None:
    page = open_part(make_project(engine, ["a", "b"]))
    assert "no groups yet" in page.info[0].value

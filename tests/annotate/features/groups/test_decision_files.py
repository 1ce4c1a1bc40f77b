"""Must-links and cannot-links out and in."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.groups.decide import split_group
from allpairs.annotate.features.groups.decision_files import export_decisions, import_decisions
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import decided_pairs
from allpairs.db.projects.stable_groups import grouped_items
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Identifier, Item, PairDecision
from tests.helpers.factories import make_groups, make_project


@pytest.fixture
def texts(engine: Engine) -> list[int]:
    """Return the texts of a project, in groups of three and two."""
    project_id = make_project(engine, [f"text {i}" for i in range(6)])
    with reading(engine) as session:
        texts = list(session.scalars(select(Item.id).order_by(Item.id)))
    make_groups(engine, project_id, [texts[:3], texts[3:5]])
    with writing(engine) as session:
        session.add(Identifier(project_id=project_id, side="left", external_id="twin", item_id=texts[0]))
    return texts


def write(path: Path, *rows: str, columns: str = "id1,id2,same") -> Path:
    path.write_text("\n".join([columns, *rows]) + "\n", encoding="utf-8")
    return path


def stored(engine: Engine) -> dict[tuple[int, int], bool]:
    with reading(engine) as session:
        return decided_pairs(session, 1)


def groups(engine: Engine) -> dict[int, int]:
    with reading(engine) as session:
        return dict(zip(*grouped_items(session, 1), strict=True))


def test_what_is_exported_can_be_imported(engine: Engine, texts: list[int], tmp_path: Path) -> None:
    split_group(engine, 1, "Ann", texts[:3], texts[2:3])
    before = stored(engine)
    out = tmp_path / "out.csv"
    assert export_decisions(engine, "Questions", out) == 5  # the first text has two ids
    lines = out.read_text("utf-8").splitlines()
    assert lines[0].lstrip("\ufeff").split(",") == ["id1", "id2", "same", "who", "at"]
    assert sum("twin" in line for line in lines) == 2
    with writing(engine) as session:
        session.query(PairDecision).delete()
    assert import_decisions(engine, "Questions", out) == 3
    assert stored(engine) == before
    with reading(engine) as session:
        assert set(session.scalars(select(PairDecision.who))) == {"Ann"}


def test_groups_follow_an_import_at_once(engine: Engine, texts: list[int], tmp_path: Path) -> None:
    file = write(tmp_path / "in.csv", "left-1,left-3,must link", "left-0,left-2,0", "left-0,twin,1")
    assert import_decisions(engine, "Questions", file) == 2
    assert groups(engine) == {item: 1 for place, item in enumerate(texts[:5]) if place != 2}


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (["left-0,left-9,1"], r"row 3, column 'id2'.*no id 'left-9'"),
        (["left-0,left-1,maybe"], r"column 'same'.*'maybe'"),
        (["left-0,twin,0"], "same text"),
        (["left-0,left-1,1", "left-1,left-0,0"], "row 3 says the opposite"),
        (["left-0,left-1,1", "left-1,left-2,1", "left-0,left-2,0"], "cannot be linked"),
    ],
)
def test_a_file_with_a_mistake_stores_nothing(
    engine: Engine, texts: list[int], tmp_path: Path, rows: list[str], error: str
) -> None:
    before = groups(engine)
    with pytest.raises(InputError, match=error):
        import_decisions(engine, "Questions", write(tmp_path / "in.csv", "left-3,left-4,0", *rows))
    assert stored(engine) == {} and groups(engine) == before
    with reading(engine) as session:
        assert session.scalar(select(func.count(PairDecision.id))) == 0

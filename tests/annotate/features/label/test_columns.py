"""Records keep the columns of their files: from the import to every place that shows a pair, and in every copy."""

import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine, event, select

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.label.own_answers import history
from allpairs.annotate.features.label.queue import recent, record, serve
from allpairs.annotate.features.projects.lifecycle import duplicate_project
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.features.review.disagreements import queue
from allpairs.annotate.kit.jobs.prepared import described_pairs
from allpairs.annotate.kit.uploads import Source, load
from allpairs.db.corpus.corpus import Columns
from allpairs.db.corpus.files import read_rows
from allpairs.db.domain import AnswerKind, Role, Settings, Side
from allpairs.db.maintenance.backup import backup, restore
from allpairs.db.projects.records import Rows, records_of_items
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item, Project
from tests.helpers.factories import make_project, make_round
from tests.helpers.projects.labels import make_check_and_fast_answers
from tests.helpers.projects.lists import FIRST, LAST, LEFT, PRODUCTS, SHOP, make_products, write_list
from tests.helpers.web import member


@pytest.fixture
def products(engine: Engine, tmp_path: Path) -> int:
    return make_products(engine, tmp_path)


def pairs_of(engine: Engine, project_id: int) -> dict[tuple[str, str], Rows]:
    """Return the columns of each pair of the project's texts."""
    with reading(engine) as session:
        items = session.scalars(select(Item).where(Item.project_id == project_id)).all()
        records = records_of_items(session, project_id, [item.id for item in items])
        lefts, rights = ([item.id for item in items if item.side == side] for side in Side)
        return {
            (records.texts[left], records.texts[right]): records.rows(left, right)
            for left in lefts
            for right in rights or lefts
        }


def test_a_pair_to_label_has_its_columns_side_by_side(engine: Engine, products: int) -> None:
    pairs = serve(engine, products, "ann")[0]
    assert [pair.left for pair in pairs] == ["Paint 5 . Corel . 9.99"] * 2 + ["Draw . 2 . 10"] * 2
    assert (pairs[0].rows, pairs[-1].rows) == (FIRST, LAST)
    assert pairs_of(engine, products)["Paint 5 . Corel . 9.99", "Paint . 9.9 . corel . 2004"] == FIRST


def test_programs_get_the_columns_too(engine: Engine, products: int) -> None:
    asking = member(engine, products, Role.ANNOTATOR)
    task = asking.post(f"/projects/{products}/tasks", json={"n": 4}).json()["tasks"][0]
    assert task["rows"] == [dict(zip(("column", "left", "right"), row, strict=True)) for row in FIRST]


def test_answers_reviews_checks_and_explored_pairs_have_them_too(engine: Engine, products: int) -> None:
    pairs = serve(engine, products, "ann")[0]
    events = [
        {"key": f"k{at}", "task_id": pair.task_id, "answer": answer, "seconds": 9.0}
        for at, (pair, answer) in enumerate(zip(pairs[:2], (AnswerKind.UNSURE, AnswerKind.NEGATIVE), strict=True))
    ]
    assert record(engine, products, "ann", events).refused == {}
    past = history(engine, products, "ann", 9).answers
    assert past[-1].rows == FIRST
    case = queue(engine, products).next
    assert case is not None and case.rows == FIRST
    make_check_and_fast_answers(engine, products)
    answered = [one.pair for one in recent(engine, products, "ann")]
    assert {pair.rows for pair in answered if pair.task_id < 0} == {FIRST}
    with reading(engine) as session:
        found = described_pairs(session, products, [(case.left_id, case.right_id)], [0.5], [None])
    assert [pair.rows for pair in found] == [FIRST]


def test_columns_take_no_statement_for_each_pair(engine: Engine, products: int) -> None:
    other = make_project(engine, [f"text {i}" for i in range(9)], name="Texts", auto_train=False)
    make_round(engine, other, 30)
    said: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *given: said.append(given[2]))
    counts = []
    for project_id, pairs in ((products, 4), (other, 30)):
        said.clear()
        assert len(serve(engine, project_id, "ann")[0]) == pairs
        counts.append(len(said))
    assert counts[0] == counts[1]


def test_texts_without_columns_have_no_rows(engine: Engine) -> None:
    make_round(engine, project_id := make_project(engine, ["a . b", "c . d"]), 1)
    assert [pair.rows for pair in serve(engine, project_id, "ann")[0]] == [()]
    with reading(engine) as session:
        assert session.get_one(Project, project_id).text_columns is None


def test_one_list_stands_beside_itself(engine: Engine, tmp_path: Path) -> None:
    source = Source(write_list(tmp_path / "a.csv", LEFT, SHOP), Columns("id", LEFT))
    project_id = create_project(engine, PRODUCTS, load(source), Settings(evaluation_share=0.0))
    make_round(engine, project_id, 1)
    rows = serve(engine, project_id, "ann")[0][0].rows
    assert rows == (("title", "Paint 5", "Draw . 2"), ("maker", "Corel", ""), ("list_price", "9.99", "10"))


def test_a_copy_a_backup_and_an_archive_keep_them(
    engine: Engine, products: int, tmp_path: Path, elsewhere: Callable[[str], Engine]
) -> None:
    before = pairs_of(engine, products)
    assert len(before) == 4 and all(before.values())
    copy, _ = duplicate_project(engine, products, labels=False)
    assert pairs_of(engine, copy) == before
    export_project(engine, PRODUCTS, tmp_path / "one.zip")
    backup(engine, tmp_path / "all.db")
    other = elsewhere("other")
    assert pairs_of(other, import_project(other, tmp_path / "one.zip").project_id) == before
    restore(tmp_path / "all.db", other, replace=True)
    assert pairs_of(other, products) == pairs_of(other, copy) == before


def test_an_archive_from_before_columns_opens_without_them(engine: Engine, products: int, tmp_path: Path) -> None:
    export_project(engine, PRODUCTS, tmp_path / "new.zip")
    added = {"tables/items.jsonl": "field_lengths", "tables/projects.jsonl": "text_columns"}
    with ZipFile(tmp_path / "new.zip") as new, ZipFile(tmp_path / "old.zip", "w") as old:
        for name in new.namelist():
            content = new.read(name)
            if name in added:
                rows = [{key: value for key, value in json.loads(line).items() if key != added[name]}
                        for line in content.splitlines()]  # fmt: skip
                content = "\n".join(map(json.dumps, rows)).encode()
            if name == "manifest.json":
                manifest = json.loads(content)
                for table, column in (("items", "field_lengths"), ("projects", "text_columns")):
                    manifest["tables"][table]["columns"].remove(column)
                content = json.dumps(manifest).encode()
            old.writestr(name, content)
    arrived = import_project(engine, tmp_path / "old.zip", "Old")
    assert len(arrived.notes) == 0 and set(pairs_of(engine, arrived.project_id).values()) == {()}
    with reading(engine) as session:  # SQL's NULL, not the word null in JSON
        mine = (Item.project_id == arrived.project_id, Item.field_lengths.is_(None))
        assert len(session.scalars(select(Item.id).where(*mine)).all()) == 4


def test_product_records_keep_their_columns(engine: Engine, real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "amazon_google"
    shop = [_split(text, 2) for _, (text,) in read_rows(folder / "left.csv.gz", ("text",))]
    other = [_split(text, 3) for _, (text,) in read_rows(folder / "right.csv.gz", ("text",))]
    names = ("title", "manufacturer"), ("name", "manufacturer", "price")
    files = write_list(tmp_path / "a.csv", names[0], shop), write_list(tmp_path / "b.csv", names[1], other)
    source = Source(files[0], Columns("id", names[0]), files[1], Columns("id", names[1]))
    project_id = create_project(engine, PRODUCTS, load(source), Settings())
    with reading(engine) as session:
        items = session.scalars(select(Item).where(Item.project_id == project_id).order_by(Item.id)).all()
        first = [next(item.id for item in items if item.side == side) for side in Side]
        rows = records_of_items(session, project_id, first).rows(*first)
    assert rows == (
        ("title / name", shop[0][0], other[0][0]),
        ("manufacturer", shop[0][1], other[0][1]),
        ("price", "", other[0][2]),
    )
    assert len(items) > 4_000 and {len(item.field_lengths or ()) for item in items} == {2, 3}


def _split(text: str, columns: int) -> tuple[str, ...]:
    parts = text.split(" | ")[:columns]
    return (*parts, *[""] * (columns - len(parts)))

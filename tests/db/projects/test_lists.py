"""The rows of a project's lists are kept as they were written, through changes of texts, undo and copies."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.projects.lifecycle import duplicate_project
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.features.texts.change_texts import Act, Outcome, TextFile
from allpairs.db.corpus.corpus import Columns, stage_corpus
from allpairs.db.domain import Settings, Side
from allpairs.db.projects.lists import current_list, rows_of_list
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Identifier, ListRow
from tests.helpers.factories import make_project

NAME = "Customers"
FILE = "Nr;Name;City;;Phone\n7;Ann  Lee;Rome;x; 0039\n8;ann lee;Rome;;\n9;Bob;Bonn;y;02\n10;Cy;Bonn;;03\n"
ROWS = [["7", "Ann  Lee", "Rome", "x", " 0039"], ["8", "ann lee", "Rome", "", ""], ["9", "Bob", "Bonn", "y", "02"],
        ["10", "Cy", "Bonn", "", "03"]]  # fmt: skip


@pytest.fixture
def project(engine: Engine, tmp_path: Path) -> int:
    (tmp_path / "customers.csv").write_text(FILE, encoding="utf-8-sig")
    corpus = stage_corpus(tmp_path / "customers.csv", Columns("Nr", ("Name", "City")), keeps_rows=True)
    return create_project(engine, NAME, corpus, Settings(evaluation_share=0))


def rows_of(engine: Engine, project: int) -> dict[str, list[str]]:
    with reading(engine) as session:
        return {row.external_id: row.cells for row in rows_of_list(session, project, Side.LEFT)}


def change(
    engine: Engine, path: Path, text: str, act: Act = Act.ADD, texts: Sequence[str] = ("Name", "City")
) -> Outcome:
    path.write_text(text, encoding="utf-8")
    return change_texts.apply(engine, NAME, TextFile(path, act, Side.LEFT, Columns("Nr", tuple(texts))))


def counted(outcome: Outcome) -> Mapping[str, int]:
    return {kind: n for kind, n in outcome.counts.items() if n}


def test_a_new_project_keeps_its_file_as_it_was_written(engine: Engine, project: int) -> None:
    assert rows_of(engine, project) == dict(zip(("7", "8", "9", "10"), ROWS, strict=True))
    with reading(engine) as session:
        version = current_list(session, project, Side.LEFT)
        assert version is not None
        assert (version.file, version.columns) == ("customers.csv", ["Nr", "Name", "City", "", "Phone"])
        assert (version.id_column, version.compared) == ("Nr", ["Name", "City"])
        parts = {"separator": ";", "encoding": "utf-8", "bom": True, "sheet": "", "suffix": ".csv"}
        assert parts.items() <= version.format.items()
        named = (
            select(func.count()).select_from(ListRow).join(Identifier, Identifier.external_id == ListRow.external_id)
        )
        assert session.scalar(named) == 4
        assert current_list(session, project, Side.RIGHT) is None
        assert list(rows_of_list(session, project, Side.RIGHT)) == []


def test_changes_of_texts_change_rows_and_are_undone(engine: Engine, project: int, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    text = "Phone,Town,Nr,Name,Since\n04,Bonn,9,Bob,2020\n05,Paris,11,Di,\n03,Bonn,10,Cyrus,\n"
    outcome = change(engine, path, text, texts=("Name", "Town"))
    assert counted(outcome) == {"new": 1, "changed": 1, "updated": 1}
    after = {
        "7": [*ROWS[0], ""],
        "8": [*ROWS[1], ""],
        "9": ["9", "Bob", "Bonn", "y", "04", "2020"],
        "10": ["10", "Cyrus", "Bonn", "", "03", ""],
        "11": ["11", "Di", "Paris", "", "05", ""],
    }
    assert list(rows_of(engine, project).items()) == list(after.items())  # in their order
    assert counted(change(engine, path, text, texts=("Name", "Town"))) == {"same": 3}
    assert counted(change(engine, path, "Nr\n7\n11\n", Act.WITHDRAW)) == {"withdrawn": 2}
    assert list(rows_of(engine, project)) == ["8", "9", "10"]
    copy_id, _ = duplicate_project(engine, project, False, "Copy")
    assert rows_of(engine, copy_id) == rows_of(engine, project)
    change_texts.undo_text_change(engine, project)
    assert list(rows_of(engine, project).items()) == list(after.items())
    change_texts.undo_text_change(engine, project)
    assert list(rows_of(engine, project).values()) == ROWS
    assert list(rows_of(engine, copy_id)) == ["8", "9", "10"]


def test_a_change_of_other_columns_alone_is_stored(engine: Engine, project: int, tmp_path: Path) -> None:
    outcome = change(engine, tmp_path / "new.csv", "Nr,Name,City,Phone\n9,Bob,Bonn,77\n")
    assert counted(outcome) == {"updated": 1} and outcome.change is not None and outcome.change.changed == 1
    assert rows_of(engine, project)["9"] == ["9", "Bob", "Bonn", "y", "77"]
    with change_texts.sent([{"id": "10", "Name": "Cy", "City": "Bern"}], Act.ADD, Side.LEFT) as source:
        change_texts.apply(engine, NAME, source)
    assert rows_of(engine, project)["10"] == ["10", "Cy", "Bern", "", "03"]


def test_a_project_without_rows_gets_none_by_a_change(engine: Engine, tmp_path: Path) -> None:
    project = make_project(engine, ["a", "b", "c"], name=NAME)
    change(engine, tmp_path / "new.csv", "Nr,text\n1,x\n", texts=("text",))
    assert rows_of(engine, project) == {}

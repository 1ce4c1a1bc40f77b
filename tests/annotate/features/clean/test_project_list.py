"""A project's clean list: by the rows of its file, the groups that it keeps, and rules."""

import csv
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.clean.api import CleanPageRequest, clean_list
from allpairs.annotate.features.clean.overview import find_doubles, first_clean_rows, list_state, read_list_overview
from allpairs.annotate.features.clean.project_list import CleanRulesInput, reading_list, write_project_list
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.kit.api import Call
from allpairs.db.corpus.corpus import Columns, stage_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Settings, Side
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import GroupedItem, Identifier, Project
from tests.helpers.factories import make_project

ROWS = (
    ("c1", "Anna Berg", "+49 30 1", ""),
    ("c2", "Anna  Berg", "", "x"),
    ("c3", "Bea Stein", "", "=1+1"),
    ("c4", "Anna Berk", "+49 30 12", "y"),
    ("c5", "Carl Ott", "5", ""),
)
COLUMNS = ("Nr", "Name", "Tel", "Note")


@pytest.fixture
def project(engine: Engine, tmp_path: Path) -> int:
    """Return a project of a file, in whose groups are the first two rows, equal texts, with the fourth one."""
    path = tmp_path / "customers.csv"
    path.write_text("\n".join(map(";".join, (COLUMNS, *ROWS))), encoding="cp1252")
    corpus = stage_corpus(path, Columns("Nr", ("Name",)), keeps_rows=True)
    project_id = create_project(engine, "Customers", split_corpus(corpus, 0.0, np.random.default_rng(0)), Settings())
    with writing(engine) as session:
        for item in {item_of(session, project_id, name) for name in ("c1", "c4")}:
            session.add(GroupedItem(item_id=item, project_id=project_id, number=7))
    return project_id


def item_of(session: object, project_id: int, name: str) -> int:
    query = select(Identifier.item_id).where(Identifier.project_id == project_id, Identifier.external_id == name)
    return session.scalars(query).one()  # type: ignore[attr-defined, no-any-return]


def test_the_files_have_every_row_as_it_came(engine: Engine, project: int, tmp_path: Path) -> None:
    write_project_list(engine, project, CleanRulesInput(columns='{"Note": "joined"}'), tmp_path / "out.csv")

    def read(name: str) -> list[tuple[str, ...]]:
        with (tmp_path / name).open(encoding="utf-8-sig", newline="") as stream:
            return list(map(tuple, csv.reader(stream, delimiter=";")))

    marked = read("out-marked.csv")
    assert [row[:4] for row in marked] == [COLUMNS, *ROWS]
    assert [row[4:6] for row in marked[1:]] == [("g7", "no"), ("g7", "no"), ("", "yes"), ("g7", "yes"), ("", "yes")]
    assert read("out.csv")[1:] == [ROWS[2], ("c4", "Anna Berk", "+49 30 12", "y; x"), ROWS[4]]
    changes = [(row[0], row[2], row[3], row[6]) for row in read("out-changes.csv")[1:]]
    assert changes == [
        ("row removed", "c1", "c4", ""),
        ("row removed", "c2", "c4", ""),
        ("cell changed", "c4", "c4", "c4; c2"),
    ]


def test_equal_texts_are_one_group_without_a_search(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        for row in session.scalars(select(GroupedItem)):
            session.delete(row)
    with reading_list(engine, project, CleanRulesInput()) as project_list:
        assert list(project_list.plan.removed.items()) == [(1, 0)]


def test_a_workbook_is_the_same_list(engine: Engine, project: int, tmp_path: Path) -> None:
    write_project_list(engine, project, CleanRulesInput(), tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Marked"]
    cells = [tuple(cell.value or "" for cell in row[:4]) for row in sheet.iter_rows()]
    assert cells == [COLUMNS, *ROWS]


def test_the_api_gives_all_pages(engine: Engine, project: int) -> None:
    with reading(engine) as session:
        call = Call(engine, "me", session.get_one(Project, project))
    rows = []
    cursor = 0
    while True:
        page = clean_list(call, CleanPageRequest(table="marked", cursor=cursor, limit=2))
        rows += page.rows
        cursor = page.cursor
        if not page.more:
            break
    assert [tuple(row[:4]) for row in rows] == list(ROWS)
    assert (page.list_rows, page.clean_rows, page.columns[-1]) == (5, 3, "sure")


def test_an_overview_and_the_first_rows(engine: Engine, project: int) -> None:
    overview = read_list_overview(engine, project, Side.LEFT)
    assert (overview.rows, overview.doubles, overview.groups, overview.is_workbook) == (5, 2, 1, False)
    assert overview.columns == list(COLUMNS)
    choices = CleanRulesInput()
    with reading_list(engine, project, choices) as project_list:
        assert project_list.plan.rows - len(project_list.plan.removed) == 3
    assert first_clean_rows(engine, project, choices) == [list(ROWS[2]), list(ROWS[3]), list(ROWS[4])]


def test_a_project_without_rows_says_so(engine: Engine, tmp_path: Path) -> None:
    project_id = make_project(engine, ["a", "b"])
    assert list_state(engine, project_id, Side.LEFT) is None
    with pytest.raises(InputError, match="not kept"):
        write_project_list(engine, project_id, CleanRulesInput(), tmp_path / "out.csv")
    with pytest.raises(InputError, match="no model yet"):
        find_doubles(engine, project_id)


@pytest.mark.parametrize("columns", ["[]", "{", '{"Tel": "loudest"}', '{"Ort": "first"}'])
def test_wrong_rules_are_refused(engine: Engine, project: int, tmp_path: Path, columns: str) -> None:
    with pytest.raises(InputError):
        write_project_list(engine, project, CleanRulesInput(columns=columns), tmp_path / "out.csv")
    assert not list(tmp_path.glob("out*"))

"""The files of a clean list, read back with other libraries."""

import csv
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from allpairs.db.corpus.files import FileFormat
from allpairs.db.errors import InputError
from allpairs.learner.light.clean import workbook
from allpairs.learner.light.clean.files import write_clean_list
from allpairs.learner.light.clean.plan import ListedRow, RowGroup, plan_clean_list
from tests.helpers.machine import examples

COLUMNS = ("name", "Größe", "group")
TABLE = [("=1+1", "007", "x"), ("Grün; Ltd", "1.5", ""), ('say "hi"\r\n', "7", "'=2")]
GROUPS = {0: RowGroup("a", 0.987), 1: RowGroup("a", 0.987)}
SEMICOLONS = FileFormat(";", "cp1252", suffix=".csv")
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8)


def write(
    out: Path,
    form: FileFormat = SEMICOLONS,
    table: Sequence[Sequence[str]] = TABLE,
    columns: Sequence[str] = COLUMNS,
    groups: dict[int, RowGroup] = GROUPS,
) -> list[str]:
    rows = [ListedRow(place, f"id{place}", cells) for place, cells in enumerate(table)]
    plan = plan_clean_list(lambda: rows, columns, groups)
    return write_clean_list(out, lambda: rows, plan, form)


def read(path: Path, encoding: str, separator: str) -> list[list[str]]:
    with path.open(encoding=encoding, newline="") as stream:
        return list(csv.reader(stream, delimiter=separator))


def test_separated_text_goes_out_as_it_came(tmp_path: Path) -> None:
    assert write(tmp_path / "out.csv") == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out-changes.csv", "out-marked.csv", "out.csv"]
    marked = read(tmp_path / "out-marked.csv", "cp1252", ";")
    assert marked[0] == [*COLUMNS, "group_2", "keep", "sure"]
    assert [tuple(row[:3]) for row in marked[1:]] == TABLE
    assert [row[3:] for row in marked[1:]] == [["a", "yes", "0.98"], ["a", "no", "0.98"], ["", "yes", ""]]
    assert read(tmp_path / "out.csv", "cp1252", ";") == [list(COLUMNS), list(TABLE[0]), list(TABLE[2])]
    changes = read(tmp_path / "out-changes.csv", "cp1252", ";")
    assert changes[1:] == [["row removed", "a", "id1", "id0", "", "", "", "0.98"]]


def test_formulas_of_other_kinds_of_files_are_guarded(tmp_path: Path) -> None:
    write(tmp_path / "out.csv", FileFormat(suffix=".xlsx"))
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert [row[0] for row in read(tmp_path / "out.csv", "utf-8-sig", ",")[1:]] == ["'=1+1", TABLE[2][0]]


def test_guarded_cells_come_out_guarded(tmp_path: Path) -> None:
    write(tmp_path / "out.csv", FileFormat(",", "utf-8", guarded=True))
    assert read(tmp_path / "out.csv", "utf-8-sig", ",")[1][0] == "'=1+1"


def test_letters_that_the_encoding_lacks_are_noted(tmp_path: Path) -> None:
    notes = write(tmp_path / "out.csv", table=[("Łódź", "", ""), ("", "", "")], groups={})
    assert len(notes) == 2 and all("Ł" in note and "cp1252" in note for note in notes)
    assert read(tmp_path / "out.csv", "utf-8-sig", ";")[1][0] == "Łódź"


def test_a_workbook_has_three_sheets(tmp_path: Path) -> None:
    write(tmp_path / "out.xlsx")
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert book.sheetnames == ["Clean", "Marked", "Changes"]
    cells = [[cell.value for cell in row] for row in book["Marked"].iter_rows()]
    assert cells[1] == ["=1+1", "007", "x", "a", "yes", "0.98"]
    assert cells[3][1] == "7"  # text, as it came
    assert {cell.data_type for row in book["Marked"].iter_rows() for cell in row} <= {"s", "n", "inlineStr"}
    kept, removed, alone = (book["Marked"].cell(row, 1) for row in (2, 3, 4))
    assert kept.font.bold and not removed.font.bold and not alone.font.bold
    assert kept.fill.fgColor.rgb == removed.fill.fgColor.rgb != alone.fill.fgColor.rgb
    assert [row[2].value for row in book["Changes"].iter_rows()] == ["id", "id1"]


def test_numbers_of_a_workbook_are_numbers_again(tmp_path: Path) -> None:
    table = [("1", "007", "12345678901"), ("-2.5", "7", "1"), ("", "7", "")]
    write(tmp_path / "out.xlsx", FileFormat(suffix=".xlsx"), table, groups={})
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Clean"]
    assert [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)] == [
        [1, "007", "12345678901"],
        [-2.5, "7", "1"],
        [None, "7", None],
    ]


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_workbook_holds_every_text_as_it_is(tmp_path: Path, table: list[tuple[str, str]]) -> None:
    write(tmp_path / "out.xlsx", FileFormat(), table, ("a", "b"), {})
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Marked"]
    cells = [(sheet.cell(row, 1).value or "", sheet.cell(row, 2).value or "") for row in range(2, len(table) + 2)]
    assert [tuple(map(openpyxl.utils.escape.unescape, row)) for row in cells] == table


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), st.sampled_from([",", ";", "\t", "|"]))
@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_separated_text_holds_every_text(tmp_path: Path, table: list[tuple[str, str]], separator: str) -> None:
    write(tmp_path / "out.csv", FileFormat(separator, "utf-8"), table, ("a", "b"), {})
    assert [tuple(row) for row in read(tmp_path / "out.csv", "utf-8-sig", separator)[1:]] == table


def test_other_tables_are_written_in_their_formats(tmp_path: Path) -> None:
    write(tmp_path / "out.parquet", FileFormat(suffix=".parquet"))
    assert pyarrow.parquet.read_table(tmp_path / "out-marked.parquet").column("name").to_pylist() == [
        name for name, *_ in TABLE
    ]


def test_what_a_workbook_cannot_hold_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"row 1, column 'name'.*32,767.*40,000"):
        write(tmp_path / "out.xlsx", table=[("x" * 40_000, "", "")], groups={})
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    with pytest.raises(InputError, match="CSV"):
        write(tmp_path / "out.xlsx")
    with pytest.raises(InputError, match=r"'\.doc'"):
        write(tmp_path / "out.doc")
    with pytest.raises(InputError, match="does not exist"):
        write(tmp_path / "absent" / "out.csv")
    assert not list(tmp_path.iterdir())


def test_all_files_come_or_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="half a character"):
        write(tmp_path / "out.csv", table=[("a", "", ""), ("\ud800", "", "")], groups={1: RowGroup("a")})
    assert not list(tmp_path.iterdir())


def test_a_workbook_is_read_as_a_spreadsheet_reads_it(tmp_path: Path) -> None:
    write(tmp_path / "out.xlsx")
    rows = CalamineWorkbook.from_path(str(tmp_path / "out.xlsx")).get_sheet_by_name("Clean").to_python()
    assert rows[1] == list(TABLE[0])

"""Workbooks are read as people see them; every kind of broken workbook gives one clear line."""

import datetime
import gzip
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet

from allpairs.db.corpus.corpus import Columns, stage_corpus
from allpairs.db.corpus.files import TO_BE_FOUND, FileFormat, ReadFile, column_names, preview, read_rows
from allpairs.db.domain import Side
from allpairs.db.errors import InputError

DAY = datetime.date(2024, 5, 31)
ROWS = [["id", "name"], [1, "Ann"], [2, "Bob"]]


def saved(path: Path, *sheets: Sequence[Sequence[Any]], change: Callable[[Worksheet], None] = lambda _: None) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for number, rows in enumerate(sheets, 1):
        sheet = book.create_sheet(f"Sheet {number}")
        for row in rows:
            sheet.append(list(row))
        change(sheet)
    book.save(path)
    return path


def table_of(path: Path, stated: FileFormat = TO_BE_FOUND) -> tuple[list[str], list[tuple[int, tuple[str, ...]]], str]:
    """Return the names of the columns, the rows with their numbers, and the notes as one text."""
    names = column_names(path, stated)
    about = ReadFile()
    rows = [(number, values) for number, values in read_rows(path, names, stated=stated, about=about)]
    return names, rows, "\n".join(about.notes)


def test_cells_are_text_as_people_see_them(tmp_path: Path) -> None:
    cells = [7, 0.1 + 0.2, 10**17, "007", DAY, datetime.datetime(2024, 5, 31, 8, 30), datetime.time(8, 30)]
    more = [datetime.timedelta(hours=30), True, 0.25, "#N/A", "=1+1", " a\nb "]
    names = [f"c{i}" for i in range(len(cells + more))]
    _, rows, notes = table_of(saved(tmp_path / "a.xlsx", [names, cells + more, ["x"] * len(names)]))
    seen = ("7", "0.3", "100000000000000000", "007", "2024-05-31", "2024-05-31 08:30:00", "08:30:00", "30:00:00")
    assert rows[0] == (2, (*seen, "true", "0.25", "", "", " a\nb "))
    assert notes == ""


def test_a_sheet_of_libreoffice_is_read(tmp_path: Path) -> None:
    def row(*cells: str, more: str = "") -> str:
        return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"

    def cell(kind: str, text: str, value: str = "") -> str:
        return f'<table:table-cell office:value-type="{kind}" {value}><text:p>{text}</text:p></table:table-cell>'

    rest = '<table:table-cell table:number-columns-repeated="16381"/>'
    heads = row(*(cell("string", name) for name in ("id", "name", "day")), rest)
    day = cell("date", "31.05.24", 'office:date-value="2024-05-31"')
    first = row(cell("float", "7,0", 'office:value="7"'), cell("string", "Ann"), day, rest)
    empty = row(rest, more='table:number-rows-repeated="1048574"')
    spaces = (
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    table = f'<table:table table:name="Customers">{heads}{first}{empty}</table:table>'
    body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{manifest}"/>')
        archive.writestr("content.xml", f"<office:document-content {' '.join(spaces)}>{body}</office:document-content>")
    assert table_of(tmp_path / "a.ods") == (["id", "name", "day"], [(2, ("7", "Ann", "2024-05-31"))], "")


@pytest.mark.parametrize("end", [".xlsx", ".xlsx.gz"])
def test_the_first_sheet_with_rows_is_read(tmp_path: Path, end: str) -> None:
    path = saved(tmp_path / "a.xlsx", [], [["only names"]], ROWS, [["x"], ["y"]])
    if end.endswith(".gz"):
        path = tmp_path / f"b{end}"
        path.write_bytes(gzip.compress((tmp_path / "a.xlsx").read_bytes()))
    names, rows, notes = table_of(path)
    assert (names, rows) == (["id", "name"], [(2, ("1", "Ann")), (3, ("2", "Bob"))])
    assert "'Sheet 3'" in notes and "'Sheet 4'" in notes
    assert table_of(path, FileFormat(sheet="Sheet 4")) == (["x"], [(2, ("y",))], "")
    look = preview(path, 1)
    assert look.format == FileFormat(sheet="Sheet 3", suffix=end)
    assert list(look.sheets) == ["Sheet 1", "Sheet 2", "Sheet 3", "Sheet 4"]
    with pytest.raises(InputError, match=r"no such sheet.*'Sheet 4'"):
        column_names(path, FileFormat(sheet="Other"))


def test_empty_rows_and_columns_are_left_out(tmp_path: Path) -> None:
    rows = [[], ["id", None, "name", "", " "], [1, None, "Ann", "x"], [], [None, " "], [2, None, "Bob"], []]

    def format_far(sheet: Worksheet) -> None:
        sheet["XFD1"].font = Font(bold=True)  # 16,384 columns
        sheet["XFD1048576"].font = Font(bold=True)

    names, read, notes = table_of(saved(tmp_path / "a.xlsx", rows, change=format_far))
    assert names == ["id", "name", "D"]  # a column with values and no name has its letter
    assert read == [(3, ("1", "Ann", "x")), (6, ("2", "Bob", ""))]
    assert notes == ""


def test_names_are_found_below_titles_and_in_merged_cells(tmp_path: Path) -> None:
    def merge(sheet: Worksheet) -> None:
        for cells in ("A1:E1", "A3:A4", "B3:C3", "D3:E3", "D6:D7"):
            sheet.merge_cells(cells)

    title = [["Customers 2024"], []]
    heads = [["id", "Name", None, "Address"], [None, "first", "last", "street", "city"]]
    data = [[1, "Ann", "Lee", "A St", "Rome"], [2, "Bob", "Ray", "B St", "Bonn"], [3, "Cy", "Ray", None, "Bonn"]]
    names, rows, notes = table_of(saved(tmp_path / "a.xlsx", title + heads + data, change=merge))
    assert names == ["id", "Name first", "Name last", "Address street", "Address city"]
    assert rows[1:] == [(6, ("2", "Bob", "Ray", "B St", "Bonn")), (7, ("3", "Cy", "Ray", "B St", "Bonn"))]
    assert "row 3" in notes and "Customers 2024" in notes and "merged" in notes

    data = [[1, "Ann", "Lee"], [2, "Bob", "Ray"]]
    path = saved(tmp_path / "b.xlsx", [["id", "Name"], *data], change=lambda sheet: sheet.merge_cells("B1:C1"))
    assert table_of(path) == (["id", "Name", "Name 2"], [(2, ("1", "Ann", "Lee")), (3, ("2", "Bob", "Ray"))], "")


def test_a_total_at_the_end_is_left_out_with_a_note(tmp_path: Path) -> None:
    rows = [["id", "name", "sum", "city"], [1, "Ann", 5, "Rome"], [2, "Total", 6, "Bonn"]]
    assert len(table_of(saved(tmp_path / "a.xlsx", rows))[1]) == 2  # a company of this name
    _, read, notes = table_of(saved(tmp_path / "b.xlsx", [*rows, [], ["Summe:", None, 11]]))
    assert [values[0] for _, values in read] == ["1", "2"]
    assert "row 5" in notes and "Summe" in notes


def test_formulas_without_values_are_named(tmp_path: Path) -> None:
    _, rows, notes = table_of(saved(tmp_path / "a.xlsx", [["id", "twice"], [1, "=A2*2"], [2, "=A3*2"]]))
    assert [values for _, values in rows] == [("1", ""), ("2", "")]
    assert "'twice'" in notes and "formulas" in notes


def encrypted() -> bytes:
    """Return a compound file with the stream in which Excel puts an encrypted workbook."""

    def entry(name: str, kind: int, child: int, start: int) -> bytes:
        text = (name + "\0").encode("utf-16-le")
        head = text.ljust(64, b"\0") + struct.pack("<HBBiii", len(text), kind, 1, -1, -1, child)
        return head + bytes(36) + struct.pack("<iq", start, 0)

    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<iiiiiiiii", 0, 1, 1, 0, 4096, -2, 0, -2, 0) + struct.pack("<i", 0) + b"\xff" * 432
    table = struct.pack("<ii", -3, -2) + b"\xff" * 504
    folder = entry("Root Entry", 5, 1, -2) + entry("EncryptedPackage", 2, -1, -2)
    return header + table + folder.ljust(512, b"\0")


def test_bad_workbooks_are_refused_in_one_line(tmp_path: Path) -> None:
    def fill_far(sheet: Worksheet) -> None:
        sheet["XFD1048576"] = "x"

    path = tmp_path / "archive.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "x")
    for name, data in (("text.xlsx", b"id,text\n1,x\n"), ("empty.xls", b""), ("locked.xlsx", encrypted())):
        (tmp_path / name).write_bytes(data)
    saved(tmp_path / "names.xlsx", [["id", "name"]])
    saved(tmp_path / "blank.xlsx", [])
    saved(tmp_path / "far.xlsx", ROWS, change=fill_far)
    saved(tmp_path / "twice.xlsx", [["id", "name", "name"], [1, "Ann", "Lee"]])
    saved(tmp_path / "no id.xlsx", [["id", "name"], [1, "Ann"], [None, "Bob"]])
    for name, part in {
        "archive.xlsx": "no workbook",
        "text.xlsx": "no workbook",
        "empty.xls": "no workbook",
        "locked.xlsx": "password",
        "names.xlsx": "no sheet has names",
        "blank.xlsx": "no sheet has names",
        "far.xlsx": "column XFD, row 1,048,576",
        "twice.xlsx": "column 'name': two columns",
        "no id.xlsx": "row 3, column 'id': the id is empty",
    }.items():
        with pytest.raises(InputError) as caught:
            stage_corpus(tmp_path / name, Columns("id", ("name",)), keeps_rows=True)
        assert part in str(caught.value) and name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_all_columns_of_a_sheet_are_kept(tmp_path: Path) -> None:
    rows = [["name", "id", "bought", "note"], ["Ann", 1, DAY, None], ["Bob", 2, None, 1.5]]
    corpus = stage_corpus(saved(tmp_path / "a.xlsx", rows), Columns("id", ("name",)), keeps_rows=True)
    assert corpus.rows is not None
    assert corpus.rows.lists[Side.LEFT].columns == ("name", "id", "bought", "note")
    assert [tuple(row) for row in corpus.rows.rows_of(Side.LEFT)] == [
        ("1", ["Ann", "1", "2024-05-31", ""]),
        ("2", ["Bob", "2", "", "1.5"]),
    ]

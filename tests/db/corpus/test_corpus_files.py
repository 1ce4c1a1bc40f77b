"""Tables in every format are read the same; every kind of broken file gives one clear line."""

import csv
import gzip
import io
import itertools
import json
import time
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus import cells
from allpairs.db.corpus.files import FileFormat, ReadFile, TableRow, column_names, preview, read_rows
from allpairs.db.corpus.formats.dialect import ENCODINGS, SEPARATORS
from allpairs.db.errors import InputError

TEXTS = ["How are you?", 'She said "hi", then left', "שלום עולם", "emoji 🎈👩‍👩‍👧", "two\nlines", "tab in CSV:\there"]


def csv_bytes(texts: list[str]) -> bytes:
    quoted = (text.replace('"', '""') for text in texts)
    return ("id,text\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(quoted))).encode()


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def parquet_bytes(columns: dict[str, list[object]], path: Path) -> bytes:
    pq.write_table(pa.table(columns), path)
    return path.read_bytes()


def values(path: Path, *columns: str) -> list[tuple[str, ...]]:
    return [row.values for row in read_rows(path, columns or ("id", "text"))]


def message(path: Path, *columns: str) -> str:
    with pytest.raises(InputError) as caught:
        list(read_rows(path, columns or ("id", "text")))
    text = str(caught.value)
    assert "\n" not in text
    assert path.name in text
    return text


@pytest.mark.parametrize("suffix", ["", ".gz", ".GZ"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "txt", "jsonl", "ndjson", "parquet"])
def test_every_format_gives_the_same_rows(tmp_path: Path, kind: str, suffix: str) -> None:
    texts = [text for text in TEXTS if "\n" not in text and "\t" not in text]
    ids = [str(i) for i in range(len(texts))]
    data = {
        "csv": csv_bytes(texts),
        "tsv": ("id\ttext\r\n" + "".join(f"{i}\t{text}\r\n" for i, text in enumerate(texts))).encode(),
        "jsonl": "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)).encode(),
        "parquet": parquet_bytes({"id": list(range(len(texts))), "text": texts}, tmp_path / "plain.parquet"),
    }[{"txt": "tsv", "ndjson": "jsonl"}.get(kind, kind)]
    path = tmp_path / f"items.{kind}{suffix}"
    path.write_bytes(gzip.compress(data) if suffix else data)
    assert values(path) == list(zip(ids, texts, strict=True))
    assert values(path, "text", "id") == list(zip(texts, ids, strict=True))


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    for name, data in (("a.csv", b"id,text\n1,x\n"), ("a.jsonl", b'{"id": 1, "text": "x"}\n')):
        assert values(write(tmp_path / name, b"\xef\xbb\xbf" + data)) == [("1", "x")]


def test_a_row_has_the_number_of_its_first_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b'id,text\n1,"two\nlines"\n\n2,x\n')
    assert list(read_rows(path, ("id",))) == [TableRow(2, ("1",)), TableRow(5, ("2",))]


def test_quotes_in_tsv_are_literal(tmp_path: Path) -> None:
    assert values(write(tmp_path / "a.tsv", b'id\ttext\n1\t"open\n2\tb"\n')) == [("1", '"open'), ("2", 'b"')]


def test_excels_tab_separated_text_is_read(tmp_path: Path) -> None:
    text = 'id\ttext\r\n1\t"a ""big"" kettle"\r\n2\t"two\nlines"\r\n3\tlamp\r\n'
    for name, data in (("a.txt", text.encode()), ("a.csv", text.encode()), ("b.txt", text.encode("utf-16"))):
        assert values(write(tmp_path / name, data)) == [("1", 'a "big" kettle'), ("2", "two\nlines"), ("3", "lamp")]


READ_AS = {"utf-8-sig": "utf-8"}
SUFFIXES = {"a.csv": ".csv", "a.tsv": ".tsv", "a.txt": ".txt", "a.csv.gz": ".csv.gz"}
SAID = 'steel kettle, big; or "small" | café'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_separator_and_encoding_are_found(tmp_path: Path, encoding: str) -> None:
    names, ends = ("a.csv", "a.tsv", "a.txt", "a.csv.gz"), ("\n", "\r\n", "\r")
    for separator, name, end, stated in itertools.product([*SEPARATORS, "^"], names, ends, (False, True)):
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter=separator, lineterminator=end)
        writer.writerows([("id", "text", "size, colour"), ("1", SAID, "x"), ("2", "lamp", "")])
        first = f"sep={separator}{end}" if stated or separator == "^" else ""
        path = write(tmp_path / name, (first + stream.getvalue()).encode(encoding))
        about = ReadFile()
        assert [row.values for row in read_rows(path, ("id", "text"), about=about)] == [("1", SAID), ("2", "lamp")]
        assert preview(path, 1).format.separator == separator
        assert about.format == FileFormat(
            separator, READ_AS.get(encoding, encoding), "", SUFFIXES[name], encoding == "utf-8-sig"
        )
        assert ["Windows-1252" in note and "café" in note for note in about.notes] == [True] * (encoding == "cp1252")


def test_separator_in_a_column_name_is_no_separator(tmp_path: Path) -> None:
    assert column_names(write(tmp_path / "a.csv", b"id;title, short\n1;a, b\n2;c, d\n")) == ["id", "title, short"]
    assert column_names(write(tmp_path / "b.csv", b"id;title, short\n")) == ["id", "title, short"]
    assert preview(tmp_path / "a.csv", 1, FileFormat(",")).names == ["id;title", "short"]  # a person may know better


def test_empty_rows_and_separators_at_the_end_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"\n,,\nid,text,\n1,x,\n,,\n2,y\n3,z,,\n,,\n")
    assert column_names(path) == ["id", "text"]
    assert list(read_rows(path, ("id", "text"))) == [
        TableRow(4, ("1", "x")),
        TableRow(6, ("2", "y")),
        TableRow(7, ("3", "z")),
    ]
    path = write(tmp_path / "b.csv", "\ufeff\ufeffid;text\n  \n1;x;\n2;y;;\n ; \n3;\n".encode())
    assert [row.values for row in read_rows(path, ("id", "text"))] == [("1", "x"), ("2", "y"), ("3", "")]
    path = write(tmp_path / "c.csv", b"id;text;;\n1;a, b\n2;c, d\n")
    assert values(path) == [("1", "a, b"), ("2", "c, d")]


def test_all_keys_of_all_objects_count(tmp_path: Path) -> None:
    few = [{"id": str(i), "text": "x"} for i in range(150)]
    late = [*few[:-1], {**few[-1], "label": "0"}]
    for rows in (late, late[::-1]):
        path = write(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
        assert column_names(path) == ["id", "text", "label"]
        assert "column 'label'" in message(path, "id", "label")
        labels = [row.values for row in read_rows(path, ("id", "label"), optional=("label",))]
        assert sorted(labels) == sorted((row["id"], row.get("label", "")) for row in rows)


def test_typed_values_become_sensible_text(tmp_path: Path) -> None:
    cells_in = [7, 7.0, 0.5, None, True, float("nan")]
    lines = "".join(json.dumps({"id": i, "text": value}) + "\n" for i, value in enumerate(cells_in))
    path = write(tmp_path / "a.jsonl", lines.encode())
    assert [text for _, text in values(path)] == ["7", "7", "0.5", "", "true", ""]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1, max_size=5))
def test_csv_carries_any_text(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = write(tmp_path_factory.mktemp("any") / "a.csv", csv_bytes(texts))
    assert [text for _, text in values(path)] == texts


def test_preview_shows_all_columns_of_the_first_rows(tmp_path: Path) -> None:
    names, rows, found_format, notes, sheets = preview(
        write(tmp_path / "a.csv", b"id,text,more\n1,x,\n2,y,z\n3,q,r\n"), 2
    )
    assert (found_format, notes, sheets) == (FileFormat(",", "utf-8", suffix=".csv"), (), ())
    assert names == ["id", "text", "more"]
    assert [row.values for row in rows] == [("1", "x", ""), ("2", "y", "z")]
    names, rows, *_ = preview(write(tmp_path / "a.jsonl", b'{"id": 1}\n{"id": 2, "text": "y"}\n'), 5)
    assert (names, [row.values for row in rows]) == (["id", "text"], [("1", ""), ("2", "y")])
    names, rows, *_ = preview(write(tmp_path / "b.jsonl", b'{"id": 1, "tags": ["x"]}\n'), 5)
    assert [row.values for row in rows] == [("1", "…")]  # other columns may be texts


def test_a_csv_file_may_have_semicolons(tmp_path: Path) -> None:
    semicolons = write(tmp_path / "a.csv", b'id;text\n1;"a; b, c"\n')
    assert values(semicolons) == [("1", "a; b, c")]
    with pytest.raises(InputError, match="row has 3 cells"):
        values(write(tmp_path / "b.csv", b"id;text\n1;x;y\n"))
    assert column_names(write(tmp_path / "c.csv", b"a;b,c\n1,2\n")) == ["a;b", "c"]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.csv", b"id,txet\n1,x\n", ["row 1, column 'text'", "did you mean 'txet'?", "'id', 'txet'"]),
        ("a.csv", b"", ["is empty"]),
        ("a.csv", b"id,text\n", ["no rows"]),
        ("a.csv", b"1,just one line of text\n", ["no such column"]),
        ("a.csv", b"id,text,id\n1,x,2\n", ["row 1, column 'id'", "two columns"]),
        (
            "a.csv",
            "id,text\n1,Ä\n2,".encode() + b"caf\xe9 au lait\n",
            ["row 3, column 'text'", "0xE9", "offset 18", "UTF-8"],
        ),
        (
            "a.csv",
            b"id,text\n1,caf\xe9\n2," + "Ä\n".encode(),
            ["row 3, column 'text'", "0xC3", "Windows-1252", "row 2"],
        ),
        ("a.csv", "id,text\n1,привет\n".encode("cp1251"), ["row 2, column 'text'", "UTF-8 or Windows-1252"]),
        ("a.csv", b"id,text\n1,\x81x\n", ["row 2, column 'text'", "0x81", "UTF-8 or Windows-1252"]),
        ("a.csv", "id,text\n1,x\n".encode("utf-16")[:-1], ["UTF-16", "complete"]),
        ("a.csv", b"PK\x03\x04...", ["workbook", "CSV"]),
        ("a.csv", "id,text\n1,x\n".encode("utf-32-le"), ["row 1", "NUL"]),
        ("a.csv", b'id,text\n1,"never closed\n2,x\n', ["row 2, column 'text'", "broken quoting"]),
        ("a.csv", b'id,text\n1,x\n2,"closed" too early\n', ["row 3, column 'text'", "broken quoting"]),
        ("a.csv", b"id,text\n1,a\0b\n", ["row 2, column 'text'", "NUL"]),
        ("a.csv", b"id,text\n1,x\n2,x,y\n", ["row 3", "3 cells", "2"]),
        ("a.csv", b"id,text\n1,x\r2\n", ["row 2", "carriage return"]),
        ("a.csv", b"title\nx\n", ["row 1, column 'id'", "'title'", "sep="]),
        ("a.tsv", b"id\ttext\n1\tx\n2\n", ["row 3", "1 cell", "2", "add the cells"]),
        ("a.jsonl", b'{"id": 1, "text": "x"}\n{"id": 2, "text"}\n', ["row 2", "not valid JSON", "character 17"]),
        ("a.jsonl", b'["id", "text"]\n', ["row 1", "JSON list"]),
        ("a.jsonl", b'{"id": 1, "text": "x"}\n{"id": 2}\n', ["row 2, column 'text'", "lacks this key"]),
        ("a.jsonl", b'{"id": 1, "text": "x", "text": "y"}\n', ["row 1, column 'text'", "two values"]),
        ("a.jsonl", b'{"id": 1, "text": ["x"]}\n', ["row 1, column 'text'", "list"]),
        ("a.jsonl", b'{"id": 1, "text": "\\ud800"}\n', ["row 1, column 'text'", "surrogate"]),
        ("a.jsonl", b'{"id": 1, "text": "caf\xe9"}\n', ["row 1", "0xE9"]),
        ("a.jsonl", b'{"id": ' + b"[" * 100_000 + b"\n", ["row 1", "nested too deeply"]),
        ("a.jsonl", b"\n", ["is empty"]),
        ("a.parquet", b"PAR1 but nothing else", ["Parquet"]),
        ("a.csv.gz", b"", ["is empty"]),
        ("a.docx", b"", ["'.docx'", ".csv"]),
        ("a.xlsx", b"", ["no workbook"]),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, name: str, data: bytes, expected: list[str]) -> None:
    text = message(write(tmp_path / name, data))
    assert [part for part in expected if part not in text] == []


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "no such file" in message(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "folder" in message(tmp_path / "folder.csv")


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(b"id,text\n1,x\n")
    assert "gzip" in message(path)
    path.write_bytes(gzip.compress(csv_bytes(TEXTS * 100))[:-20])
    assert "gzip" in message(path)


@pytest.mark.parametrize("length", [cells.MAX_CELL + 1, cells.MAX_LINE, 100_000_000])
@pytest.mark.parametrize("form", ["id,text,n\n1,{},2\n", 'id,text,n\n1,"{}",2\n'])
def test_an_enormous_cell_is_named_quickly(tmp_path: Path, length: int, form: str) -> None:
    path = write(tmp_path / "a.csv", form.format("x" * length).encode())
    start = time.perf_counter()
    text = message(path)
    assert time.perf_counter() - start < 2
    assert "row 2, column 'text'" in text
    assert "100,000" in text


def test_a_long_cell_is_refused_in_every_format(tmp_path: Path) -> None:
    long = "x" * 100_001
    parquet_bytes({"id": [1], "text": [long]}, tmp_path / "a.parquet")
    write(tmp_path / "a.jsonl", json.dumps({"id": 1, "text": long}).encode())
    write(tmp_path / "a.tsv", f"id\ttext\n1\t{long}\n".encode())
    for kind in ("parquet", "jsonl", "tsv"):
        assert "100,001 characters, but the limit is 100,000" in message(tmp_path / f"a.{kind}")
    assert "row 1" in message(write(tmp_path / "b.jsonl", b'{"id": 1, "text": "' + b"x" * 20_000_000 + b'"}'))


def test_a_cell_at_the_limit_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"id,text\n1," + b"x" * cells.MAX_CELL + b"\n")
    assert len(values(path)[0][1]) == cells.MAX_CELL


def test_an_open_quote_over_many_lines_is_named_where_it_opens(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b'id,text\n1,"open\n' + b"2,some text\n" * 50_000)
    assert "row 2, column 'text': a quote" in message(path)


def test_column_names_may_have_white_space_around_them(tmp_path: Path) -> None:
    assert column_names(write(tmp_path / "a.csv", b"id , text\n1,x\n")) == ["id", "text"]


def test_rows_take_constant_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"id,text\n" + b"1,some text that is long enough to count\n" * 100_000)
    tracemalloc.start()
    assert sum(1 for _ in read_rows(path, ("id", "text"))) == 100_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


WORDS = "Müller, Straße, café, Ärger, naïf"


@pytest.mark.parametrize("end", ["\n", "\r"])
def test_letters_of_an_old_mac_are_read(tmp_path: Path, end: str) -> None:
    about = ReadFile()
    path = write(tmp_path / "a.csv", f"id;text{end}1;{WORDS}{end}".encode("mac-roman"))
    assert [row.values for row in read_rows(path, ("text",), about=about)] == [(WORDS,)]
    assert about.format.encoding == "mac-roman" and "Mac" in about.notes[0] and "Müller" in about.notes[0]


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if name not in ("shift_jis", "gb18030")])
def test_an_encoding_can_be_chosen(tmp_path: Path, encoding: str) -> None:
    text = {"cp1251": "привет", "cp1253": "γειά", "cp1254": "İstanbul ğ", "cp1250": "Łódź"}.get(encoding, WORDS)
    path = write(tmp_path / "a.csv", f"id;text\n1;{text}\n".encode(encoding))
    about = ReadFile()
    chosen = FileFormat(encoding=encoding)
    assert [row.values for row in read_rows(path, ("text",), stated=chosen, about=about)] == [(text,)]
    assert (about.format.encoding, about.notes) == (encoding, [])


def test_another_encoding_than_the_chosen_one_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "id;text\n1;café\n".encode("cp1252"))
    with pytest.raises(InputError, match="not Unicode"):
        list(read_rows(path, ("text",), stated=FileFormat(encoding="utf-8")))
    with pytest.raises(InputError, match="'latin-99'"):
        preview(path, 1, FileFormat(encoding="latin-99"))


def test_columns_without_names_are_kept_in_their_places(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b",text,,more\n1,x,2,3\n")
    rows = list(read_rows(path, ("text",), whole=True))
    assert rows == [TableRow(2, ("x", "1", "x", "2", "3"))]
    path = write(tmp_path / "a.jsonl", b'{"text": "x", "tags": ["a", {"b": 1}]}\n{"text": "y"}\n')
    kept = [row.values[1:] for row in read_rows(path, ("text",), whole=True)]
    assert kept == [("x", '["a", {"b": 1}]'), ("y", "")]

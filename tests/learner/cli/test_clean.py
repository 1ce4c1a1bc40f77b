"""`allpairs clean`: every row is there once, and what is the same is one."""

import csv
import json
import re
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from tests.helpers.files.simulated import Files
from tests.helpers.services.commands import learn

HEAD = "Nr;Name;Straße;Telefon"
ROWS = (
    "1;Anna Berg;Hauptstr. 5;+49 30 1234",
    "2;Anna  Berg;Hauptstr. 5;+49 30 1234",
    "3;Peter Stein;Am Markt 1;=1+1",
    "4;;;",
    "5;;;",
)


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    path = tmp_path / "messy.csv"
    path.write_text("\n".join((HEAD, *ROWS, "")), encoding="cp1252")
    return path


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="cp1252", newline="") as stream:
        return list(csv.reader(stream, delimiter=";"))


def test_a_list_without_a_model_joins_equal_rows(messy: Path, tmp_path: Path) -> None:
    printed = learn("clean", messy, "--out", tmp_path / "out.csv").out
    assert "5 rows, 1 double in 1 group: the clean list has 4 rows" in printed
    assert "--model" in printed and "Name, Straße, Telefon" in printed
    rows = [row.split(";") for row in (HEAD, *ROWS)]
    marked = read(tmp_path / "out-marked.csv")
    assert [row[:4] for row in marked] == rows
    assert [row[4:] for row in marked[1:4]] == [["1", "no", "1.00"], ["1", "yes", "1.00"], ["", "yes", ""]]
    assert read(tmp_path / "out.csv") == [rows[0], *rows[2:]]  # the second has a letter more
    assert read(tmp_path / "out-changes.csv")[1:] == [["row removed", "1", "1", "2", "", "", "", "1.00"]]


def test_a_list_is_read_as_people_say(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for title, rows in (("Old", 2), ("New", 3)):
        sheet = book.create_sheet(title)
        for row in ("Nr;Name", "1;Anna", "2;anna", "3;Peter")[: rows + 1]:
            sheet.append(row.split(";"))
    book.save(tmp_path / "list.xlsx")
    result = learn("clean", tmp_path / "list.xlsx", "--out", tmp_path / "out.csv", "--sheet", "New", "--json").json()
    assert (result["rows"], result["clean_rows"]) == (3, 2)
    (tmp_path / "list.csv").write_text("Nr|Name\n1|M\u00fcller\n2|M\u00fcller\n3|Berg\n", encoding="cp437")
    stated = ("--separator", "|", "--encoding", "cp437")
    learn("clean", tmp_path / "list.csv", "--out", tmp_path / "out.csv", *stated)
    assert (tmp_path / "out.csv").read_text(encoding="cp437").splitlines() == ["Nr|Name", "1|M\u00fcller", "3|Berg"]


@pytest.mark.parametrize(("threshold", "left"), [((), 3), (("--threshold", 0.3), 3), (("--threshold", 1), 4)])
def test_columns_that_agree_join_rows_without_a_model(
    tmp_path: Path, threshold: tuple[str | float, ...], left: int
) -> None:
    people = (
        "Nr;Name;Street;Town",
        "1;Anna Schmidt;Hauptstr. 5;Berlin",
        "2;Peter Meier;Ringweg 17;Hamburg",
        "3;Anna Schmitt;Hauptstra\u00dfe 5;Berlin",
        "4;Klaus Vogel;Am Markt 3;Bremen",
    )
    (tmp_path / "people.csv").write_text("\n".join(people), encoding="cp1252")
    learn("clean", tmp_path / "people.csv", "--out", tmp_path / "out.csv", *threshold)
    assert len(read(tmp_path / "out.csv")) == 1 + left
    assert {row[-1] for row in read(tmp_path / "out-marked.csv")[1:]} == {""}  # nobody has checked how sure it is


def test_the_rules_decide_what_stays(messy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xlsx"
    result = learn(
        "clean", messy, "--out", out, "--keep", "newest", "--newest-by", "Nr", "--stays", 1, "--column", "Nr=joined",
        "--text-column", "Name", "--json",
    ).json()  # fmt: skip
    assert result["id_column"] == "Nr" and result["compared"] == ["Name"] and result["out"] == [str(out)]
    book = openpyxl.load_workbook(out)
    assert [cell.value for cell in book["Clean"][2]] == ["1; 2", "Anna Berg", "Hauptstr. 5", "+49 30 1234"]
    assert [cell.value for cell in book["Changes"][3]][2:7] == ["1", "1", "Nr", "1; 2", "1; 2"]


def test_a_guarded_list_stays_guarded(tmp_path: Path) -> None:
    list_file = tmp_path / "guarded.csv"
    list_file.write_text("id,name\n1,'=1+1\n2,other\n", encoding="utf-8")
    learn("clean", list_file, "--out", tmp_path / "out.csv")
    assert "1,'=1+1" in (tmp_path / "out.csv").read_text("utf-8-sig")


def test_a_trained_model_joins_its_matches(files: Files, out: Path, tmp_path: Path) -> None:
    list_file = tmp_path / "list.csv"
    texts = [*files.left.values()]
    pd.DataFrame({"id": range(len(texts)), "text": texts}).to_csv(list_file, index=False)
    result = learn(
        "clean", list_file, "--model", out / "model", "--out", tmp_path / "out.csv", "--threshold", -5, "--json"
    ).json()
    marked = pd.read_csv(tmp_path / "out-marked.csv")
    grouped = marked[marked["group"].notna()]
    assert result["rows"] == len(marked) and result["doubles"] == (marked["keep"] == "no").sum() > 0
    assert (grouped.groupby("group")["keep"].apply(lambda keep: (keep == "yes").sum()) == 1).all()
    assert grouped["sure"].between(0, 1).all()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--text-column", "Ort"], "'Ort'.*'Straße'"),
        (["--column", "Ort=longest"], "'Ort'"),
        (["--column", "Name"], "COLUMN=RULE"),
        (["--keep", "newest"], "newest_by"),
        (["--id-column", "Ort"], "Ort"),
    ],
)
def test_what_does_not_fit_is_refused(messy: Path, tmp_path: Path, options: list[str], problem: str) -> None:
    error = learn("clean", messy, "--out", tmp_path / "out.csv", *options).refused()
    assert re.search(problem, error)
    assert [path.name for path in tmp_path.iterdir()] == ["messy.csv"]


def test_the_list_itself_is_never_written(messy: Path) -> None:
    before = messy.read_bytes()
    assert "this command reads" in learn("clean", messy, "--out", messy).refused()
    assert messy.read_bytes() == before


def test_json_has_every_number(messy: Path, tmp_path: Path) -> None:
    result = learn("clean", messy, "--out", tmp_path / "out.jsonl", "--json").json()
    assert (result["rows"], result["doubles"], result["groups"], result["clean_rows"]) == (5, 1, 1, 4)
    assert len([json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]) == 4

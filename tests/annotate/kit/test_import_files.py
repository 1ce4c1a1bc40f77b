"""Files on their way into a project."""

from pathlib import Path

import pytest

from allpairs.annotate.kit import uploads as import_files
from allpairs.annotate.kit.uploads import Findings, Source, check, load
from allpairs.db.corpus.corpus import Columns
from allpairs.db.errors import InputError
from tests.helpers.projects.lists import QUESTIONS, write_questions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_questions(tmp_path)


def test_both_lists_report_their_problem(folder: Path) -> None:
    source = Source(folder / "absent.csv", Columns(), folder / "bad.csv", Columns())
    found = check(source)
    assert [line.split(":")[0].rpartition("/")[2] for line in found.problems] == [
        "absent.csv",
        "bad.csv, row 1, column 'id'",
    ]
    with pytest.raises(InputError, match=r"absent\.csv.*; bad\.csv"):
        load(source)


def test_findings_count_what_will_be_stored(folder: Path) -> None:
    right = Columns("key", ("body",))
    assert check(Source(folder / "q.csv", Columns(), folder / "right.csv.gz", right)).right == 1
    found = check(Source(folder / "q.csv", Columns(), gold=folder / "gold.csv"))
    assert found == Findings((), found.notes, 8, 0, 3, 1, 1)


def test_an_upload_cannot_leave_its_folder(tmp_path: Path, folder: Path) -> None:
    with (folder / "q.csv").open("rb") as stream:
        kept = import_files.keep_upload(stream, "../../q.csv", tmp_path / "uploads" / "left")
    assert kept == tmp_path / "uploads" / "left" / "q.csv"
    assert kept.read_text() == QUESTIONS


def test_rows_without_ids_are_numbered(folder: Path) -> None:
    corpus = load(Source(folder / "q.csv", Columns("", ("text",))))
    assert [item.ids for item in corpus.items][:2] == [("2",), ("3", "10")]  # the lines of the file

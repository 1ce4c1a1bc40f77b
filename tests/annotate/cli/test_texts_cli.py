"""The commands `texts`: what they store, and what they say."""

import json
from pathlib import Path

import openpyxl
import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.texts.change_texts import list_changes
from tests.helpers.factories import make_project
from tests.helpers.services.commands import annotate, failure


def test_texts_are_added_withdrawn_listed_and_brought_back(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(engine, [f"text {at}" for at in range(6)])
    (tmp_path / "new.csv").write_text("key,words\nnew,a new text\nleft-0,text zero\n")
    (tmp_path / "gone.csv").write_text("id\nleft-1\nnobody\n")
    add = ("texts", "add", "Questions", str(tmp_path / "new.csv"), "--id", "key", "--text", "words")
    assert annotate(*add, "--dry-run", "--json") == 0
    tried = json.loads(capsys.readouterr().out)
    assert (tried["new"], tried["changed"], tried["change"]) == (1, 1, None) and list_changes(engine, project) == []
    assert annotate(*add) == 0 and "change 1" in capsys.readouterr().out
    assert annotate("texts", "withdraw", "Questions", str(tmp_path / "gone.csv"), "--json") == 0
    gone = json.loads(capsys.readouterr().out)
    assert (gone["withdrawn"], gone["unknown"], gone["change"]) == (1, 1, 2)
    assert annotate("texts", "undo", "Questions") == 0 and "change 2 (gone.csv)" in capsys.readouterr().out
    assert annotate("texts", "list", "Questions", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(one["number"], one["can_undo"], one["undone_at"] is None) for one in listed] == [
        (2, False, False), (1, True, True)
    ]  # fmt: skip
    assert annotate("texts", "list", "Questions") == 0 and "new.csv" in capsys.readouterr().out
    assert "gone.csv, row 1, column 'text'" in failure(capsys, "texts", "add", "Questions", str(tmp_path / "gone.csv"))


@pytest.mark.parametrize("act", ["add", "withdraw"])
def test_a_file_of_texts_is_read_as_people_say(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str], act: str
) -> None:
    make_project(engine, [f"text {number}" for number in range(9)])
    book = openpyxl.Workbook()
    for title, row in (("Old", ("left-1", "text 2")), ("New", ("left-0", "text 3"))):
        sheet = book.create_sheet(title)
        sheet.append(("id", "text"))
        sheet.append(row)
    book.save(tmp_path / "texts.xlsx")
    change = ("texts", act, "Questions", str(tmp_path / "texts.xlsx"), "--sheet")
    assert "no such sheet" in failure(capsys, *change, "Other")
    assert annotate(*change, "New") == 0
    capsys.readouterr()
    (tmp_path / "texts.csv").write_text("id|text\nleft-0|M\u00fcller\n", encoding="cp437")
    written = ("texts", act, "Questions", str(tmp_path / "texts.csv"), "--separator", "|", "--encoding", "cp437")
    assert annotate(*written, "--json") == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["changed"] == (act == "add")

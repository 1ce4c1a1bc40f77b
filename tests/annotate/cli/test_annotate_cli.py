"""The command line: results on stdout, one line on stderr for bad input, exit codes 0, 1 and 2."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest
from sqlalchemy import select

from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.db.domain import Settings
from allpairs.db.schema.engine import make_engine, reading
from allpairs.db.schema.tables import Job, ListRow, ListVersion, Project
from tests.helpers.machine import ROOT
from tests.helpers.services.commands import annotate, failure


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder with questions, products and known pairs in files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("id,text\n" + "".join(f"{i},question {i}\n" for i in range(10)))
    (tmp_path / "gold.csv").write_text("id1,id2,label\n0,1,1\n1,2,1\n0,2,0\n3,4,0\n")
    (tmp_path / "r.csv").write_text("id,text\nr0,answer 0\nr1,answer 1\n")
    return tmp_path


def projects() -> list[str]:
    engine = make_engine()
    with reading(engine) as session:
        names = list(session.scalars(select(Project.name)))
    engine.dispose()
    return names


def test_a_project_is_made_shown_listed_and_deleted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("project", "create", "Q", "--left", "q.csv", "--gold", "gold.csv", "--json") == 0
    out, error = capsys.readouterr()
    made = json.loads(out)
    assert (made["kind"], made["gold"]) == ("symmetric", {"positive": 3, "negative": 1})
    assert made["items"] == {"left": {"evaluation": 3, "train": 7}}
    assert made["notes"][0] in error
    engine = make_engine()
    with reading(engine) as session:
        assert [job.id for job in session.scalars(select(Job))] == [made["job"]]
    engine.dispose()

    assert annotate("project", "show", "Q", "--json") == 0
    assert json.loads(capsys.readouterr().out)["items"] == made["items"]
    assert annotate("project", "show", "Q") == 0
    assert "items, left, train" in capsys.readouterr().out
    assert annotate("project", "list", "--json") == 0
    assert [found["name"] for found in json.loads(capsys.readouterr().out)] == ["Q"]
    assert annotate("project", "list") == 0
    assert "symmetric" in capsys.readouterr().out
    assert annotate("project", "delete", "Q", "--yes", "--now") == 0
    assert projects() == []


def states(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, str]:
    capsys.readouterr()
    assert annotate("project", "list", "--json", *options) == 0
    return {found["name"]: found["state"] for found in json.loads(capsys.readouterr().out)}


def test_a_project_is_copied_archived_binned_and_restored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("project", "create", "Q", "--left", "q.csv", "--gold", "gold.csv") == 0
    assert annotate("labels", "import", "Q", "gold.csv") == 0
    assert annotate("project", "duplicate", "Q", "--labels") == 0
    assert capsys.readouterr().out.endswith("Q copy\n")
    assert annotate("project", "duplicate", "Q", "--as", "Other") == 0
    assert annotate("project", "archive", "Q copy") == 0
    assert annotate("project", "delete", "Other", "--yes") == 0
    assert states(capsys) == {"Q": "active"}
    assert states(capsys, "--all") == {"Q copy": "archived", "Q": "active", "Other": "binned"}
    assert "'Other' is in the bin" in failure(capsys, "project", "show", "Other")
    assert "in the bin; choose" in failure(capsys, "project", "duplicate", "Q", "--as", "Other")
    assert "neither archived nor" in failure(capsys, "project", "restore", "Q")
    for name in ("Other", "Q copy"):
        assert annotate("project", "restore", name) == 0
    assert states(capsys) == {"Other": "active", "Q copy": "active", "Q": "active"}
    assert annotate("labels", "export", "Q copy", "--out", "out.jsonl", "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 4


def test_what_columns_hold_is_guessed_and_can_be_corrected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{i},Pen of kind {i},{i}\n" for i in range(6))
    (folder / "pens.csv").write_text(f"id,title,size\n{rows}")
    create = ["project", "create", "P", "--left", "pens.csv", "--text-column", "title", "--text-column", "size"]
    assert "no text column 'cost'" in failure(capsys, *create, "--kind", "cost=code")
    assert "text, name, " in failure(capsys, *create, "--kind", "size=big")
    assert annotate(*create, "--kind", "size=code") == 0
    engine = make_engine()
    with reading(engine) as session:
        stored, settings = session.execute(select(Project.text_columns, Project.settings)).one()
    engine.dispose()
    assert settings["keep_groups"]
    assert stored == {"left": ["title", "size"], "left_kinds": ["name", "code"]}


def test_all_columns_but_ids_are_compared_unless_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("Nr", "Name", "City", "Tel", "Remark"), *((i, f"Name {i}", "Bonn", f"02{i}", None) for i in range(6))]
    book = openpyxl.Workbook()
    for title, number in (("Old", 4), ("New", 7)):
        sheet = book.create_sheet(title)
        for row in rows[:number]:
            sheet.append(row)
    book.save(folder / "customers.xlsx")
    create = ["project", "create", "P", "--left", "customers.xlsx"]
    assert "no such sheet" in failure(capsys, *create, "--sheet", "Other")
    assert "no encoding is called 'x'" in failure(
        capsys, "project", "create", "P", "--left", "q.csv", "--encoding", "x"
    )
    assert annotate(*create, "--sheet", "New") == 0
    assert "customers.xlsx: not compared, but kept: Remark." in capsys.readouterr().err
    engine = make_engine()
    with reading(engine) as session:
        version = session.scalars(select(ListVersion)).one()
        assert (version.id_column, version.compared) == ("Nr", ["Name", "City", "Tel"])
        assert len(session.scalars(select(ListRow)).all()) == 6
    engine.dispose()


def test_a_query_of_a_database_becomes_a_list(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = sqlite3.connect(folder / "shop.db")
    shop.execute("CREATE TABLE customers (id INTEGER, name TEXT, city TEXT, since TEXT)")
    rows = [
        (1, "Ann; Lee", "Rome", "10:30"),
        (2, "=Bob", None, ""),
        *((i, f"Cy {i}", "Bonn", "x") for i in range(3, 9)),
    ]
    shop.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", rows)
    shop.commit()
    create = ["project", "create", "P", "--left", "sqlite:///shop.db", "--query"]
    assert "SELECT" in failure(capsys, *create, "DELETE FROM customers")
    assert "no such table" in failure(capsys, *create, "clients")
    assert "no such file" in failure(capsys, "project", "create", "P", "--left", "sqlite:///x.db", "--query", "a")
    assert "readonly" in failure(capsys, *create, "WITH a AS (SELECT 1) DELETE FROM customers")
    assert annotate(*create, "SELECT *, '1:2' AS time FROM customers WHERE id < 8") == 0
    assert annotate("project", "create", "Q", *create[3:], "customers") == 0
    engine = make_engine()
    with reading(engine) as session:
        cells = [cells for (cells,) in session.execute(select(ListRow.cells).order_by(ListRow.id))]
    engine.dispose()
    assert cells[:2] == [["1", "Ann; Lee", "Rome", "10:30", "1:2"], ["2", "=Bob", "", "", "1:2"]]
    assert len(cells) == 7 + 8


def test_a_bipartite_project_with_every_option(folder: Path) -> None:
    (folder / "guide.md").write_text("**Same** product")
    values = {"first": "7", "growth": "2", "neighbours": "9", "evaluation-share": "0.5", "strategy": "random"}
    options = [part for name, value in values.items() for part in (f"--{name}", value)]
    options += ["--seed", "3", "--encoder", "some/encoder", "--question", "Same?", "--guidelines", "guide.md"]
    assert annotate("project", "create", "P", "--left", "q.csv", "--right", "r.csv", "--both-sides", *options) == 0
    engine = make_engine()
    found = project_by_name(engine, "P")
    engine.dispose()
    assert found.kind == "bipartite"
    assert found.settings == Settings(
        question="Same?", guidelines="**Same** product", encoder="some/encoder", first=7, growth=2, neighbours=9,
        evaluation_share=0.5, strategy="random", seed=3,
    )  # fmt: skip


def test_named_columns_and_a_split_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.tsv").write_text("key\ttitle\tbody\na\tT\tx\nb\t\ty\nc\tU\tz\n")
    (folder / "split.csv").write_text("id,side,split\na,left,train\nb,left,train\nc,left,evaluation\n")
    columns = ["--id-column", "key", "--text-column", "title", "--text-column", "body"]
    assert annotate("project", "create", "T", "--left", "t.tsv", *columns, "--split", "split.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["items"] == {"left": {"evaluation": 1, "train": 2}}


def test_labels_go_in_and_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("project", "create", "Q", "--left", "q.csv") == 0
    capsys.readouterr()
    assert annotate("labels", "import", "Q", "gold.csv") == 0
    assert "4 labels stored" in capsys.readouterr().out
    assert annotate("labels", "import", "Q", "gold.csv", "--json") == 0
    assert {"stored": 0, "problems": {"double": 4}}.items() <= json.loads(capsys.readouterr().out).items()
    assert annotate("labels", "export", "Q", "--out", "out.jsonl", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"rows": 4, "out": "out.jsonl", "format": "labels"}
    assert annotate("labels", "export", "Q", "--out", "triplets.csv", "--format", "triplets") == 0
    assert (folder / "triplets.csv").read_text().startswith("anchor,positive,negative\n")
    assert annotate("labels", "export", "Q", "--out", "folder", "--dataset") == 0
    assert (folder / "folder" / "labels" / "train.parquet").is_file()


def test_an_import_can_skip_mistakes_and_says_which(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("project", "create", "Q", "--left", "q.csv") == 0
    (folder / "labels.csv").write_text("id1,id2,label\n0,1,1\n0,99,1\n")
    capsys.readouterr()
    assert "row 3, column 'id2'" in failure(capsys, "labels", "import", "Q", "labels.csv")
    assert annotate("labels", "import", "Q", "labels.csv", "--skip", "--problems", "p.csv") == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("1 labels") and "unknown id" in out[1] and "row 3:" in out[2]
    assert len((folder / "p.csv").read_text().splitlines()) == 2


def test_a_project_goes_out_and_comes_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("project", "create", "Q", "--left", "q.csv", "--gold", "gold.csv") == 0
    capsys.readouterr()
    assert annotate("project", "export", "Q", "--out", "q.zip") == 0
    assert "10 texts, 0 answers and 0 models in q.zip" in capsys.readouterr().out
    assert annotate("project", "import", "q.zip") == 0
    out, error = capsys.readouterr()
    assert out == "Q (2): 10 texts, 0 answers\n"
    assert error.startswith("note: ") and "'Q'" in error and "'Q (2)'" in error
    assert annotate("project", "import", "q.zip", "--name", "Mine", "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"]["gold"] == 4
    assert "q.csv: not a complete" in failure(capsys, "project", "import", "q.csv")
    assert sorted(projects()) == ["Mine", "Q", "Q (2)"]
    assert annotate("project", "create", "Ours", "--left", "q.csv", "--encoder", "./ours") == 0
    assert annotate("project", "export", "Ours", "--out", "ours.zip") == 0
    capsys.readouterr()
    assert "with --encoder" in failure(capsys, "project", "import", "ours.zip")
    assert annotate("project", "import", "ours.zip", "--encoder", "./here") == 0


def test_bad_input_is_one_line_and_leaves_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.csv").write_text("id,text\n1,one\n1,two\n")
    (folder / "badgold.csv").write_text("id1,id2\n0,99\n")
    create = ("project", "create", "Q", "--left")
    assert "bad.csv, row 3, column 'id'" in failure(capsys, *create, "bad.csv")
    assert "badgold.csv, row 2, column 'id2'" in failure(capsys, *create, "q.csv", "--gold", "badgold.csv")
    assert "absent.csv" in failure(capsys, *create, "absent.csv")
    assert "no such column" in failure(capsys, *create, "q.csv", "--text-column", "body")
    assert "settings: first" in failure(capsys, *create, "q.csv", "--first", "1")
    assert "'guess'" in failure(capsys, *create, "q.csv", "--strategy", "guess")
    assert "--split" in failure(capsys, *create, "q.csv", "--split", "gold.csv", "--both-sides")
    assert "absent.md" in failure(capsys, *create, "q.csv", "--guidelines", "absent.md")
    assert "name" in failure(capsys, "project", "create", " ", "--left", "q.csv")
    assert "no project named 'Q'" in failure(capsys, "project", "show", "Q")
    assert "no project named 'Q'" in failure(capsys, "labels", "import", "Q", "gold.csv")
    assert projects() == []


def test_a_failure_that_is_nobodys_input_is_one_line_too(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", "postgresql://127.0.0.1:1/nothing?connect_timeout=1")
    assert "database does not answer" in failure(capsys, "project", "list", code=1)


@pytest.mark.parametrize(
    "command",
    [
        *(f"project {name}" for name in ("create", "list", "show", "duplicate", "archive", "restore", "delete")),
        *(f"project {name}" for name in ("export", "import")),
        "labels export",
        "labels import",
        "serve",
    ],
)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate(*command.split(), "--help") == 0
    assert f"Example: allpairs {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("modules", "also"),
    [
        ("allpairs.__main__", "streamlit"),
        ("app, allpairs.annotate.shell.menu, allpairs.annotate.pages.label", "sklearn"),
    ],
    ids=["the command line", "the app until the first pair"],
)
def test_what_people_wait_for_needs_no_heavy_package(modules: str, also: str, home: Path) -> None:
    code = (
        f"import sys, {modules}\n"
        f"heavy = {{'pandas', 'scipy', 'torch', 'dbos', 'altair', '{also}'}} & set(sys.modules);"
        "print(*sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_wrong_usage_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("project", "create") == 2
    assert annotate("nothing") == 2


def test_what_was_changed_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("project", "create", "Q", "--left", "q.csv") == 0
    assert annotate("project", "archive", "Q") == 0
    capsys.readouterr()
    assert annotate("project", "history", "Q", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["who"], one["what"], one["of"], one["new"]) for one in told] == [
        (None, "project archived", "Q", None),
        (None, "project made", "Q", {"items": 10, "known pairs": 0}),
    ]
    assert annotate("project", "history", "Q", "--limit", "1") == 0
    out, error = capsys.readouterr()
    when, *told = out.splitlines()[1].split("  ")[:4]
    assert when.endswith(" UTC") and told == ["without sign-in", "project archived", "Q"]
    assert error.startswith("note: 1 ") and "--limit" in error
    assert annotate("project", "delete", "Q", "--now", "--yes") == 0
    assert annotate("project", "history") == 0
    assert "project removed for good" in capsys.readouterr().out


def test_an_exported_history_is_verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("project", "create", "Q", "--left", "q.csv") == 0
    (folder / "labels.csv").write_text("id1,id2,label\n0,1,1\n0,2,0\n")
    assert annotate("labels", "import", "Q", "labels.csv") == 0
    assert annotate("labels", "export", "Q", "--format", "history", "--out", "history.csv") == 0
    capsys.readouterr()
    assert annotate("labels", "verify", "history.csv") == 0
    last = (folder / "history.csv").read_text().splitlines()[-1].rpartition(",")[2]
    assert capsys.readouterr().out == f"2 rows, none changed; last checksum {last}\n"
    (folder / "history.csv").write_text((folder / "history.csv").read_text().replace("negative", "positive"))
    assert "history.csv, row 3: the chain breaks" in failure(capsys, "labels", "verify", "history.csv")

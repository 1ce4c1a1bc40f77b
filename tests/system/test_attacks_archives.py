"""Archives from strangers: what a table, a page or a job would stumble over gives one line on both databases."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.db.domain import DEFAULT_ENCODER, EventKind
from allpairs.db.errors import InputError
from allpairs.db.projects.events import add_event
from allpairs.db.results.pipelines import runs_folder
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import Evaluation, Project, StoredModel
from tests.helpers.factories import make_design, row_counts
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.machine import ROOT

NAME = "Help desk questions"
FAR = 2**40

Row = dict[str, Any]


def put(**values: Any) -> Callable[[Row], Row]:
    return lambda row: row | values


def settings(**values: Any) -> Callable[[Row], Row]:
    return lambda row: row | {"settings": row["settings"] | values}


# The table whose first row is changed, the change, and what is said besides the table.
ROWS: dict[str, tuple[str, Callable[[Row], Any], str]] = {
    "NUL in a text": ("items", put(text="a\0b"), "'text': it has a NUL"),
    "NUL in an id": ("identifiers", put(external_id="a\0"), "'external_id': it has a NUL"),
    "NUL in a person's name": ("answers", put(annotator="An\0na"), "'annotator': it has a NUL"),
    "NUL in a note": ("answers", put(note="\0"), "'note': it has a NUL"),
    "NUL in a setting": ("projects", settings(question="a\0?"), "'settings': it has a NUL"),
    "NUL in a name of JSON": ("matchers", put(details={"a": [{"\0": 1}]}), "'details': it has a NUL"),
    "NUL in an event": ("events", put(new="\0"), "'new': it has a NUL"),
    "half a character": ("items", put(text="a\ud800"), "character 2 is only half a character"),
    "half a character in JSON": ("designs", put(strata=[{"name": "\udc00"}]), "only half a character"),
    "a long text": ("items", put(text="x" * 100_001), "100,001 characters, but the limit is 100,000"),
    "a long text in JSON": ("projects", settings(guidelines="x" * 100_001), "'settings': it has 100,001 characters"),
    "a long id": ("identifiers", put(external_id="x" * 501), "the limit is 500"),
    "a long name of a person": ("answers", put(annotator="x" * 201), "the limit is 200"),
    "a long note": ("answers", put(note="x" * 2_001), "the limit is 2,000"),
    "a long key": ("answers", put(key="x" * 81), "the limit is 80"),
    "a long name": ("projects", put(name="x" * 81), "it must have 1 to 80"),
    "a name that turns letters": ("projects", put(name="a\u202eb"), "unprintable"),
    "no text": ("items", put(text=None), "'text': it is empty"),
    "a number for a text": ("items", put(text=5), "not a text"),
    "a text for a number": ("tasks", put(score="high"), "'score': it is 'high', not a number"),
    "half a place": ("tasks", put(position=1.5), "not a whole number"),
    "a place beyond the table": ("tasks", put(position=FAR), "not a number that a table holds"),
    "no number": ("tasks", put(score=float("nan")), "'score': it is empty"),
    "an endless number": ("answers", put(seconds="1e999"), "'seconds': it is 'inf'"),
    "a number for a truth": ("gold", put(positive=1), "not true or false"),
    "less than no characters": ("items", put(field_lengths=[4, -1]), "'field_lengths': it is '[4, -1]', not"),
    "a text for lengths": ("items", put(field_lengths="4"), "not a list"),
    "columns without names": ("projects", put(text_columns={"left": ["a", 1]}), "'text_columns'"),
    "columns of an unknown kind": (
        "projects",
        put(text_columns={"left": ["a"], "left_kinds": ["b"]}),
        "'text_columns'",
    ),
    "more kinds than columns": (
        "projects",
        put(text_columns={"left": ["a"], "left_kinds": ["text", "text"]}),
        "as many kinds",
    ),
    "columns of no side": ("projects", put(text_columns=["a"]), "not an object"),
    "another side": ("items", put(side="up"), "not one of left, right"),
    "another answer": ("answers", put(answer="maybe"), "not one of positive"),
    "no time": ("answers", put(created_at="yesterday"), "not a time"),
    "a time of no zone": ("answers", put(created_at="2026-01-01T00:00:00"), "not a time with its zone"),
    "figures of another shape": ("evaluations", put(estimates={"a": {"value": "b"}}), "'estimates'"),
    "figures that are a list": ("evaluations", put(estimates=[1]), "not an object"),
    "a row of another kind": ("items", lambda row: [row], "the row is a list"),
    "a setting out of range": ("projects", settings(first=-1), "first: input should be"),
    "a setting for simulations": ("projects", settings(pooling="cls"), "only for simulations"),
    "an unknown strategy": ("projects", settings(strategy="../x"), "no strategy '../x'"),
    "an encoder in a folder": ("projects", settings(encoder="/etc"), "the folder '/etc'"),
    "an encoder at home": ("projects", settings(encoder="~root/model"), "the folder '~root/model'"),
    "an encoder further up": ("projects", settings(encoder="../model"), "the folder '../model'"),
    "an encoder a long way up": ("projects", settings(encoder="a/../../b"), "the folder 'a/../../b'"),
    "an encoder on another machine": ("projects", settings(encoder="\\\\host\\share"), "the folder"),
    "an encoder in the working folder": ("projects", settings(encoder="tests"), "the folder 'tests'"),
    "a matcher's encoder": ("matchers", put(encoder="/etc"), "'encoder': its encoder is the folder '/etc'"),
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory, migrated: Path) -> Path:
    """Return a whole archive, with a row in every table that is changed here."""
    home = tmp_path_factory.mktemp("author")
    shutil.copy(migrated, home / "allpairs.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALLPAIRS_HOME", str(home))
        patch.delenv("ALLPAIRS_ARTIFACTS", raising=False)
        engine = make_engine(f"sqlite:///{home / 'allpairs.db'}")
        project_id = make_measured_project(engine, NAME, rounds=2)
        make_design(engine, project_id)
        with writing(engine) as session:
            add_event(session, None, EventKind.CREATED, project_id, NAME)
        export_project(engine, NAME, home / "one.zip")
        engine.dispose()
    return home / "one.zip"


def rewritten(archive: Path, to: Path, changed: Callable[[str, bytes], bytes]) -> Path:
    with ZipFile(archive) as old, ZipFile(to, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, changed(name, old.read(name)))
    return to


def in_first_row(table: str, change: Callable[[Row], Any]) -> Callable[[str, bytes], bytes]:
    def changed(name: str, content: bytes) -> bytes:
        if name != f"tables/{table}.jsonl":
            return content
        first, rest = content.split(b"\n", 1)
        written = json.dumps(change(json.loads(first))).replace('"1e999"', "1e999")
        return written.encode() + b"\n" + rest

    return changed


def refused(engine: Engine, home: Path, path: Path) -> str:
    """Return the one line of the refusal, after checking that it left no row and no file."""
    with pytest.raises(InputError) as caught:
        import_project(engine, path)
    assert not any(row_counts(engine).values())
    assert [file for file in home.rglob("*") if "allpairs.db" not in file.name] in ([], [home / "artifacts"])
    said = str(caught.value)
    assert said.startswith("bad.zip: ") and "nothing was imported" in said
    assert said.isprintable() and len(said) < 500
    return said


@pytest.mark.parametrize("attack", ROWS)
def test_a_row_that_no_honest_export_writes(
    engine: Engine, home: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attack: str
) -> None:
    monkeypatch.chdir(ROOT)
    table, change, wanted = ROWS[attack]
    said = refused(engine, home, rewritten(archive, tmp_path / "bad.zip", in_first_row(table, change)))
    assert f"tables/{table}.jsonl, row 1" in said and wanted in said


def arrays(**sides: np.ndarray) -> bytes:
    stream = BytesIO()
    np.savez_compressed(stream, **sides)
    return stream.getvalue()


def claiming(length: int) -> bytes:
    """Return an array file whose header says that it is so long."""
    stream = BytesIO()
    with ZipFile(stream, "w") as bundle, bundle.open("left.npy", "w") as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<i8", "fortran_order": False, "shape": (length,)})
    return stream.getvalue()


FILES: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a bomb in an array": ("designs/1/decks.npz", lambda: arrays(other=np.zeros(30_000_000)), "would unpack to 240,"),
    "a bomb in a model": ("models/1/reference.npz", lambda: arrays(more=np.zeros(30_000_000)), "would unpack to 240,"),
    "an array without end": ("designs/1/decks.npz", lambda: claiming(10**15), "nothing was imported"),
    "texts that the project does not have": (
        "designs/1/decks.npz",
        lambda: arrays(left=np.array([10**6])),
        "no row has",
    ),
    "no project": ("tables/projects.jsonl", lambda: b"", "table projects is empty"),
}


@pytest.mark.parametrize("attack", FILES)
def test_a_file_that_no_honest_export_writes(
    engine: Engine, home: Path, archive: Path, tmp_path: Path, attack: str
) -> None:
    name, content, wanted = FILES[attack]
    path = rewritten(archive, tmp_path / "bad.zip", lambda member, old: content() if member == name else old)
    with ZipFile(path, "a") as bundle:
        if name not in bundle.namelist():
            bundle.writestr(name, content())
    assert wanted in refused(engine, home, path)


def test_what_honest_archives_have_is_imported(engine: Engine, home: Path, archive: Path, tmp_path: Path) -> None:
    output = runs_folder() / "run" / "results" / "model"
    for encoder in (DEFAULT_ENCODER, "org/some-model_1.5", str(output)):
        output.mkdir(parents=True, exist_ok=True)
        path = rewritten(archive, tmp_path / "one.zip", in_first_row("projects", settings(encoder=encoder)))
        assert kept(engine, import_project(engine, path).project_id)[0] == encoder
    shutil.rmtree(output)
    with pytest.raises(InputError, match="may not choose"):  # it is gone, like any other machine's
        import_project(engine, path)


def kept(engine: Engine, project_id: int) -> tuple[str, list[str]]:
    """Return the project's encoder and its matchers' encoders."""
    with reading(engine) as session:
        found = session.get_one(Project, project_id).settings
        encoders = select(StoredModel.encoder).where(StoredModel.project_id == project_id).order_by(StoredModel.number)
        return found["encoder"], list(session.scalars(encoders))


def test_who_imports_names_the_folder_in_place_of_the_authors(engine: Engine, archive: Path, tmp_path: Path) -> None:
    named = in_first_row("projects", settings(encoder="/theirs"))
    path = rewritten(archive, tmp_path / "one.zip", named)
    path = rewritten(path, tmp_path / "two.zip", in_first_row("matchers", put(encoder="./theirs")))
    arrived = import_project(engine, path, encoder="/mine")
    assert kept(engine, arrived.project_id) == ("/mine", ["/mine", DEFAULT_ENCODER])


def test_values_of_earlier_exports_are_read_alike_on_both(engine: Engine, archive: Path, tmp_path: Path) -> None:
    def older(row: Row) -> Row:
        figures = {name: found | {"value": float("nan")} for name, found in row["estimates"].items()}
        return row | {"estimates": figures}

    path = rewritten(archive, tmp_path / "one.zip", in_first_row("evaluations", older))
    path = rewritten(path, tmp_path / "two.zip", in_first_row("items", put(text="\x01 \u202e")))
    path = rewritten(path, tmp_path / "six.zip", in_first_row("projects", put(created_at="2026-01-01T02:00:00+02:00")))
    project_id = import_project(engine, path).project_id
    with reading(engine) as session:
        assert session.get_one(Project, project_id).created_at == datetime(2026, 1, 1, tzinfo=UTC)
        evaluations = select(Evaluation.estimates).join(StoredModel).order_by(StoredModel.number)
        assert {found["value"] for found in session.scalars(evaluations).first().values()} == {None}


def test_notes_repeat_nothing_that_could_steer_a_terminal(engine: Engine, archive: Path, tmp_path: Path) -> None:
    odd = "\x1b[2J" + "x" * 500

    def later(name: str, content: bytes) -> bytes:
        if name != "manifest.json":
            return content
        known = json.loads(content)
        known["tables"]["gold"]["columns"].append(odd)
        return json.dumps(known | {"tables": known["tables"] | {odd: {"rows": 0, "columns": []}}}).encode()

    path = rewritten(archive, tmp_path / "one.zip", later)
    notes = import_project(
        engine, rewritten(path, tmp_path / "two.zip", in_first_row("projects", settings(**{odd: 1})))
    ).notes
    assert len(notes) == 4 and all(note.isprintable() and len(note) < 200 for note in notes)

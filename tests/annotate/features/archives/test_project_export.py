"""A project is exported and imported unchanged, into any database; a damaged archive changes nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.label.pair_reason import read_score
from allpairs.annotate.features.projects.projects import delete_project, list_projects, update_settings
from allpairs.annotate.features.texts import change_texts
from allpairs.db.domain import PublicationKind, Settings, Side, Verdict, version_of
from allpairs.db.errors import InputError
from allpairs.db.maintenance.transfer import LEFT_BEHIND, TABLES
from allpairs.db.projects.matchers import SCORES, matchers_of
from allpairs.db.projects.projects import MAX_NAME
from allpairs.db.projects.publications import COUNTED, add_counts, end_publications
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import (
    Answer,
    Base,
    Design,
    Evaluation,
    Gold,
    GroupMove,
    Item,
    ListRow,
    ListVersion,
    MachineRater,
    PairDecision,
    Project,
    Publication,
    StoredModel,
    Task,
)
from tests.helpers.factories import make_audit_batch, make_design, make_groups, make_project, make_round, row_counts
from tests.helpers.figures.measured import make_audited_project, make_measured_project, write_model_folder
from tests.helpers.machine import examples
from tests.helpers.people import START
from tests.helpers.projects.labels import N, P, R, S, U, answer, make_check_and_fast_answers
from tests.helpers.projects.lists import change
from tests.helpers.projects.pipelines import make_study, rate_all
from tests.helpers.raters import add_rater, add_verdicts

NAME = "Help desk questions"
WILD = ("=cmd", "a\tb\nc", "🎈 שלום", "\"quoted\", 'single'", "\x01\x1f\u2028", " ", "'=x")


def fill(engine: Engine, home: Path) -> int:
    """Make a project with a row in every exported table, after one that takes the first ids; return its id."""
    make_round(engine, make_project(engine, list(WILD), name="First"), 5)
    project_id = make_measured_project(engine, NAME, rounds=3)
    change(engine, home, {"new": "A new text", "left-0": "A changed text"}, name=NAME)
    change_texts.undo_text_change(engine, project_id)
    change(engine, home, {"newer": "A newer text"}, name=NAME)
    make_design(engine, project_id)
    with writing(engine) as session:
        matchers = session.scalars(select(StoredModel).where(StoredModel.project_id == project_id)).all()
        last = session.scalar(select(func.max(Answer.id)).where(Answer.project_id == project_id)) or 0
        for matcher in matchers:
            if matcher.number:
                matcher.folder, matcher.cutoff = f"project-{project_id}/job-{matcher.number}/model", last - 7
        items = session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)).all()
        design = session.scalars(select(Design).where(Design.project_id == project_id)).one()
        design.details = {"sample": [[items[-4], items[-2], 1, 0.25]]}
        design.matcher_id = matchers[-1].id
        kinds = {PublicationKind.MODEL: matchers[-1], PublicationKind.SHADOW: matchers[-2]}
        published = [Publication(project_id=project_id, kind=kind, matcher_id=one.id, number=one.number, who="Ann")
                     for kind, one in kinds.items()]  # fmt: skip
        session.add_all(published)
        session.flush()
        add_counts(session, project_id, published[0].id, published[1].id, dict.fromkeys(COUNTED, 2))
        end_publications(session, project_id)
        task = session.scalars(select(Task).where(Task.project_id == project_id)).first()
        assert task is not None
        task.alike = [[items[0], items[1], 0.75]]
        for item, text in zip(session.scalars(select(Item).where(Item.project_id == project_id)), WILD, strict=False):
            item.text = text
    rater_id = add_rater(engine, project_id)
    add_verdicts(
        engine, rater_id, [((items[0], items[1]), Verdict.YES, 0.75), ((items[0], items[2]), Verdict.NO, None)]
    )
    with writing(engine) as session:
        rater = session.get_one(MachineRater, rater_id)
        rater.ended_at, rater.paused_at, rater.paused_why = START, START, "too often wrong"
        add_list(session, project_id)
        decision = {"project_id": project_id, "left_id": items[0], "right_id": items[1], "act": "group-1", "who": "ann"}
        session.add_all([PairDecision(**decision, same=True, undone_at=START), PairDecision(**decision, same=False)])
        session.add(GroupMove(project_id=project_id, item_id=items[0], act="group-1", before=None, after=1))
    make_groups(engine, project_id, [items[:3], items[5:7]])
    make_groups(engine, project_id, [items[:2], items[5:9]], p=0.25)
    make_audit_batch(engine, project_id, 3)
    change_guidelines(engine, project_id, "Dates count.")
    make_check_and_fast_answers(engine, project_id)
    rate_all(engine, project_id, make_study(engine, project_id), {"ann": [True, False, True], "bob": [False]})
    folder = home / "artifacts" / f"project-{project_id}"
    for number in (1, 2):
        write_model_folder(home, f"project-{project_id}/job-{number}/model")
        np.save(folder / f"job-{number}" / "vectors.npy", np.arange(6, dtype=np.float32))
    (folder / "design-1").mkdir()
    sides = {"left": np.array(items[-9:-6]), "right": np.array(items[-3:]), "score": np.array([0.5, 0.25, 0.1])}
    np.savez(folder / "design-1" / "decks.npz", **sides)
    labelled = {
        "left": np.array(items[:2]),
        "right": np.array(items[2:4]),
        "score": np.array([0.75, 0.5], dtype=np.float32),
    }
    np.savez(folder / "job-2" / SCORES, **labelled)
    return project_id


def add_list(session: Session, project_id: int) -> None:
    """Add a list of one row, which a second version of it replaced."""
    common = {"project_id": project_id, "side": Side.LEFT}
    columns = {"columns": ["id", "text", "city"], "id_column": "id", "compared": ["text"], "format": {"suffix": ".csv"}}
    versions = [ListVersion(**common, **columns, file=f"{number}.csv") for number in (1, 2)]
    session.add_all(versions)
    session.flush()
    row = common | {"external_id": "0", "place": 1, "cells": ["0", "text 0", " Köln"]}
    session.add_all(
        [
            ListRow(**row, version_id=versions[0].id, ended_id=versions[1].id),
            ListRow(**row, version_id=versions[1].id),
        ]
    )


def change_guidelines(engine: Engine, project_id: int, text: str) -> None:
    """Change the guidelines to a version under which every third answer was given."""
    with reading(engine) as session:
        old = Settings.model_validate(session.get_one(Project, project_id).settings)
    update_settings(engine, project_id, old.model_copy(update={"guidelines": text}))
    with writing(engine) as session:
        for answer in session.scalars(select(Answer).where(Answer.project_id == project_id, Answer.id % 3 == 0)):
            answer.guidelines = version_of(text)


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return fill(engine, home)


def tables(archive: Path) -> dict[str, list[dict[str, Any]]]:
    with ZipFile(archive) as bundle:
        return {name: list(map(json.loads, bundle.read(f"tables/{name}.jsonl").splitlines())) for name in TABLES}


def plain(archive: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of an archive with positions instead of ids, and without folders' names."""
    rows = tables(archive)
    places = {name: {row["id"]: at for at, row in enumerate(rows[name])} for name in rows if "id" in TABLES[name].c}

    def placed(pairs: list[list[Any]]) -> list[list[Any]]:
        return [[places["items"][left], places["items"][right], *said] for left, right, *said in pairs]

    for name, table in TABLES.items():
        for row in rows[name]:
            for column in table.columns:
                for key in column.foreign_keys:
                    if row[column.name] is not None:
                        row[column.name] = places[key.column.table.name][row[column.name]]
            row.pop("id", None)
            if name in ("matchers", "designs"):
                row["folder"] = row["folder"] is not None
            if name == "matchers":
                row["cutoff"] = sum(1 for id_ in places["answers"] if id_ <= row["cutoff"])
            if name == "designs":
                row["details"]["sample"] = placed(row["details"]["sample"])
            if name == "tasks" and row["alike"]:
                row["alike"] = placed(row["alike"])
    return rows


def files(archive: Path) -> dict[str, bytes]:
    """Return the models, vectors and designs of an archive, without arrays of ids."""
    with ZipFile(archive) as bundle:
        kept = [name for name in bundle.namelist() if name.split("/")[0] in ("models", "vectors", "designs")]
        return {name: bundle.read(name) for name in kept if not name.endswith("decks.npz")}


def test_every_table_is_moved_or_left_behind_on_purpose() -> None:
    assert set(Base.metadata.tables) == set(TABLES) | LEFT_BEHIND


def test_a_project_comes_back_the_same(
    engine: Engine, project: int, tmp_path: Path, elsewhere: Callable[[str], Engine]
) -> None:
    exported = export_project(engine, NAME, tmp_path / "one.zip", vectors=True)
    assert exported.models == [1, 2] and exported.missing == []
    assert all(exported.rows.values()), exported.rows  # every table has rows that can be lost
    other = elsewhere("other")
    arrived = import_project(other, tmp_path / "one.zip")
    assert (arrived.name, arrived.rows, arrived.notes) == (NAME, exported.rows, [])
    export_project(other, NAME, tmp_path / "two.zip", vectors=True)
    before, after = plain(tmp_path / "one.zip"), plain(tmp_path / "two.zip")
    assert after["events"].pop()["new"] == {"archive": "one.zip"}  # that it came
    assert after == before
    assert {row["guidelines"] for row in before["answers"]} == {None, version_of("Dates count.")}
    assert tables(tmp_path / "two.zip") != tables(tmp_path / "one.zip")  # the ids are others
    assert files(tmp_path / "two.zip") == files(tmp_path / "one.zip")
    assert [(row["number"], row["event"]) for row in before["group_changes"]] == [
        (1, "made"), (2, "made"), (1, "shrunk"), (2, "grown"),
    ]  # fmt: skip
    assert [row["number"] for row in before["grouped_items"]] == [1, 1, 2, 2, 2, 2]
    assert set(files(tmp_path / "one.zip")) >= {"models/2/model.safetensors", "vectors/1/vectors.npy"}
    assert not list((tmp_path / "other" / "artifacts").glob(".*"))


def test_sampling_orders_scores_and_folders_name_what_is_new(
    engine: Engine, project: int, tmp_path: Path, elsewhere: Callable[[str], Engine]
) -> None:
    export_project(engine, NAME, tmp_path / "one.zip")
    other = elsewhere("other")
    new = import_project(other, tmp_path / "one.zip").project_id
    with reading(other) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == new).order_by(Item.id)).all()
        folders = session.scalars(select(StoredModel.folder).order_by(StoredModel.number)).all()
        design = session.scalars(select(Design)).one()
    assert folders == [None, f"project-{new}/round-1/model", f"project-{new}/round-2/model"]
    assert (artifacts() / str(folders[1]) / "model.safetensors").is_file()
    assert not list((artifacts() / f"project-{new}").rglob("vectors.npy"))  # they were not asked for
    with reading(other) as session:
        second = matchers_of(session, new)[0]
        assert [read_score(second, *pair) for pair in zip(items[:2], items[2:4], strict=True)] == [0.75, 0.5]
    with np.load(artifacts() / design.folder / "decks.npz") as orders:
        assert orders["left"].tolist() == items[-9:-6] and orders["right"].tolist() == items[-3:]
        assert orders["score"].tolist() == [0.5, 0.25, 0.1]


def test_a_copy_beside_the_original_has_its_own_name_and_life(engine: Engine, project: int, tmp_path: Path) -> None:
    export_project(engine, NAME, tmp_path / "one.zip")
    one, two = (import_project(engine, tmp_path / "one.zip") for _ in range(2))
    assert (one.name, two.name) == (f"{NAME} (2)", f"{NAME} (3)")
    assert "already" in one.notes[0]
    export_project(engine, one.name, tmp_path / "two.zip")
    before, after = plain(tmp_path / "one.zip"), plain(tmp_path / "two.zip")
    for rows in (before, after):
        rows["projects"][0].pop("name")
    assert after["events"].pop()["new"] == {"archive": "one.zip"}
    assert after == before
    delete_project(engine, one.project_id)
    export_project(engine, NAME, tmp_path / "three.zip")
    assert tables(tmp_path / "three.zip") == tables(tmp_path / "one.zip")
    assert files(tmp_path / "three.zip") == files(tmp_path / "one.zip")


def test_a_given_name_is_taken_and_a_long_one_cut(engine: Engine, tmp_path: Path, home: Path) -> None:
    make_project(engine, ["a", "b"], name="x" * MAX_NAME)
    export_project(engine, "x" * MAX_NAME, tmp_path / "one.zip")
    assert import_project(engine, tmp_path / "one.zip", "Mine").name == "Mine"
    assert import_project(engine, tmp_path / "one.zip").name == "x" * (MAX_NAME - 4) + " (2)"
    with pytest.raises(InputError, match="has 0 characters"):
        import_project(engine, tmp_path / "one.zip", " ")


def test_answers_keep_their_order_and_what_they_undid(
    engine: Engine, tmp_path: Path, elsewhere: Callable[[str], Engine]
) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(5)])
    make_round(engine, project_id, 5)
    answer(engine, project_id, (0, P), (1, U), (0, N), (2, P), (2, R), (3, S))
    export_project(engine, "Questions", tmp_path / "one.zip")
    other = elsewhere("other")
    import_project(other, tmp_path / "one.zip")
    with reading(other) as session:
        acts = session.execute(select(Task.position, Answer.answer).join(Task).order_by(Answer.id)).all()
    assert [tuple(act) for act in acts] == [(0, P), (1, U), (0, N), (2, P), (2, R), (3, S)]
    assert list_projects(other)[0].answers == list_projects(engine)[0].answers


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1),
                      min_size=2, max_size=6, unique=True))  # fmt: skip
def test_any_text_comes_back(engine: Engine, tmp_path: Path, texts: list[str]) -> None:
    name = "Any" + "".join(f"{len(text):x}" for text in texts)[:20]
    project_id = make_project(engine, texts, name=name)
    export_project(engine, name, tmp_path / "any.zip")
    arrived = import_project(engine, tmp_path / "any.zip")
    with reading(engine) as session:
        mine = select(Item.text).where(Item.project_id == arrived.project_id).order_by(Item.id)
        assert list(session.scalars(mine)) == texts
    for made in (project_id, arrived.project_id):
        delete_project(engine, made)


def test_models_may_stay_behind(
    engine: Engine, project: int, tmp_path: Path, elsewhere: Callable[[str], Engine]
) -> None:
    exported = export_project(engine, NAME, tmp_path / "one.zip", models=False)
    assert exported.models == [] and [name for name in files(tmp_path / "one.zip") if "model" in name] == []
    arrived = import_project(elsewhere("other"), tmp_path / "one.zip")
    (note,) = arrived.notes
    assert "no model of round 1, 2" in note
    assert arrived.rows["evaluations"] == 3


def test_a_model_whose_folder_is_gone_is_named(engine: Engine, tmp_path: Path, home: Path) -> None:
    make_audited_project(engine, rounds=2)
    assert export_project(engine, NAME, tmp_path / "one.zip").missing == [1]


def rewritten(archive: Path, to: Path, changed: Callable[[str, bytes], bytes | None]) -> Path:
    """Return the archive with other contents, without files whose contents are None."""
    with ZipFile(archive) as old, ZipFile(to, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = changed(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return to


def manifest(**values: Any) -> Callable[[str, bytes], bytes]:
    return lambda name, content: (
        json.dumps(json.loads(content) | values).encode() if name == "manifest.json" else content
    )


def in_table(table: str, change: Callable[[bytes], bytes | None]) -> Callable[[str, bytes], bytes | None]:
    return lambda name, content: change(content) if name == f"tables/{table}.jsonl" else content


DAMAGES: dict[str, tuple[Callable[[str, bytes], bytes | None], str]] = {
    "foreign": (lambda name, content: None if name == "manifest.json" else content, "no item named 'manifest.json'"),
    "format": (manifest(format="other"), "its format is 'other'"),
    "version": (manifest(version=2), "format version 2, .* up to 1; install a newer"),
    "no table": (in_table("tasks", lambda content: None), "tables/tasks.jsonl"),
    "short": (in_table("answers", lambda content: content[: content.rindex(b"\n", 0, -1) + 1]), "of 100 rows"),
    "no JSON": (in_table("items", lambda content: content[:-9]), "Unterminated|Expecting"),
    "no such item": (in_table("gold", lambda content: content.replace(b'"left_id": ', b'"left_id": 9')), "no row has"),
    "no id": (in_table("items", lambda content: content.replace(b'"id"', b'"it"')), "'id'"),
    "wrong order": (in_table("items", lambda c: b"\n".join(reversed(c.splitlines())) + b"\n"), "do not ascend"),
    "null": (in_table("items", lambda c: c.replace(b'"text": "', b'"text": null, "x": "')), "'text': it is empty"),
    "setting": (in_table("projects", lambda content: content.replace(b'"first": 40', b'"first": -1')), "settings: "),
    "way out": (lambda name, content: content, "bad file name 'models/1/../../../x'"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_archive_is_refused_in_one_line(
    engine: Engine, project: int, tmp_path: Path, home: Path, damage: str
) -> None:
    export_project(engine, NAME, tmp_path / "one.zip")
    change, said = DAMAGES[damage]
    path = rewritten(tmp_path / "one.zip", tmp_path / "bad.zip", change)
    if damage == "way out":
        with ZipFile(path, "a") as bundle:
            bundle.writestr("models/1/../../../x", "out")
    before, there = row_counts(engine), sorted(home.rglob("*"))
    with pytest.raises(InputError, match=said) as caught:
        import_project(engine, path)
    assert "\n" not in str(caught.value) and str(caught.value).startswith("bad.zip: ")
    assert row_counts(engine) == before
    assert [path for path in sorted(home.rglob("*")) if "allpairs.db" not in path.name] == [
        path for path in there if "allpairs.db" not in path.name
    ]


@pytest.mark.parametrize("content", [b"", b"id,text\n1,a\n", b"PK\x03\x04"])
def test_what_is_no_archive_is_refused(engine: Engine, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(InputError, match="not a complete project archive"):
        import_project(engine, tmp_path / "x.zip")
    with pytest.raises(InputError, match="cannot read"):
        import_project(engine, tmp_path / "none.zip")


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_flipped_byte_is_noticed(engine: Engine, project: int, tmp_path: Path, home: Path, at: float) -> None:
    export_project(engine, NAME, tmp_path / "one.zip")
    content = bytearray((tmp_path / "one.zip").read_bytes())
    content[int(len(content) * at)] ^= 0xFF
    (tmp_path / "bad.zip").write_bytes(content)
    before = row_counts(engine)
    with pytest.raises(InputError, match=r"bad\.zip"):
        import_project(engine, tmp_path / "bad.zip")
    assert row_counts(engine) == before


def without(table: str, column: str) -> Callable[[str, bytes], bytes]:
    """Return a function that removes the column, as in an archive of a version without it."""

    def change(name: str, content: bytes) -> bytes:
        if name == "manifest.json":
            known = json.loads(content)
            known["tables"][table]["columns"].remove(column)
            return json.dumps(known).encode()
        if name != f"tables/{table}.jsonl":
            return content
        rows = [json.loads(line) for line in content.splitlines()]
        return b"".join(json.dumps({k: v for k, v in row.items() if k != column}).encode() + b"\n" for row in rows)

    return change


def test_columns_that_are_missing_get_their_default(engine: Engine, project: int, tmp_path: Path) -> None:
    export_project(engine, NAME, tmp_path / "one.zip")
    older = rewritten(tmp_path / "one.zip", tmp_path / "older.zip", without("evaluations", "audit"))
    older = rewritten(older, tmp_path / "oldest.zip", without("answers", "seconds"))
    new = import_project(engine, older).project_id
    with reading(engine) as session:
        mine = select(Evaluation.audit).join(StoredModel).where(StoredModel.project_id == new)
        assert list(session.scalars(mine)) == [{}] * 3
        assert set(session.scalars(select(Answer.seconds).where(Answer.project_id == new))) == {None}
    with pytest.raises(InputError, match="table items lacks text"):
        import_project(engine, rewritten(older, tmp_path / "no.zip", without("items", "text")))


def test_missing_tables_are_refused_and_unknown_ones_left_out(engine: Engine, project: int, tmp_path: Path) -> None:
    def changed(missing: str, unknown: str) -> Callable[[str, bytes], bytes]:
        def change(name: str, content: bytes) -> bytes:
            if name != "manifest.json":
                return content
            known = json.loads(content)
            known["tables"].pop(missing, None)
            return json.dumps(known | {"tables": known["tables"] | {unknown: {"rows": 0, "columns": []}}}).encode()

        return change

    archive = tmp_path / "one.zip"
    export_project(engine, NAME, archive)
    with pytest.raises(InputError, match="table raters is missing"):
        import_project(engine, rewritten(archive, tmp_path / "old.zip", changed("raters", "moods")))
    arrived = import_project(engine, rewritten(archive, tmp_path / "new.zip", changed("", "moods")))
    assert arrived.rows.keys() == TABLES.keys()
    assert any("'moods'" in note for note in arrived.notes)


def test_columns_of_a_later_version_are_left_out_and_named(engine: Engine, project: int, tmp_path: Path) -> None:
    def later(name: str, content: bytes) -> bytes:
        if name == "manifest.json":
            known = json.loads(content)
            known["tables"]["gold"]["columns"].append("mood")
            return json.dumps(known).encode()
        if name == "tables/gold.jsonl":
            return content.replace(b"{", b'{"mood": "good", ')
        return (
            content.replace(b'"first": 40', b'"first": 40, "speed": 3') if name == "tables/projects.jsonl" else content
        )

    export_project(engine, NAME, tmp_path / "one.zip")
    arrived = import_project(engine, rewritten(tmp_path / "one.zip", tmp_path / "later.zip", later), "Later")
    gold, settings = arrived.notes
    assert gold.startswith("gold:") and "'mood'" in gold
    assert settings.startswith("settings:") and "'speed'" in settings
    with reading(engine) as session:
        assert session.scalar(select(func.count()).where(Gold.project_id == arrived.project_id)) == 30
        assert "speed" not in session.get_one(Project, arrived.project_id).settings


def test_an_archive_that_cannot_be_written_leaves_nothing(engine: Engine, project: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        export_project(engine, NAME, tmp_path / "no" / "one.zip")
    with pytest.raises(InputError, match="no project named 'Nope'"):
        export_project(engine, "Nope", tmp_path / "one.zip")
    assert not list(tmp_path.glob("*.zip")) and not list(tmp_path.glob(".*"))

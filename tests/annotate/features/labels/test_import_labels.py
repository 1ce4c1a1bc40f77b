"""The import report: what was stored, and each rejected row with the reason."""

import csv
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, select

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.labels.export import export_labels
from allpairs.annotate.features.labels.import_labels import Choices, import_labels
from allpairs.annotate.features.labels.import_report import FIRST, ImportReport, Trouble
from allpairs.annotate.features.review.disagreements import settling
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import answer_at_once, current_labels, store_answers
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, PairLabel
from tests.helpers.factories import make_project, make_round
from tests.helpers.projects.labels import N, P, R, U, answer, labelled, stored

ROWS = """\
id1,id2,label,annotator
left-0,left-1,1,ann
left-0,left-2,1,bob
left-3,left-4,0,bob
left-4,left-3,0,bob
left-3,left-5,1,bob
left-3,left-5,0,bob
left-9,left-1,1,bob
=cmd,left-1,1,bob
left-1,left-2,maybe,bob
left-1,left-1,1,bob
left-4,left-5,unsure,
"""


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project of six texts in which ann has called (0, 1) a positive and (0, 2) a negative."""
    project_id = make_project(engine, [f"text {i}" for i in range(6)])
    make_round(engine, project_id, 2)
    answer(engine, project_id, (0, P), (1, N), who="ann")
    return project_id


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(ROWS)
    return tmp_path / "labels.csv"


def rows_of(report: ImportReport) -> dict[Trouble, list[int]]:
    return {trouble: [problem.row for problem in found] for trouble, found in report.first.items()}


TROUBLES = {
    Trouble.DOUBLE: [2, 5],
    Trouble.CONFLICT: [3],
    Trouble.CONTRADICTION: [7],
    Trouble.UNKNOWN: [8, 9],
    Trouble.UNUSABLE: [10, 11],
}


def test_rows_with_problems_are_skipped_and_reported(engine: Engine, project: int, file: Path) -> None:
    report = import_labels(engine, "Questions", file, Choices(skip=True), file.with_name("problems.csv"))
    assert report.stored == 2 and rows_of(report) == TROUBLES and report.total == 8
    assert labelled(engine, project) == {
        ("left-0", "left-1", P, "ann"),
        ("left-0", "left-2", N, "ann"),  # the project's label stays
        ("left-3", "left-4", N, "bob"),
        ("left-4", "left-5", U, "import"),
    }
    with file.with_name("problems.csv").open(newline="") as stream:
        problems = list(csv.DictReader(stream))
    assert sorted(int(row["row"]) for row in problems) == sorted(row for rows in TROUBLES.values() for row in rows)
    assert next(row["id1"] for row in problems if row["row"] == "9") == "'=cmd"
    (what,) = (row["what"] for row in problems if row["row"] == "3")
    assert "negative and stays" in what


def test_a_corrected_problem_file_can_be_imported(engine: Engine, project: int, file: Path) -> None:
    again = file.with_name("problems.csv")
    import_labels(engine, "Questions", file, Choices(skip=True), again)
    corrected = [line for line in again.read_text().splitlines() if line.startswith(("row,", "3,"))]
    again.write_text("\n".join(corrected) + "\n")
    assert import_labels(engine, "Questions", again, Choices(replace=True)).stored == 1


def test_conflicts_can_be_replaced(engine: Engine, project: int, file: Path) -> None:
    report = import_labels(engine, "Questions", file, Choices(skip=True, replace=True))
    assert report.stored == 3 and Trouble.CONFLICT not in report.counts
    assert ("left-0", "left-2", P, "bob") in labelled(engine, project)


def test_a_label_is_imported_again_after_another_took_its_place(engine: Engine, project: int, tmp_path: Path) -> None:
    for label in "101":
        (tmp_path / "l.csv").write_text(f"id1,id2,label\nleft-4,left-5,{label}\n")
        assert import_labels(engine, "Questions", tmp_path / "l.csv", Choices(replace=True)).stored == 1
        assert import_labels(engine, "Questions", tmp_path / "l.csv").counts == {Trouble.DOUBLE: 1}
    assert ("left-4", "left-5", P, "import") in labelled(engine, project)
    with writing(engine) as session:
        pair = next((at.left_id, at.right_id) for at in current_labels(session, project) if at.annotator == "import")
        answer_at_once(session, project, "import", [pair], R, "undo")
    assert import_labels(engine, "Questions", tmp_path / "l.csv").stored == 1
    assert ("left-4", "left-5", P, "import") in labelled(engine, project)


def test_a_file_of_two_annotators_is_stored_once(engine: Engine, project: int, tmp_path: Path) -> None:
    rows = "id1,id2,label,annotator\nleft-4,left-5,1,eve\nleft-4,left-5,0,bob\n"
    (tmp_path / "l.csv").write_text(rows)
    for stored_rows in (2, 0):
        assert import_labels(engine, "Questions", tmp_path / "l.csv", Choices(replace=True)).stored == stored_rows
    assert ("left-4", "left-5", N, "bob") in labelled(engine, project)
    (tmp_path / "l.csv").write_text("id1,id2,label,annotator\nleft-4,left-5,1,Eve\nleft-3,left-5,1,BOB\n")
    import_labels(engine, "Questions", tmp_path / "l.csv", Choices(replace=True))
    with reading(engine) as session:  # names that differ by case alone are one person
        assert set(session.scalars(select(Answer.annotator))) == {"ann", "bob", "eve"}


def test_a_settled_label_is_replaced_only_if_asked(engine: Engine, project: int, tmp_path: Path) -> None:
    with writing(engine) as session:
        first = current_labels(session, project)[0]
        store_answers(session, [settling(project, "eve", first, N, "settled")])
    (tmp_path / "l.csv").write_text("id1,id2,label\nleft-0,left-1,1\n")
    assert import_labels(engine, "Questions", tmp_path / "l.csv").counts == {Trouble.CONFLICT: 1}
    assert import_labels(engine, "Questions", tmp_path / "l.csv", Choices(replace=True)).stored == 1
    assert ("left-0", "left-1", P, "import") in labelled(engine, project)


def test_archived_labels_do_not_keep_a_file_from_other_projects(engine: Engine, project: int, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("id1,id2,label\nleft-3,left-4,1\nleft-4,left-5,0\n")
    import_labels(engine, "Questions", tmp_path / "l.csv")
    export_project(engine, "Questions", tmp_path / "one.zip")
    with writing(engine) as session:  # as in another installation, whose project has the same number and texts
        for table in (PairLabel, Answer):
            session.execute(delete(table))
    assert import_project(engine, tmp_path / "one.zip").rows["answers"] == 4
    assert import_labels(engine, "Questions", tmp_path / "l.csv").stored == 2
    labels = {("left-3", "left-4", P, "import"), ("left-4", "left-5", N, "import")}
    assert labelled(engine, project) == labels


def test_a_dry_run_says_the_same_and_stores_nothing(engine: Engine, project: int, file: Path) -> None:
    before = stored(engine)
    dry = import_labels(engine, "Questions", file, Choices(skip=True, dry=True))
    assert stored(engine) == before
    assert import_labels(engine, "Questions", file, Choices(skip=True)) == dry
    assert stored(engine) == before + 2


def test_mistakes_stop_an_import_and_harmless_rows_do_not(engine: Engine, project: int, file: Path) -> None:
    with pytest.raises(InputError, match="row 7, column 'label'"):
        import_labels(engine, "Questions", file)
    assert stored(engine) == 2
    file.write_text("\n".join(ROWS.splitlines()[:5]) + "\n", encoding="utf-8")
    assert import_labels(engine, "Questions", file).stored == 1


def test_a_report_shows_the_first_rows_alone(engine: Engine, project: int, file: Path) -> None:
    file.write_text("id1,id2,label\n" + "nope,left-1,1\n" * (FIRST + 3), encoding="utf-8")
    report = import_labels(engine, "Questions", file, Choices(skip=True))
    assert report.counts == {Trouble.UNKNOWN: FIRST + 3}
    assert rows_of(report) == {Trouble.UNKNOWN: list(range(2, FIRST + 2))}


def test_ids_that_look_like_formulas_come_back(engine: Engine, tmp_path: Path) -> None:
    from sqlalchemy import update

    from allpairs.db.schema.engine import writing
    from allpairs.db.schema.tables import Identifier

    project_id = make_project(engine, ["a", "b"])
    with writing(engine) as session:
        session.execute(update(Identifier).where(Identifier.external_id == "left-0").values(external_id="=1+1"))
        session.execute(update(Identifier).where(Identifier.external_id == "left-1").values(external_id="'@x"))
    make_round(engine, project_id, 1)
    answer(engine, project_id, (0, P), who="-ann")
    export_labels(engine, "Questions", tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text().splitlines()[1].startswith("'=1+1,''@x,")
    assert import_labels(engine, "Questions", tmp_path / "labels.csv").counts == {Trouble.DOUBLE: 1}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_notes_go_out_and_come_back(engine: Engine, project: int, tmp_path: Path, suffix: str) -> None:
    notes = {"first": "=1+1, they say", "second": None}
    with writing(engine) as session:
        for row, note in zip(session.scalars(select(Answer).order_by(Answer.id)), notes.values(), strict=True):
            row.note = note
    path, noted = tmp_path / f"labels.{suffix}", tmp_path / f"noted.{suffix}"
    assert export_labels(engine, "Questions", path) == 2
    assert export_labels(engine, "Questions", noted, noted=True) == 1
    other = make_project(engine, [f"text {i}" for i in range(6)], name="Other")
    assert import_labels(engine, "Other", path).stored == 2
    with reading(engine) as session:
        copies = session.scalars(select(Answer).where(Answer.project_id == other).order_by(Answer.id)).all()
    assert [copy.note for copy in copies] == list(notes.values())


def test_a_note_that_is_too_long_is_named(engine: Engine, project: int, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(f"id1,id2,label,note\nleft-4,left-5,1,{'x' * 2001}\n")
    with pytest.raises(InputError, match=r"row 2, column 'note'.*2,001 characters.*2,000"):
        import_labels(engine, "Questions", tmp_path / "labels.csv")

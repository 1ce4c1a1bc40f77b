"""Labels are exported to files and imported again; files with a mistake change nothing."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.labels.export import export_labels, page_of_labels
from allpairs.annotate.features.labels.formats import Form
from allpairs.annotate.features.labels.import_labels import import_labels
from allpairs.annotate.features.labels.import_report import Trouble
from allpairs.annotate.features.projects.projects import create_project, list_projects
from allpairs.db.corpus.corpus import Corpus, CorpusItem
from allpairs.db.domain import DesignKind, Kind, Settings, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Design
from tests.helpers.factories import make_design, make_project, make_round
from tests.helpers.projects.labels import N, P, R, S, U, answer, labelled, place, read, stored


def make(engine: Engine, name: str = "Questions", n: int = 6, right: int = 0) -> int:
    sides = [Side.LEFT] * n + [Side.RIGHT] * right
    items = [
        CorpusItem(
            (f"id {i}", f"another {i}" if i == 0 else f"other {i}"), side, f'text {i}, "שלום" 🎈\nline two', Split.TRAIN
        )
        for i, side in enumerate(sides)
    ]
    corpus = Corpus(Kind.BIPARTITE if right else Kind.SYMMETRIC, items, [])
    return create_project(engine, name, corpus, Settings(evaluation_share=0))


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project with labels on pairs (0,1) +, (0,2) unsure, (0,4) −; (0,3) and (0,5) have none."""
    project_id = make(engine)
    make_round(engine, project_id, 5)
    answer(engine, project_id, (0, N), (1, U), (2, P), (3, N), (4, S))
    answer(engine, project_id, (0, P), (2, R))  # a correction and an undo
    return project_id


def outcome(engine: Engine, project: str, path: Path) -> tuple[int, int]:
    """Return how many labels of the file were stored, and how many existed already."""
    report = import_labels(engine, project, path)
    return report.stored, report.counts.get(Trouble.DOUBLE, 0)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_an_export_has_the_label_that_counts(engine: Engine, project: int, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"labels.{suffix}"
    assert export_labels(engine, "Questions", path) == 3 * 2 * 2  # each text has two ids
    rows = {(row["id1"], row["id2"]): row for row in read(path)}
    answers = {1: "positive", 2: "unsure", 4: "negative"}
    assert {pair: str(row["answer"]) for pair, row in rows.items()} == {
        (first, f"{second} {i}"): answers[i]
        for first in ("another 0", "id 0") for second in ("id", "other") for i in answers
    }  # fmt: skip
    found = rows["another 0", "id 1"]
    assert str(found["label"]) == "1"
    assert rows["another 0", "id 2"]["label"] is None
    assert found["text2"] == 'text 1, "שלום" 🎈\nline two'
    assert (found["annotator"], str(found["round"]), found["strategy"]) == ("ann", "1", "uncertainty")
    assert float(str(found["score"])) == 0.95
    assert "T" in str(found["created_at"])
    assert {row["purpose"] for row in rows.values()} == {"train"}
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_an_export_comes_back_the_same(engine: Engine, project: int, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"labels.{suffix}"
    export_labels(engine, "Questions", path)
    other = make(engine, "Other")
    assert outcome(engine, "Other", path) == (3, 9)
    assert labelled(engine, other) == labelled(engine, project)
    assert outcome(engine, "Other", path) == (0, 12)
    assert outcome(engine, "Questions", path) == (0, 12)  # they are there already, with their tasks


def test_an_empty_project_exports_a_header(engine: Engine, tmp_path: Path) -> None:
    make(engine)
    assert export_labels(engine, "Questions", tmp_path / "a.parquet") == 0
    assert pq.read_table(tmp_path / "a.parquet").column_names[:2] == ["id1", "id2"]
    assert export_labels(engine, "Questions", tmp_path / "a.csv", Form.PAIRS) == 0
    assert (tmp_path / "a.csv").read_text().strip() == "sentence1,sentence2,label"


def test_pairs_for_training_leave_unsure_out(engine: Engine, project: int, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    assert export_labels(engine, "Questions", path, Form.PAIRS) == 2
    assert [(str(row["sentence1"])[:6], str(row["sentence2"])[:6], row["label"]) for row in read(path)] == [
        ("text 0", "text 4", 0),
        ("text 0", "text 1", 1),
    ]


def triplets(path: Path) -> list[tuple[str, ...]]:
    return [tuple(str(row[name])[5] for name in ("anchor", "positive", "negative")) for row in read(path)]


def test_triplets_use_every_partner_of_an_anchor(engine: Engine, tmp_path: Path) -> None:
    project_id = make(engine)
    make_round(engine, project_id, 5)  # pairs of item 0 with items 1 … 5
    answer(engine, project_id, (0, P), (1, N), (2, N), (3, N), (4, P))
    path = tmp_path / "triplets.jsonl"
    assert export_labels(engine, "Questions", path, Form.TRIPLETS) == 3
    assert triplets(path) == [("0", "1", "2"), ("0", "5", "3"), ("0", "1", "4")]


def test_both_items_of_a_symmetric_pair_are_anchors(engine: Engine, tmp_path: Path) -> None:
    make(engine)
    path = tmp_path / "labels.csv"
    path.write_text("id1,id2,label\nid 0,id 3,1\nid 1,id 3,0\n")
    import_labels(engine, "Questions", path)
    export_labels(engine, "Questions", tmp_path / "t.jsonl", Form.TRIPLETS)
    assert triplets(tmp_path / "t.jsonl") == [("3", "0", "1")]


def test_only_left_items_anchor_a_bipartite_project(engine: Engine, tmp_path: Path) -> None:
    make(engine, n=2, right=2)
    path = tmp_path / "labels.csv"
    path.write_text("id1,id2,label\nid 0,id 2,1\nid 0,id 3,0\nid 1,id 2,0\n")
    import_labels(engine, "Questions", path)
    export_labels(engine, "Questions", tmp_path / "t.jsonl", Form.TRIPLETS)
    assert triplets(tmp_path / "t.jsonl") == [("0", "2", "3")]


@pytest.fixture
def audited(engine: Engine) -> int:
    """Return a project whose batch has a positive that trains, two audit positives and an unsure audit pair."""
    project_id = make_project(engine, [f"text {i}" for i in range(9)], evaluation=5)
    make_design(engine, project_id)
    make_round(engine, project_id, 5, audits=(1, 2, 3))
    answer(engine, project_id, (0, P), (1, P), (2, U), (3, P), (4, N))
    return project_id


def test_audit_labels_are_marked_and_no_training_data(engine: Engine, audited: int, tmp_path: Path) -> None:
    assert export_labels(engine, "Questions", tmp_path / "all.jsonl") == 5
    assert [row["purpose"] for row in read(tmp_path / "all.jsonl")] == ["train", "audit", "audit", "audit", "train"]
    assert export_labels(engine, "Questions", tmp_path / "pairs.jsonl", Form.PAIRS) == 2
    assert [tuple(row.values()) for row in read(tmp_path / "pairs.jsonl")] == [
        ("text 0", "text 1", 1),
        ("text 0", "text 2", 0),
    ]
    export_labels(engine, "Questions", tmp_path / "triplets.jsonl", Form.TRIPLETS)
    assert triplets(tmp_path / "triplets.jsonl") == [("0", "1", "2")]


def test_an_audit_export_says_how_each_pair_was_drawn(engine: Engine, audited: int, tmp_path: Path) -> None:
    place(engine, audited, stratum=1, inclusion=0.25)
    assert export_labels(engine, "Questions", tmp_path / "audit.csv", Form.AUDIT) == 2
    assert read(tmp_path / "audit.csv") == [
        {
            "id1": "left-4",
            "id2": "left-5",
            "label": "1",
            "inclusion": "0.25",
            "stratum": "1",
            "size": "16",
            "band": "2",
            "verdict": None,
            "read": None,
            "called": None,
            "also1": None,
            "also2": None,
        },
        {
            "id1": "left-4",
            "id2": "left-7",
            "label": "1",
            "inclusion": "0.25",
            "stratum": "1",
            "size": "16",
            "band": "2",
            "verdict": None,
            "read": None,
            "called": None,
            "also1": None,
            "also2": None,
        },
    ]


def test_an_audit_export_has_what_a_machine_rater_said(engine: Engine, audited: int, tmp_path: Path) -> None:
    place(engine, audited, stratum=1, inclusion=0.25)
    with writing(engine) as session:
        for design in session.scalars(select(Design)):
            said = [1] + [2] * (len(design.details.get("sample", ())) - 1)
            design.details = design.details | {"rated": {"said": said, "read": [0, 12], "called": [0, 3]}}
    export_labels(engine, "Questions", tmp_path / "audit.csv", Form.AUDIT)
    found = [tuple(row[name] for name in ("verdict", "read", "called")) for row in read(tmp_path / "audit.csv")]
    assert found == [("1", "12", "3"), (None, "12", "3")]


def test_an_audit_export_knows_the_newest_designs_strata_alone(engine: Engine, audited: int, tmp_path: Path) -> None:
    make_design(engine, audited, sizes=(32, 64))
    make_design(engine, audited, DesignKind.CORRECTION)  # of another kind: no part of this file
    assert export_labels(engine, "Questions", tmp_path / "none.csv", Form.AUDIT) == 0  # not placed yet
    place(engine, audited, stratum=0, inclusion=0.5)
    export_labels(engine, "Questions", tmp_path / "audit.parquet", Form.AUDIT)
    assert [(row["stratum"], row["size"]) for row in read(tmp_path / "audit.parquet")] == [(0, 32), (0, 32)]


@pytest.mark.parametrize("name", ["labels.xlsx", "no/such/folder/labels.csv"])
def test_files_that_cannot_be_written_are_refused(engine: Engine, project: int, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="labels"):
        export_labels(engine, "Questions", tmp_path / name)
    assert not list(tmp_path.rglob("*labels*"))


def test_imported_labels_are_stored_once_in_any_order_of_ids(engine: Engine, tmp_path: Path) -> None:
    project_id = make(engine)
    path = tmp_path / "labels.csv"
    rows = "id 3,id 1,1.0,", "other 1,other 3,positive,", "id 1,id 2,Unsure,bob", "id 4,id 5,,bob"
    path.write_text("\n".join(("id1,id2,label,annotator", *rows)))
    assert outcome(engine, "Questions", path) == (2, 1)
    assert outcome(engine, "Questions", path) == (0, 3)
    assert labelled(engine, project_id) == {("id 1", "id 3", P, "import"), ("id 1", "id 2", U, "bob")}
    assert stored(engine) == 2


def test_a_correction_after_an_import_survives_the_same_file(engine: Engine, tmp_path: Path) -> None:
    project_id = make(engine)
    path = tmp_path / "labels.csv"
    path.write_text("id1,id2,label\nid 0,id 1,1\n")
    import_labels(engine, "Questions", path)
    make_round(engine, project_id, 1)
    answer(engine, project_id, (0, N), who="import")
    assert import_labels(engine, "Questions", path).counts == {Trouble.CONFLICT: 1}
    assert {label[2] for label in labelled(engine, project_id)} == {N}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["id 0,id 9,1"], ["row 3, column 'id2'", "the project has no id", "'id 9'"]),
        (["nope,id 1,1"], ["row 3, column 'id1'", "'nope'"]),
        (["id 0,id 1,perhaps"], ["row 3, column 'label'", "'perhaps'", "unsure"]),
        (["id 1,other 1,0"], ["row 3, column 'id2'", "same text"]),
        (["id 4,id 5,0"], ["row 3, column 'label'", "negative here but positive in row 2"]),
    ],
)
def test_one_bad_row_stores_nothing(engine: Engine, tmp_path: Path, rows: list[str], expected: list[str]) -> None:
    make(engine)
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["id1,id2,label", "id 4,id 5,1", *rows]) + "\n")
    with pytest.raises(InputError) as caught:
        import_labels(engine, "Questions", path)
    assert [part for part in expected if part not in str(caught.value)] == []
    assert stored(engine) == 0


def test_an_annotator_name_beyond_the_column_is_refused(engine: Engine, tmp_path: Path) -> None:
    make(engine)
    path = tmp_path / "labels.csv"
    path.write_text(f"id1,id2,label,annotator\nid 0,id 1,1,{'x' * 201}\n")
    with pytest.raises(InputError, match=r"column 'annotator': .* 201"):
        import_labels(engine, "Questions", path)


def test_unknown_projects_are_refused(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id1,id2,label\na,b,1\n")
    for act in (import_labels, export_labels):
        with pytest.raises(InputError, match="no project named 'Nope'"):
            act(engine, "Nope", path)
    assert list_projects(engine) == []


def test_a_label_leaves_for_every_id_of_its_texts(engine: Engine, tmp_path: Path) -> None:
    make(engine)
    file = tmp_path / "labels.csv"
    file.write_text("id1,id2,label\nanother 0,other 1,1\nid 2,other 2,1\n")
    report = import_labels(engine, "Questions", file)
    assert (report.stored, report.counts) == (1, {Trouble.DOUBLE: 1})  # equal texts match already
    export_labels(engine, "Questions", file)
    assert {(row["id1"], row["id2"], row["label"]) for row in read(file)} == {
        (first, second, "1") for first in ("id 0", "another 0") for second in ("id 1", "other 1")
    }
    page = page_of_labels(engine, 1, 0, 1)
    assert (len(page.rows), page.more) == (4, True)
    export_labels(engine, "Questions", tmp_path / "history.jsonl", Form.HISTORY)
    assert [(row["id1"], row["also1"], row["also2"]) for row in read(tmp_path / "history.jsonl")] == [
        ("another 0", '["id 0"]', '["other 1"]')
    ]
    file.write_text("id1,id2,label\nid 2,other 2,0\n")
    with pytest.raises(InputError, match="same text"):
        import_labels(engine, "Questions", file)

"""Every form in every format survives a round trip; cells that a spreadsheet would run are made harmless."""

import csv
import re
import string
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.labels.export import export_dataset, export_labels
from allpairs.annotate.features.labels.formats import COLUMNS, Form, LabelExport, table
from allpairs.annotate.features.labels.import_labels import import_labels
from allpairs.annotate.features.projects.lifecycle import duplicate_project
from allpairs.annotate.features.projects.projects import list_projects, update_settings
from allpairs.db.corpus.files import read_rows
from allpairs.db.corpus.formula import guarded, unguarded
from allpairs.db.corpus.table_files import write_table
from allpairs.db.domain import Kind, Purpose, Settings, Verdict, version_of
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import answer_at_once
from allpairs.db.labels.audits import AuditLabel
from allpairs.db.labels.labels import LabelRow
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Design, Item, MachineRater, PairVerdict, Round, StoredModel
from tests.helpers.factories import make_design, make_project, make_round
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.machine import examples
from tests.helpers.projects.labels import STARTS, TEXTS, N, P, R, S, U, answer, place, read


@given(TEXTS | st.text(st.sampled_from("=＝+-@';\t\r\n 1.e\ufeffa"), max_size=12))
@example("=cmd")
def test_a_guarded_cell_is_no_formula_and_comes_back(text: str) -> None:
    cell = guarded(text)
    assert unguarded(cell) == text and not cell.startswith(("\t", "\r", "\n"))
    for part in re.split(r"[;|\t\r\n]", cell):  # as a spreadsheet of another separator would
        begin = unicodedata.normalize("NFKC", part.strip("\ufeff" + string.whitespace))
        assert begin[:1] not in set("=@")
        assert begin[:1] not in set("+-") or (part == begin and float(part) is not None)  # numbers may begin so


def test_long_cells_take_linear_time() -> None:
    for text in (
        "\n" * 10**6,
        "-" + "1" * 10**6 + "x",
        "'" * 10**6 + "=",
        "\n" + " " * 10**6 + "x=",
        ";'" * 10**5 + "-",
    ):
        assert unguarded(guarded(text)) == text


def test_numbers_stay_numbers() -> None:
    assert [guarded(cell) for cell in (-1.5, 3, None, "-1.5", "+2", "-1e-3")] == [-1.5, 3, None, "-1.5", "+2", "-1e-3"]
    assert [guarded(cell) for cell in ("-1-2", "=1", "- 1", "-x")] == ["'-1-2", "'=1", "'- 1", "'-x"]


def labels_of(words: list[str]) -> LabelExport:
    """Return labels of both kinds on pairs of items whose texts, ids, notes and annotators are these words."""
    items = dict(enumerate(words))
    time = datetime(2026, 1, 2, tzinfo=UTC)
    rows = [
        LabelRow(
            0,
            at,
            (P, N, U)[(at - 1) % 3],
            words[at],
            time,
            0.5,
            words[at],
            "e3b0c442",
            None,
            2,
            "random",
            -0.25,
            Purpose.TRAIN,
            True,
            at,
        )
        for at in range(1, len(words))
    ]
    audits = [AuditLabel(0, at, P, 1, 0, 0.5) for at in range(1, len(words))]
    sample = [[0, at, 0, 0.5] for at in range(1, len(words))]
    design = Design(strata=[{"size": 8}], details={"sample": sample})
    rater = MachineRater(number=1, setup={"name": words[1]})
    said = PairVerdict(left_id=0, right_id=1, verdict=Verdict.YES, p=0.5, prompt="0a1b2c3d", at=time, cost=0.5)
    return LabelExport(
        Kind.SYMMETRIC,
        rows,
        audits,
        [design],
        {at: [word] for at, word in items.items()},
        items,
        [(0, 1, True)],
        [(said, rater)],
    )


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("form", list(Form))
@given(words=st.lists(TEXTS, min_size=3, max_size=6))
@example(words=list(STARTS))
@settings(max_examples=examples(30))
def test_every_form_comes_back_from_every_format(form: Form, suffix: str, words: list[str]) -> None:
    rows = list(table(labels_of(words), form))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"labels.{suffix}"
        assert write_table(path, COLUMNS[form], rows) == len(rows) > 0
        back = [row.values for row in read_rows(path, list(COLUMNS[form]))]
    assert back == [tuple("" if cell is None else str(cell) for cell in row) for row in rows]


@given(words=st.lists(TEXTS, min_size=2, max_size=6))
@settings(max_examples=examples(30))
def test_no_cell_of_a_csv_file_begins_like_a_formula(words: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        write_table(path, COLUMNS[Form.LABELS], table(labels_of(words), Form.LABELS))
        with path.open(encoding="utf-8", newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
    assert [cell for cell in cells if cell[:1] in {"=", "@", "\t", "\r"}] == []
    assert all(isinstance(float(cell), float) for cell in cells if cell[:1] in {"+", "-"})


@pytest.fixture
def labelled(engine: Engine) -> int:
    """Return a project with a positive, two negatives of the same text, a corrected answer, and an undone one."""
    project_id = make_project(engine, [f"text {i}" for i in range(9)], evaluation=4)
    make_design(engine, project_id)
    make_round(engine, project_id, 6, audits=(4,))
    answer(engine, project_id, (0, P), (1, P), (2, N), (3, P), (4, P), (5, S))
    answer(engine, project_id, (1, N), (3, R))
    return project_id


def test_the_history_has_every_answer_and_says_which_count(engine: Engine, labelled: int, tmp_path: Path) -> None:
    assert export_labels(engine, "Questions", tmp_path / "history.jsonl", Form.HISTORY) == 8
    rows = read(tmp_path / "history.jsonl")
    assert [(row["answer"], row["counts"]) for row in rows] == [
        ("positive", 1), ("positive", 0), ("negative", 1), ("positive", 0), ("positive", 1), ("skip", 0),
        ("negative", 1), ("retract", 0),
    ]  # fmt: skip
    counting = [(row["id1"], row["id2"], row["answer"]) for row in rows if row["counts"]]
    export_labels(engine, "Questions", tmp_path / "labels.jsonl")
    assert sorted(counting) == sorted((r["id1"], r["id2"], r["answer"]) for r in read(tmp_path / "labels.jsonl"))


def test_implied_pairs_are_those_of_training_and_not_imported(engine: Engine, tmp_path: Path) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(8)], evaluation=3)  # 0 to 4 train
    make_design(engine, project_id)
    make_round(
        engine, project_id, 8, audits=(7,)
    )  # in order (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), …; (5, 6) measures
    answer(engine, project_id, (0, P), (1, P), (2, N), (3, U), (7, P))
    path = tmp_path / "implied.csv"
    assert export_labels(engine, "Questions", path, Form.IMPLIED) == 3
    assert [(row["text1"], row["text2"], row["implied"]) for row in read(path)] == [
        ("text 1", "text 2", "1"), ("text 1", "text 3", "0"), ("text 2", "text 3", "0"),
    ]  # fmt: skip
    with pytest.raises(InputError, match="no such column"):
        import_labels(engine, "Questions", path)
    assert export_labels(engine, "Questions", tmp_path / "labels.csv") == 5


def test_implied_pairs_follow_from_labels_of_train_texts_alone(engine: Engine, tmp_path: Path) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(6)], evaluation=3)  # 0 to 2 train
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)).all()
        chain = [(items[at], items[at + 1]) for at in range(5)]  # matches within each split, and one across them
        answer_at_once(session, project_id, "ann", chain, P, "all the same text")
    path = tmp_path / "implied.csv"
    assert export_labels(engine, "Questions", path, Form.IMPLIED) == 1
    assert [(row["text1"], row["text2"], row["implied"]) for row in read(path)] == [("text 0", "text 2", "1")]


def test_two_lists_imply_nothing(engine: Engine, tmp_path: Path) -> None:
    make_project(engine, ["a", "b"], ["c"], name="Two")
    with pytest.raises(InputError, match="'Two' compares two lists"):
        export_labels(engine, "Two", tmp_path / "implied.csv", Form.IMPLIED)
    assert not list(tmp_path.glob("*.csv"))


def test_an_export_names_guidelines_and_model_of_each_answer(engine: Engine, tmp_path: Path) -> None:
    project_id = make_measured_project(engine, "Questions", rounds=2)
    make_round(engine, project_id, 3)
    with writing(engine) as session:
        matcher = session.scalars(select(StoredModel).where(StoredModel.number == 1)).one()
        session.scalars(select(Round).where(Round.number == 2)).one().matcher_id = matcher.id
    (pair, other, *_), _ = serve(engine, project_id, "ben")
    say = {"answer": "positive", "seconds": 2.0}
    record(engine, project_id, "ben", [say | {"key": "a", "task_id": pair.task_id}])
    settings = Settings.model_validate(list_projects(engine)[0].settings.model_dump() | {"guidelines": "Dates count."})
    update_settings(engine, project_id, settings)
    record(engine, project_id, "ben", [say | {"key": "b", "task_id": other.task_id}])
    for form in (Form.LABELS, Form.HISTORY):
        export_labels(engine, "Questions", tmp_path / "labels.jsonl", form)
        *early, one, another = read(tmp_path / "labels.jsonl")
        assert {(row["guidelines"], row["model"]) for row in early} == {(None, None)}  # nobody wrote it down then
        assert (one["guidelines"], one["model"], one["round"]) == (version_of(""), 1, 2)
        assert (another["guidelines"], another["model"]) == (version_of("Dates count."), 1)
    (tmp_path / "elsewhere.csv").write_text("id1,id2,label\nleft-0,left-9,1\n")
    import_labels(engine, "Questions", tmp_path / "elsewhere.csv")
    name = duplicate_project(engine, project_id, labels=True)[1]
    for which in ("Questions", name):
        export_labels(engine, which, tmp_path / "labels.jsonl")
        assert [row["guidelines"] for row in read(tmp_path / "labels.jsonl")][-3:] == [
            version_of(""), version_of("Dates count."), None,
        ]  # fmt: skip


def test_positives_are_anchor_and_positive_of_labels_that_train(engine: Engine, labelled: int, tmp_path: Path) -> None:
    assert export_labels(engine, "Questions", tmp_path / "positives.csv", Form.POSITIVES) == 1
    assert read(tmp_path / "positives.csv") == [{"anchor": "text 0", "positive": "text 1"}]


def configs(folder: Path) -> dict[str, dict[str, str]]:
    """Return the file of each split of each configuration, as in the card's front matter."""
    found: dict[str, dict[str, str]] = {}
    head = (folder / "README.md").read_text().split("---\n")[1]
    for line in head.splitlines():
        key, _, value = line.strip(" -").partition(": ")
        if key == "config_name":
            files = found.setdefault(value, {})
        elif key == "split":
            split = value
        elif key == "path":
            files[split] = value
    return found


def test_a_dataset_folder_has_the_files_that_its_card_names(engine: Engine, labelled: int, tmp_path: Path) -> None:
    place(engine, labelled, 0, 0.5)
    assert export_dataset(engine, "Questions", tmp_path / "out") == {"train": 3, "test": 1}
    named = configs(tmp_path / "out")
    assert named["labels"] == {"train": "labels/train.parquet", "test": "labels/test.parquet"}
    assert set(named) == {"labels", "pairs", "positives", "triplets"}
    files = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.parquet")}
    assert files == {path for splits in named.values() for path in splits.values()}
    for form, splits in named.items():
        assert all(
            pq.read_schema(tmp_path / "out" / path).names == list(COLUMNS[Form(form)]) for path in splits.values()
        )
    triplets = pq.read_table(tmp_path / "out" / named["triplets"]["train"]).to_pylist()
    assert {tuple(row.values()) for row in triplets} == {
        ("text 0", "text 1", "text 2"), ("text 0", "text 1", "text 3"),
    }  # fmt: skip


def test_datasets_loads_the_folder(engine: Engine, labelled: int, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="Hugging Face's datasets is not installed: pip install datasets")
    export_dataset(engine, "Questions", tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 3, "test": 1}


def test_a_dataset_is_not_written_over_anything(engine: Engine, labelled: int, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="exists already"):
        export_dataset(engine, "Questions", tmp_path / "out")
    make_project(engine, ["a", "b"], name="Empty")
    with pytest.raises(InputError, match="no labels yet"):
        export_dataset(engine, "Empty", tmp_path / "other")
    assert list((tmp_path / "out").iterdir()) == [] and not (tmp_path / "other").exists()

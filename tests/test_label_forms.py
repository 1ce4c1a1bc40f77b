"""Every form in every format comes back as it went; cells that a spreadsheet would run are made harmless."""

import csv
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from annotate.label_forms import COLUMNS, Form, Labels, table
from annotate.labels import export_dataset, export_labels
from annotate.tables import write_table
from db.audits import AuditLabel
from db.corpus.files import read_rows
from db.corpus.formula import guarded, unguarded
from db.domain import InputError, Kind, Purpose
from db.labels import LabelRow
from db.models import Design
from tests.factories import make_design, make_project, make_round
from tests.test_labels_files import N, P, R, S, U, answer, place, read

STARTS = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "'=x", "''-x", "-5", "1,5", '"', "a\nb", "🎈")
texts = st.one_of(
    st.sampled_from(STARTS),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=30),
    st.text("'=+-@\t\r\n,\"x1\x01\x1f\u2028", min_size=1, max_size=8),
)


@given(texts)
@example("=cmd")
def test_a_guarded_cell_is_no_formula_and_comes_back(text: str) -> None:
    cell = guarded(text)
    assert unguarded(cell) == text
    assert cell[0] not in "=@\t\r"
    assert cell[0] not in "+-" or float(cell) is not None  # a number alone may begin so


def test_numbers_stay_numbers() -> None:
    assert [guarded(cell) for cell in (-1.5, 3, None, "-1.5", "+2", "-1e-3")] == [-1.5, 3, None, "-1.5", "+2", "-1e-3"]
    assert [guarded(cell) for cell in ("-1-2", "=1", "- 1", "-x")] == ["'-1-2", "'=1", "'- 1", "'-x"]


def labels_of(words: list[str]) -> Labels:
    """Labels of both kinds on pairs of items whose texts, ids, notes and annotators are these words."""
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
            None,
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
    return Labels(Kind.SYMMETRIC, rows, audits, [design], items, items)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("form", list(Form))
@given(words=st.lists(texts, min_size=3, max_size=6))
@example(words=list(STARTS))
@settings(max_examples=30, deadline=None)
def test_every_form_comes_back_from_every_format(form: Form, suffix: str, words: list[str]) -> None:
    rows = list(table(labels_of(words), form))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"labels.{suffix}"
        assert write_table(path, COLUMNS[form], rows) == len(rows) > 0
        back = [row.values for row in read_rows(path, list(COLUMNS[form]))]
    assert back == [tuple("" if cell is None else str(cell) for cell in row) for row in rows]


@given(words=st.lists(texts, min_size=2, max_size=6))
@settings(max_examples=30, deadline=None)
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
    """A project with a positive, two negatives of the same text, a corrected answer, and one that was undone."""
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


def test_positives_are_anchor_and_positive_of_labels_that_train(engine: Engine, labelled: int, tmp_path: Path) -> None:
    assert export_labels(engine, "Questions", tmp_path / "positives.csv", Form.POSITIVES) == 1
    assert read(tmp_path / "positives.csv") == [{"anchor": "text 0", "positive": "text 1"}]


def configs(folder: Path) -> dict[str, dict[str, str]]:
    """The file of each split of each configuration, as the card's first lines name them."""
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
    with pytest.raises(InputError, match="is there already"):
        export_dataset(engine, "Questions", tmp_path / "out")
    make_project(engine, ["a", "b"], name="Empty")
    with pytest.raises(InputError, match="no label yet"):
        export_dataset(engine, "Empty", tmp_path / "other")
    assert list((tmp_path / "out").iterdir()) == [] and not (tmp_path / "other").exists()


def test_what_the_learner_writes_is_harmless_too(tmp_path: Path) -> None:
    pytest.importorskip("learner.match")
    from learner.match import _write

    _write(pd.DataFrame({"id1": ["=1+1"], "score": [-0.5]}), tmp_path / "matches.csv")
    assert (tmp_path / "matches.csv").read_text() == "id1,score\n'=1+1,-0.5\n"

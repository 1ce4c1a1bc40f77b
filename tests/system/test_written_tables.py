"""Every CSV that is written is read back equal by us, by pandas and by the csv module, whatever its texts hold."""

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allpairs.annotate.features.labels.import_report import ImportProblem, ImportReport, Trouble, recording
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.csv_writer import csv_text, write_csv
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.corpus.formula import unguarded
from allpairs.db.corpus.item import CorpusItem
from allpairs.db.corpus.split import write_split
from allpairs.db.corpus.table_files import WRITERS, write_frame, write_table
from allpairs.db.domain import Kind, Side, Split
from allpairs.db.errors import InputError
from allpairs.learner.loop.simulated_labels import Labels
from allpairs.learner.published.released import CsvTable
from allpairs.learner.published.released import write_csv_table as write_released
from allpairs.learner.reports.tables import as_csv
from tests.helpers.machine import ROOT, examples

HOSTILE = (
    "one\rtwo", "one\ntwo", "one\r\ntwo", "\r", '"quoted"', 'a "quote', "a,b;c\td", "=1+1", "'=1+1", "'-ing forms",
    "\x01\x1f\x7f\x85\u2028", "a \ufeff b", " padded ", "", "NA", "-1.5", "1e5", "ß 😀 ｋ", "\tx", "''@", '""', "'",
)  # fmt: skip
COLUMNS = ("id1", "text", "id2")
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.sampled_from("\r\n\t\"',;=+-@"), max_size=8
)
TREES = ("allpairs", "annotate", "db", "learner")


def by_us(path: Path) -> list[list[str]]:
    return [list(row.values) for row in read_rows(path, column_names(path))]


def by_pandas(path: Path) -> list[list[str]]:
    cells = pd.read_csv(path, dtype=str, keep_default_na=False).to_numpy().tolist()
    return [[unguarded(cell) for cell in row] for row in cells]


def by_the_csv_module(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return [[unguarded(cell) for cell in row] for row in csv.reader(stream)][1:]


READERS = (by_us, by_pandas, by_the_csv_module)


def rows_of(texts: Sequence[str]) -> list[tuple[str, str, str]]:
    return [(text, text, "id") for text in texts]


# A row without any text is left out when it is read, as spreadsheets write such: each row has an id.
@given(rows=st.lists(st.tuples(TEXTS, TEXTS, st.just("id")), min_size=1, max_size=5), for_people=st.booleans())
@example(rows=rows_of(HOSTILE), for_people=False)
@example(rows=rows_of(HOSTILE), for_people=True)
@settings(max_examples=examples(100))
def test_any_texts_come_back_equal(rows: list[tuple[str, str, str]], for_people: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        assert write_csv(path, COLUMNS, rows, for_people) == len(rows)
        assert path.read_bytes().startswith(b"\xef\xbb\xbf") == for_people
        for reader in READERS:
            assert reader(path) == [list(row) for row in rows], reader.__name__


def ids_of(texts: Sequence[str]) -> Corpus:
    return Corpus(Kind.SYMMETRIC, [CorpusItem((text,), Side.LEFT, text, Split.TRAIN) for text in texts], [])


def simulated(texts: Sequence[str], path: Path) -> None:
    places = list(range(len(texts)))
    Labels(places, places, [1] * len(texts), places, [0.5] * len(texts)).write(ids_of(texts), path)


def problems(texts: Sequence[str], path: Path) -> None:
    with recording(ImportReport(), path) as recorder:
        for text in texts:
            recorder.add(ImportProblem(1, Trouble.UNKNOWN, text, text, text, text, text))


def frame(texts: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({"id": range(len(texts)), "id1": texts, "id2": texts, "text": texts})


# Each writes a table in which every row has one of the texts.
TABLES: dict[str, Callable[[Sequence[str], Path], Any]] = {
    "split": lambda texts, path: write_split(ids_of(texts), path),
    "labels of a simulation": simulated,
    "problems of an import": problems,
    "released data": lambda texts, path: write_released(CsvTable(COLUMNS, rows_of(texts)), path),
    "results": lambda texts, path: path.write_text(as_csv([{"row": text, "value": 1.5} for text in texts]), "utf-8"),
    "export": lambda texts, path: write_table(
        path, dict.fromkeys(COLUMNS, str), [(text, text, "id") for text in texts]
    ),
    "matches, groups": lambda texts, path: write_frame(path, frame(texts)),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_comes_back_equal(name: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    TABLES[name](HOSTILE, path)
    for reader in READERS:
        rows = reader(path)
        assert len(rows) == len(HOSTILE), reader.__name__
        assert [text for text, row in zip(HOSTILE, rows, strict=True) if text not in row] == [], reader.__name__


@pytest.mark.parametrize("suffix", WRITERS)
def test_half_a_character_is_refused_before_a_file_is_there(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="half a character"):
        write_table(tmp_path / f"table{suffix}", {"text": str}, [("whole",), ("half \ud83d",)])
    assert list(tmp_path.iterdir()) == []


def test_missing_values_are_empty_and_columns_keep_their_names() -> None:
    table = pd.DataFrame({"=a": [1.0, np.nan], "b": pd.array([1, None], dtype="Int8"), "id": "x"})
    with TemporaryDirectory() as folder:
        write_frame(path := Path(folder) / "table.csv", table.astype({"b": float}))
        assert column_names(path) == ["=a", "b", "id"] and by_us(path) == [["1.0", "1.0", "x"], ["", "", "x"]]
    assert csv_text(["a"], [[""], ["x"]]) == 'a\n""\nx\n'  # no blank line, which readers skip


ANOTHER_WRITER = re.compile(r"\.to_csv\(|\bcsv\.writer|\bDictWriter|\bfrom csv import")


def test_nothing_else_writes_csv() -> None:
    modules = [path for tree in TREES for path in (ROOT / tree).rglob("*.py")]
    assert len(modules) > 500
    offending = [str(path.relative_to(ROOT)) for path in modules if ANOTHER_WRITER.search(path.read_text())]
    assert offending == [], "use db/corpus/csv_writer.py"

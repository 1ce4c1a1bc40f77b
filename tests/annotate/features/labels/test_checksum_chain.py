"""The checksum chain of an exported history: intact in every format, and broken by any change to a row."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from allpairs.annotate.features.labels.checksum_chain import CHAIN, Verified, chained, verify
from allpairs.annotate.features.labels.export import export_labels
from allpairs.annotate.features.labels.formats import Form
from allpairs.db.corpus.table_files import write_table
from allpairs.db.errors import InputError
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import examples
from tests.helpers.projects.labels import TEXTS, N, P, R, S, U, answer

COLUMNS: dict[str, type] = {"text": str, "seconds": float, "label": int} | CHAIN
cells = st.tuples(
    TEXTS, st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(5.0)), st.one_of(st.none(), st.integers(0, 1))
)


def write(path: Path, rows: list[tuple[object, ...]]) -> Path:
    write_table(path, COLUMNS, chained(list(COLUMNS), rows))
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@given(rows=st.lists(cells, min_size=1, max_size=5))
@settings(max_examples=examples(40))
def test_a_written_chain_is_unbroken_in_every_format(suffix: str, rows: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder:
        found = verify(write(Path(folder) / f"rows.{suffix}", rows))
    assert found == Verified(len(rows), list(chained(list(COLUMNS), rows))[-1][-1])


@given(data=st.data(), n=st.integers(2, 6))
@settings(max_examples=examples(80))
def test_one_changed_character_breaks_the_chain_at_its_row(data: st.DataObject, n: int) -> None:
    rows = [(f"text {place}", 0.5, 1) for place in range(n)]
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "rows.csv", rows)
        lines = path.read_text().splitlines()
        at = data.draw(st.integers(1, n))
        place = data.draw(st.integers(0, len(lines[at]) - 1).filter(lambda place: lines[at][place].isalnum()))
        lines[at] = f"{lines[at][:place]}{'7' if lines[at][place] != '7' else '8'}{lines[at][place + 1 :]}"
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(InputError, match=f"rows.csv, row {at + 1}: the chain"):
            verify(path)


Lines = list[str]
DAMAGES: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "the first row is removed": (lambda lines: lines[:1] + lines[2:], "row 2: the chain breaks"),
    "a row is removed": (lambda lines: lines[:3] + lines[4:], "row 4: the chain breaks"),
    "the last row is removed": (lambda lines: lines[:-1], "row 8: the chain ends here, but 1 more rows"),
    "many are removed at the end": (lambda lines: lines[:4], "row 4: the chain ends here, but 5 more rows"),
    "all are removed": (lambda lines: lines[:1], "no rows"),
    "two rows change places": (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], "row 5: the chain breaks"),
    "a row is there twice": (lambda lines: [*lines[:4], lines[3], *lines[4:]], "row 5: the chain breaks"),
    "a row is added at the end": (lambda lines: [*lines, lines[-1]], "row 10: the chain breaks"),
    "two columns change names": (
        lambda lines: [lines[0].replace("id1", "x").replace("id2", "id1").replace("x", "id2", 1), *lines[1:]],
        "row 2: the chain breaks",
    ),
    "the checksums are left out": (
        lambda lines: [line.rpartition(",")[0] for line in lines],
        "the last columns must be",
    ),
}


@pytest.fixture
def history(engine: Engine, tmp_path: Path) -> Path:
    """Return an exported history of eight answers, in nine lines."""
    project_id = make_project(engine, [f"text {i}" for i in range(6)])
    make_round(engine, project_id, 6)
    answer(engine, project_id, (0, P), (1, U), (0, N), (2, P), (2, R), (3, S), (4, P), (5, N))
    export_labels(engine, "Questions", tmp_path / "history.csv", Form.HISTORY)
    return tmp_path / "history.csv"


@pytest.mark.parametrize("damage", DAMAGES)
def test_any_change_to_an_exported_history_is_noticed_and_placed(history: Path, damage: str) -> None:
    assert verify(history).rows == 8
    change, said = DAMAGES[damage]
    history.write_text("\n".join(change(history.read_text(encoding="utf-8").splitlines())) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"^history.csv.*{said}"):
        verify(history)

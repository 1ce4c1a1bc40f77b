"""The table of benchmarks: the text of a row, what is kept, and that every named benchmark exists."""

import inspect
import json
import subprocess
from pathlib import Path

import pytest

from benchmarks import __main__
from benchmarks.table import BEGIN, END, Row, rewrite, store, stored, table

ABOUT = {"date": "2026-11-21", "machine": "2 cores", "load": "7.5", "command": "python -m benchmarks --only encode"}
ROW = Row(what="encode", peer="peer: 100/s", ours="150/s", ratio=1.5, target="≥ 1.2", met=True)


@pytest.mark.parametrize("name", __main__.BENCHMARKS)
def test_every_benchmark_measures(name: str) -> None:
    assert list(inspect.signature(__main__.measure_of(name)).parameters) == ["quick"]


def test_rows_are_kept_by_benchmark_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    store("encode", [ROW, ROW], ABOUT, path)
    store("search", [ROW], ABOUT, path)
    store("encode", [ROW], ABOUT, path)
    assert {name: len(found["rows"]) for name, found in stored(path).items()} == {"encode": 1, "search": 1}


def test_a_missed_target_is_said_and_nothing_is_made_up(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    store("encode", [ROW, Row("import", "400 s", "≤ 300 s", met=False)], ABOUT, path)
    lines = table(stored(path), ("search", "encode")).splitlines()
    assert lines[2] == "| encode | peer: 100/s | 150/s | 1.50 | ≥ 1.2 | yes | 2026-11-21, 2 cores, load 7.5 |"
    assert lines[3] == "| import | – | 400 s | – | ≤ 300 s | **no** | 2026-11-21, 2 cores, load 7.5 |"
    assert lines[-1] == "- encode: `python -m benchmarks --only encode`"


def test_the_page_is_rewritten_between_its_marks_alone() -> None:
    page = f"above\n{BEGIN}\nold\n{END}\nbelow"
    assert rewrite(page, r"new \1") == f"above\n{BEGIN}\nnew \\1\n{END}\nbelow"
    with pytest.raises(ValueError, match="no marks"):
        rewrite("no marks", "new")


def test_a_benchmark_that_fails_keeps_its_last_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(name: str, quick: bool) -> list[Row]:
        raise subprocess.CalledProcessError(3, name)

    kept: list[str] = []
    monkeypatch.setattr(__main__, "run", fail)
    monkeypatch.setattr(__main__, "store", lambda name, *_: kept.append(name))
    assert not __main__.attempt("encode", quick=False)
    assert "error: encode failed (exit code 3); its last figures stay" in capsys.readouterr().err
    monkeypatch.setattr(__main__, "run", lambda name, quick: [ROW])
    assert __main__.attempt("encode", quick=True)
    assert kept == []
    assert __main__.attempt("encode", quick=False)
    assert kept == ["encode"]


def test_rows_go_to_stdout_as_json_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(quick: bool) -> list[Row]:
        print("chatter")
        return [ROW]

    monkeypatch.setattr(__main__, "measure_of", lambda name: measure)
    __main__.print_rows("encode", quick=True)
    printed = capsys.readouterr()
    assert [Row(**row) for row in json.loads(printed.out)] == [ROW]
    assert printed.err == "chatter\n"

"""The table of benchmarks: the text of a row, what is kept, and that every named benchmark exists."""

import inspect
import json
import subprocess
from pathlib import Path

import pytest

from benchmarks import __main__
from benchmarks.table import BEGIN, BENCHMARKS, END, GPU, Row, rewrite, store, stored, table

ABOUT = {"date": "2026-11-21", "machine": "2 cores", "load": "7.5", "command": "python -m benchmarks --only encode"}
ROW = Row(what="encode", peer="peer: 100/s", ours="150/s", ratio=1.5, target="≥ 1.2", met=True)


@pytest.mark.parametrize("name", BENCHMARKS | GPU)
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
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(name: str, *_: object) -> list[Row]:
        raise subprocess.CalledProcessError(3, name)

    def hang(name: str, *_: object) -> list[Row]:
        raise subprocess.TimeoutExpired(name, 5)

    path = tmp_path / "results.json"
    store("encode", [ROW], ABOUT, path)
    for broken, said in ((fail, "failed (exit code 3)"), (hang, "took more than 5 seconds")):
        monkeypatch.setattr(__main__, "run", broken)
        assert not __main__.attempt("encode", False, path, limit=5)
        assert f"error: encode {said}; its last figures stay" in capsys.readouterr().err
    assert stored(path)["encode"]["date"] == ABOUT["date"]
    monkeypatch.setattr(__main__, "run", lambda *_: [ROW, ROW])
    assert __main__.attempt("encode", True, None)
    assert len(stored(path)["encode"]["rows"]) == 1
    assert __main__.attempt("encode", False, path)
    assert len(stored(path)["encode"]["rows"]) == 2


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

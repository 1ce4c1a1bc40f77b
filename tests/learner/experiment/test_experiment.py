"""The command `experiment` on a tiny corpus: killed, resumed, with a failing run, and what it leaves."""

import csv
import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from allpairs.db.errors import Cancelled, InputError
from allpairs.learner.experiment import grid as grids
from allpairs.learner.experiment.cell import FINISHED, is_done, load_split_corpus
from allpairs.learner.experiment.display import grid_bar
from allpairs.learner.experiment.grid import STATE, CellStanding, Grid, run_grid, standing_share
from allpairs.learner.experiment.process import checked_devices, start_cell
from allpairs.learner.experiment.report import write_report
from allpairs.learner.experiment.spec import Experiment, cells_of, read_experiment
from allpairs.learner.experiment.starting_vectors import FOLDER
from tests.helpers.machine import ROOT, is_alive
from tests.helpers.services.commands import Run, learn
from tests.helpers.tiny import tiny_encoder

ITEMS, TOPICS = 60, 6

DEFINITION = """
name = "Tiny"
rounds = 2
[settings]
first = 12
neighbours = 20
encoder = "{encoder}"
learning_rate = 0.002
[datasets.tiny]
left = "left.csv"
gold = "gold.csv"
paper = "qqp"
[[rows]]
name = "plain"
strategy = "uncertainty"
[[rows]]
name = "matched"
strategy = "stratified-match"
[[rows]]
name = "broken"
strategy = "random"
settings = {{ encoder = "./gone" }}
[[rows]]
name = "reader"
kind = "concat"
labels = "plain"
backbone = "{backbone}"
sample = 100
[[rows]]
name = "orphan"
kind = "concat"
labels = "broken"
"""


@dataclass(frozen=True)
class Outcome:
    """The experiment's file and folder, the end of its second start, and what the first one had left."""

    file: Path
    out: Path
    end: Run
    finished_before: dict[Path, int]  # marks of finished runs, with their times

    @property
    def experiment(self) -> Experiment:
        return read_experiment(self.file)

    def run(self, row: str, file: str) -> Path:
        return self.out / "runs" / "tiny" / row / "seed-0" / file


def write_files(folder: Path) -> Path:
    """Write the experiment's file and data: texts of a topic match, and some other pairs are known negatives."""
    rng = np.random.default_rng(0)
    texts = [f"topic{i % TOPICS} " + " ".join(rng.choice([f"word{k}" for k in range(15)], 4)) for i in range(ITEMS)]
    gold = [(i, j, int(i % TOPICS == j % TOPICS)) for i, j in combinations(range(ITEMS), 2) if (j - i) % 6 == 0]
    write_csv(folder / "left.csv", [("id", "text"), *((f"q{i}", text) for i, text in enumerate(texts))])
    write_csv(folder / "gold.csv", [("id1", "id2", "label"), *((f"q{i}", f"q{j}", label) for i, j, label in gold)])
    tiny_encoder(folder, texts)
    file = folder / "experiment.toml"
    file.write_text(DEFINITION.format(encoder=folder / "tiny", backbone=folder / "bert"))
    return file


def write_csv(path: Path, rows: list[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)


def wait_for(what: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.05)


def states(out: Path) -> dict[str, str]:
    """Return the state of each row's run."""
    if not (out / STATE).exists():
        return {}
    return {cell["row"]: cell["state"] for cell in json.loads((out / STATE).read_text())["cells"]}


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]


class Endless:
    """A run that has begun to write, and never ends."""

    def __init__(self, work: grids.CellWork) -> None:
        self.work, self.ended, self.stage = work, False, "half"
        self.messages = multiprocessing.Pipe(duplex=False)  # nobody sends
        self.process = SimpleNamespace(sentinel=self.messages[0])
        half = work.out / work.cell.folder
        half.mkdir(parents=True)
        (half / "left-behind").write_text("")

    def listen(self) -> None: ...

    def stop(self) -> None: ...


def cancel_half(words: str, done: float) -> None:
    if words.endswith("half"):
        raise Cancelled


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Return the experiment, stopped in its second run and started again."""
    folder = tmp_path_factory.mktemp("experiment")
    file, out = write_files(folder), folder / "out"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Cancelled):
        patch.setattr(
            grids, "start_cell", lambda work: Endless(work) if work.cell.row == "matched" else start_cell(work)
        )
        run_grid(Grid(read_experiment(file), out, ["cpu"]), cancel_half)
    finished = {path: path.stat().st_mtime_ns for path in out.rglob(FINISHED)}
    return Outcome(file, out, learn("experiment", file, "--out", out), finished)


@pytest.mark.slow
def test_a_killed_experiment_leaves_no_process_and_goes_on(tmp_path: Path) -> None:
    file, out = write_files(tmp_path), tmp_path / "out"
    command = [sys.executable, "-m", "allpairs", "experiment", str(file), "--out", str(out)]
    first = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_for(lambda: states(out).get("plain") == "done" and states(out).get("matched") == "running")
    orphans = children(first.pid)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    wait_for(lambda: not any(map(is_alive, orphans)))
    assert orphans
    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert second.stderr.splitlines()[0] == "1 of 5 runs done" and states(out)["matched"] == "done"


def test_finished_runs_are_not_done_again_and_half_a_run_is(outcome: Outcome) -> None:
    assert list(outcome.finished_before) == [outcome.run("plain", FINISHED)]
    assert {path: path.stat().st_mtime_ns for path in outcome.finished_before} == outcome.finished_before
    assert outcome.run("matched", FINISHED).exists() and not outcome.run("matched", "left-behind").exists()


def test_a_failing_run_is_told_and_the_others_go_on(outcome: Outcome) -> None:
    assert states(outcome.out) == {
        "plain": "done", "matched": "done", "broken": "failed", "reader": "done", "orphan": "failed",
    }  # fmt: skip
    assert outcome.end.code == 1
    assert "tiny broken seed 0: there" in outcome.end.err
    assert "orphan seed 0: it needs" in outcome.end.err
    assert "2 of 5 runs failed" in outcome.end.err.splitlines()[-1]
    assert "Traceback" not in outcome.end.err
    assert "Traceback" in outcome.run("broken", "error.txt").read_text()


def test_progress_is_printed_where_there_is_no_terminal(outcome: Outcome) -> None:
    lines = outcome.end.err.splitlines()
    assert lines[0] == "1 of 5 runs done"
    assert "2 of 5 runs done, 1 failed" in lines or "2 of 5 runs done, 2 failed" in lines


def test_a_matched_run_has_as_many_of_each_class_in_each_round(outcome: Outcome) -> None:
    plain, matched = (
        [json.loads(line) for line in outcome.run(row, "rounds.jsonl").read_text().splitlines()]
        for row in ("plain", "matched")
    )
    assert [row["labels"] for row in plain] == [row["labels"] for row in matched] == [12, 30]
    assert [row["positives"] for row in plain] == [row["positives"] for row in matched]
    assert outcome.run("plain", "labels.csv").read_text() != outcome.run("matched", "labels.csv").read_text()


def test_concat_is_trained_on_the_labels_of_its_row(outcome: Outcome) -> None:
    (row,) = [json.loads(line) for line in outcome.run("reader", "rounds.jsonl").read_text().splitlines()]
    with outcome.run("plain", "labels.csv").open() as file:
        labels = [int(line["label"]) for line in csv.DictReader(file)]
    assert (row["labels"], row["positives"]) == (len(labels), sum(labels))
    assert 0 <= row["average_precision"]["value"] <= 1


def test_the_report_has_every_table_with_rows_and_every_figure(outcome: Outcome) -> None:
    tables = {path.name for path in (outcome.out / "tables").iterdir()}
    names = ("table1", "table3", "table4", "table5", "table6", "comparison", "conditions", "labels")
    assert tables == {f"{name}.{kind}" for name in names for kind in ("csv", "json", "md")}
    assert {path.name for path in (outcome.out / "figures").iterdir()} == {
        f"curves-tiny.{kind}" for kind in ("csv", "json", "png", "svg")
    }
    report = (outcome.out / "report.md").read_text()
    assert report.strip() == outcome.end.out.strip()
    assert "# Tiny" in report and "### Table 5: Stratified labels (oracles)" in report
    line = next(line for line in report.splitlines() if line.startswith("| plain [E L P] |") and "0.602" in line)
    last = json.loads(outcome.run("plain", "rounds.jsonl").read_text().splitlines()[-1])
    assert f"| {last['average_precision']['value']:.3f} | 0.325 |" in line


def test_models_are_not_kept_unless_asked_for(outcome: Outcome) -> None:
    assert not list(outcome.out.rglob("model"))


def test_the_split_is_the_same_for_every_seed(outcome: Outcome) -> None:
    files = outcome.experiment.datasets["tiny"]
    assert [item.split for item in load_split_corpus(files).items] == [
        item.split for item in load_split_corpus(files).items
    ]


def test_a_run_with_other_settings_or_data_is_a_different_one(outcome: Outcome) -> None:
    cell = cells_of(outcome.experiment)[0]
    assert is_done(cell, outcome.out)
    other = cell.model_copy(update={"settings": cell.settings.model_copy(update={"first": 13})})
    assert not is_done(other, outcome.out)
    assert not is_done(cell.model_copy(update={"digest": "other"}), outcome.out)
    assert not is_done(cell.model_copy(update={"rounds": 3}), outcome.out)


def test_a_finished_experiment_starts_no_process(outcome: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(work: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(grids, "start_cell", refuse)
    rows = [row for row in outcome.experiment.rows if row.name in ("plain", "matched")]
    grid = Grid(outcome.experiment.model_copy(update={"rows": rows}), outcome.out, ["cpu"])
    run_grid(grid)
    assert (grid.count("done"), grid.left, grid.report()) == (2, 0, ("2 of 2 runs done", 0.0))
    assert not (outcome.out / FOLDER).exists()


def test_work_that_is_cancelled_leaves_no_process(outcome: Outcome, tmp_path: Path) -> None:
    grid = Grid(outcome.experiment, tmp_path, ["cpu"])
    seen: list[int] = []

    def cancel(words: str, done: float) -> None:
        seen.extend(standing.run.process.pid or 0 for standing in grid.standings if standing.run)
        assert words.startswith("0 of 5 runs done")
        raise Cancelled

    with pytest.raises(Cancelled):
        run_grid(grid, cancel)
    assert seen
    wait_for(lambda: not any(map(is_alive, seen)), seconds=5)  # the fork server reaps it a moment later
    assert states(tmp_path)["plain"] == "waiting"


def test_two_runs_at_a_time_share_threads_on_their_own_devices(
    outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[str, str]] = []

    class Idle:
        def __init__(self, work: grids.CellWork) -> None:
            started.append((work.cell.row, work.device))
            self.work, self.ended = work, False

        def listen(self) -> None: ...

        def stop(self) -> None: ...

    monkeypatch.setattr(grids, "start_cell", Idle)
    grid = Grid(outcome.experiment, tmp_path, ["cuda:0", "cuda:1"])
    grid.start_waiting()
    assert started == [("plain", "cuda:0"), ("broken", "cuda:1")]  # the others wait for their labels
    assert grid.free == []


def test_a_cells_share_grows_with_the_labels_of_its_rounds(outcome: Outcome, tmp_path: Path) -> None:
    cell = cells_of(outcome.experiment)[0]
    folder = tmp_path / cell.folder
    folder.mkdir(parents=True)
    shares = [standing_share(CellStanding(cell), tmp_path)]
    for lines in (1, 2):
        (folder / "rounds.jsonl").write_text("{}\n" * lines)
        shares.append(standing_share(CellStanding(cell), tmp_path))
    assert shares == [0, pytest.approx((1 / 2 + 12 / 42) / 2), 1]  # 12 labels, then 30


def test_without_results_nothing_is_reported(outcome: Outcome, tmp_path: Path) -> None:
    assert not write_report(outcome.experiment, tmp_path)
    assert not list(tmp_path.iterdir())


def test_devices_are_checked() -> None:
    assert checked_devices(["cpu"], 3) == ["cpu"] * 3
    with pytest.raises(InputError, match="'cuda:9': choose"):
        checked_devices(["cuda:9"], 1)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_bar_follows_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with grid_bar() as progress:
        progress("0 of 2 runs done · a", 0.0)
        progress("1 of 2 runs done · b", 0.5)
        progress("1 of 2 runs done · c", 0.4)  # a run that starts anew takes nothing back
    drawn = [line for line in screen.getvalue().split("\r") if "runs done" in line]
    assert "0%|" in drawn[0] and "0 of 2 runs" in drawn[0]
    assert "50%|" in drawn[-1] and "1 of 2 runs" in drawn[-1]

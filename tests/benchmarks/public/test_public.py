"""The comparison: peers see no answer they should not, one measurement for all."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from subprocess import CalledProcessError
from threading import Barrier

import numpy as np
import pytest

from allpairs.learner.data.dataset import Dataset, make_dataset
from benchmarks.public import command
from benchmarks.public.catalog import OURS, PEERS, Peer
from benchmarks.public.command import missing
from benchmarks.public.costs import cheaper, costs
from benchmarks.public.environments import REQUIREMENTS
from benchmarks.public.measure import Scored, figures, read_scored
from benchmarks.public.page import WORDS, falls, losses
from benchmarks.public.peers.task import Answers, read_task
from benchmarks.public.run import Places, Run
from benchmarks.public.runs import HISTORY, keep, read_runs
from benchmarks.public.summary import Mean, Summary, mean_of
from benchmarks.public.tables import shown, signed
from benchmarks.public.work import SEEDS, WORK, Data, part_of


def run(peer: str, seed: int, *ap: float) -> Run:
    budgets = [{"labels": 64 * at, "average_precision": value} for at, value in enumerate(ap)]
    about = {"data": "wikiqa", "peer": peer, "seed": seed, "date": "2026-11-27", "machine": "2 cores", "versions": {}}
    return {**about, "budgets": budgets}


def test_a_run_replaces_the_one_before_but_history_keeps_both(tmp_path: Path) -> None:
    for each in (run(OURS, 1, 0.5), run(OURS, 0, 0.4), run(OURS, 1, 0.6)):
        keep(each, tmp_path)
    assert read_runs("wikiqa", tmp_path) == [run(OURS, 0, 0.4), run(OURS, 1, 0.6)]
    history = [json.loads(line) for line in (tmp_path / HISTORY).read_text(encoding="utf-8").splitlines()]
    assert [one["average_precision"]["0"] for one in history] == [0.5, 0.4, 0.6]


def test_runs_that_are_kept_are_not_missing() -> None:
    done = {(one["seed"], one["peer"]) for one in read_runs("amazon_google")}
    wanted = {(seed, peer.name) for _, seed, peer in missing(["amazon_google"], [0, 1], list(PEERS))}
    assert done and not done & wanted
    assert "dedupe" not in {peer.name for _, _, peer in missing(["wikiqa"], [0], list(PEERS))}


def test_of_runs_at_once_a_failed_one_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    both, kept = Barrier(2, timeout=20), list[int]()

    def made(peer: Peer, data: Data, seed: int, places: Places) -> Run:
        both.wait()
        if not seed:
            raise CalledProcessError(1, "peer")
        return run(peer.name, seed, 0.5)

    for name, stand_in in {"run": made, "keep": lambda one: kept.append(one["seed"]), "write": lambda: None}.items():
        monkeypatch.setattr(command, name, stand_in)
    monkeypatch.setattr(command, "missing", lambda *_: [(WORK["demo"], seed, PEERS[OURS]) for seed in (0, 1)])
    assert command.main(["--run", "--jobs", "2"]) == 1
    assert kept == [1]


def test_kept_runs_are_repeated_on_request_from_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = list[tuple[int, bool]]()

    def made(peer: Peer, data: Data, seed: int, places: Places) -> Run:
        found.append((seed, places.of(data.name, peer.name, seed).exists()))
        return run(peer.name, seed, 0.5)

    for name, stand_in in {"run": made, "keep": lambda _: None, "write": lambda: None}.items():
        monkeypatch.setattr(command, name, stand_in)
    (tmp_path / "demo" / f"{OURS}-0").mkdir(parents=True)
    chosen = ["--data", "demo", "--peers", OURS, "--seeds", "0", "--out", str(tmp_path)]
    assert (command.main(["--run", *chosen]), found) == (0, [])
    assert (command.main(["--run", "--again", *chosen]), found) == (0, [(0, False)])
    with pytest.raises(SystemExit):
        command.main(["--again", *chosen])


@pytest.mark.parametrize("data", WORK.values(), ids=lambda data: data.name)
def test_the_table_of_data_sets_has_the_measured_pairs(data: Data) -> None:
    (row,) = [line for line in WORDS.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {data.title} |")]
    (scored,) = {each["scored"] for one in read_runs(data.name) if one["peer"] == OURS for each in one["budgets"]}
    assert row.split(" | ")[2] == f"{scored:,}"


def test_differences_are_paired_by_seed() -> None:
    summary = Summary([run(OURS, 0, 0.5), run(OURS, 1, 0.9), run("splink", 1, 0.95)])
    found = summary.difference("splink", 0)
    assert found and found.seeds == 1 and found.value == pytest.approx(-0.05)
    assert [(peer, labels) for peer, labels, _ in summary.losses("average_precision")] == [("splink", 0)]
    assert summary.difference("dedupe", 0) is None


def test_a_fall_is_the_mean_over_seeds_with_both_budgets() -> None:
    summary = Summary([run(OURS, 0, 0.5, 0.4), run(OURS, 1, 0.6, 0.7), run(OURS, 2, 0.9)])
    change = summary.change(0, 64)
    assert change and change.seeds == 2 and change.value == pytest.approx(0)
    (line,) = falls("demo", Summary([run(OURS, 0, 0.5, 0.4, 0.6)]))
    assert "−0.100 [1] from 0 labels" in line
    assert not list(falls("demo", summary))


def test_the_largest_loss_comes_first() -> None:
    ours, theirs = (run(OURS, 0, 0.5, 0.5), run("active_loop", 0, 0.6, 0.7))
    found = losses({"demo": Summary([ours, run("active_loop", 0, 0.52)]), "qqp": Summary([ours, theirs])})
    behind = [line for line in found if "is ahead" in line]
    assert "+0.100 [1] with 0 labels" in behind[0] and "+0.020" in behind[1]


def test_a_mean_says_its_seeds_unless_they_are_those_of_the_plan() -> None:
    assert shown(Mean(0.5, 1)) == "0.500 [1]" and shown(None) == signed(None) == "–"
    assert shown(Mean(0.5, len(SEEDS), 0.4, 0.6)) == "0.500 (0.400–0.600)"
    assert signed(Mean(-0.01, len(SEEDS), -0.02, 0.03)) == "−0.010 (−0.020 to +0.030)"


def test_costs_are_compared_on_one_machine_only() -> None:
    def on(machine: str, peer: str, minutes: float) -> dict[str, object]:
        row = {"labels": 64, "average_precision": 0.5, "cpu_seconds": 60 * minutes}
        return run(peer, 0) | {"machine": machine, "peak_mib": 9, "budgets": [row]}

    runs = [on("2 cores, one thread", OURS, 5), on("2 cores, one thread", "splink", 4), on("a GPU", "active_loop", 1)]
    (line,) = cheaper("Small", Summary(runs))
    assert line.endswith("2 cores:** Splink needs 4.0 instead of 5.0 CPU minutes for 64 labels [1].")
    assert [row.split(" | ")[-1] for row in costs(Summary(runs)).splitlines()[2:]] == ["a GPU |", *["2 cores |"] * 2]
    alike = [*runs[:1], on("2 cores, one thread", "splink", 4.8)]  # within 5 %
    other_seed = [*runs[:1], runs[1] | {"seed": 1}]
    assert not [*cheaper("Small", Summary(alike)), *cheaper("Small", Summary(other_seed))]


def test_few_seeds_have_no_interval() -> None:
    assert mean_of([0.5, 0.7]).low is None
    three = mean_of([0.5, 0.6, 0.7])
    assert three.low == pytest.approx(0.6 - 4.303 * 0.1 / 3**0.5, abs=1e-4)  # t with 2 degrees of freedom
    whole = Summary([run(OURS, seed, ap) for seed, ap in enumerate((0.7, 0.9, 0.99))]).mean(
        OURS, 0, "average_precision"
    )
    assert whole and whole.low and (0.4 < whole.low < 0.7, whole.high) == (True, 1.0)


def small() -> Dataset:
    """Two left and three right texts, all measured; the matches are (0, 0) and (1, 2)."""
    splits = ["evaluation"] * 2 + ["both"] * 3
    texts, sides = [f"text {row}" for row in range(5)], ["left"] * 2 + ["right"] * 3
    return make_dataset(texts, sides, splits, False, np.array([(0, 2), (1, 4)]))


def test_pairs_that_are_not_scored_come_last_and_tie() -> None:
    scored = Scored(np.array([0, 0]), np.array([1, 0]), np.array([0.2, 0.9]))
    found = figures(scored, small())
    assert found["average_precision"] == pytest.approx(0.5 * 1 + 0.5 * 2 / 6)
    assert found["best_f1"] == pytest.approx(2 / 3)
    assert found["blocking_loss"] == 0.5


@pytest.mark.parametrize(
    ("left", "score"), [([0, 0], [0.1, 0.2]), ([0, 7], [0.1, 0.2]), ([0, 1], [0.1, np.nan])], ids=str
)
def test_scores_that_cannot_be_are_refused(left: list[int], score: list[float], tmp_path: Path) -> None:
    np.savez(tmp_path / "scores.npz", left=np.array(left), right=np.array([1, 1]), score=np.array(score))
    with pytest.raises(ValueError, match=r"scores\.npz"):
        read_scored(tmp_path / "scores.npz", small())


def test_of_one_list_each_pair_counts_once(tmp_path: Path) -> None:
    dataset = make_dataset(list("abc"), ["left"] * 3, ["evaluation"] * 3, True, np.array([(0, 2)]))
    scores = np.array([[9, 0.1, 0.5], [9, 9, 0.7], [9, 9, 9]])  # a record itself and a pair's other order do not count
    np.savez(tmp_path / "dense.npz", scores=scores)
    np.savez(tmp_path / "sparse.npz", left=np.array([2, 1]), right=np.array([1, 0]), score=np.array([0.7, 0.1]))
    dense, sparse = (figures(read_scored(tmp_path / f"{name}.npz", dataset), dataset) for name in ("dense", "sparse"))
    assert (dense["average_precision"], dense["blocking_loss"]) == (0.5, 0)
    assert (sparse["average_precision"], sparse["blocking_loss"]) == (pytest.approx(1 / 3), 1)


@pytest.fixture
def data(tmp_path: Path) -> Data:
    names = ("id,text,title,price", *(f"a{row},item {row} | {row},item {row},{row}" for row in range(10)))
    (tmp_path / "left.csv").write_text("\n".join(names), encoding="utf-8")
    (tmp_path / "right.csv").write_text("\n".join(names).replace("item", "thing"), encoding="utf-8")
    gold = "\n".join(("id1,id2", *(f"a{row},a{row}" for row in range(10))))
    (tmp_path / "gold.csv").write_text(gold, encoding="utf-8")
    return Data("small", "Small", "left", "right", "gold", ("title", "price"))


def test_a_peer_is_told_no_answer_about_what_is_measured(data: Data, tmp_path: Path) -> None:
    part = part_of(data, 1, tmp_path)
    part.write(tmp_path / "task", tmp_path, [0, 4])
    task = read_task(tmp_path / "task")
    assert (len(task.train), len(task.evaluation), len(task.matches)) == (7, 3, 7)
    assert not {left for left, _ in task.matches} & set(task.evaluation.tolist())
    assert task.left[3]["title"] == "item 3" and task.right[3] == {
        "row": "3", "text": "thing 3 | 3", "title": "thing 3", "price": "3", "part": "both",
    }  # fmt: skip
    row = int(task.train[0])
    assert task.answer(row, row) and not task.answer(row, (row + 1) % 10)
    with pytest.raises(ValueError, match="kept for measuring"):
        task.answer(int(task.evaluation[0]), 0)


def test_of_one_list_a_peer_gets_no_answer_about_measured_texts(data: Data, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("id1,id2\na3,a2\na4,a5\na6,a7\na8,a9\n", encoding="utf-8")
    part = part_of(replace(data, right="", share=0.5), 1, tmp_path)
    part.write(tmp_path / "task", tmp_path, [0, 4])
    task = read_task(tmp_path / "task")
    assert task.left == task.right and set(task.train) | set(task.evaluation) == set(range(10))
    known = {(2, 3), (4, 5), (6, 7), (8, 9)}
    assert task.matches == {pair for pair in known if set(pair) <= set(task.train)} and task.matches != known
    low, high = task.train[:2].tolist()
    assert task.answer(low, high) == ((low, high) in known)
    for pair in ((high, low), (low, int(task.evaluation[0]))):
        with pytest.raises(ValueError, match=r"lower row|kept for measuring"):
            task.answer(*pair)


def test_each_seed_measures_on_other_records(data: Data, tmp_path: Path) -> None:
    assert len({tuple(part_of(data, seed, tmp_path).dataset.evaluation_left) for seed in range(5)}) > 1


def test_what_a_peer_hands_back_is_read_as_it_was(tmp_path: Path, data: Data) -> None:
    part = part_of(data, 0, tmp_path)
    part.write(tmp_path / "task", tmp_path, [4])
    answers = Answers(tmp_path, one_list=False)
    scores = np.arange(30, dtype=np.float32).reshape(3, 10)
    answers.dense(4, 2, scores)
    answers.finish({}, {"peer": "1.0"})
    scored = read_scored(tmp_path / "scores-4.npz", part.dataset)
    assert scores[scored.left, scored.right].tolist() == scored.score.tolist() and len(scored.score) == 30
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    (row,) = report["budgets"]
    assert (row["labels"], row["matches"], row["scored"]) == (4, 2, 30)
    assert report["peak_mib"] > 0


def test_a_budget_is_not_charged_for_what_another_alone_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    used = [0.0]
    monkeypatch.setattr("benchmarks.public.peers.task.cpu_seconds", lambda: used[0])
    answers = Answers(tmp_path, one_list=True)
    for labels, asking, training in ((64, 5, 3), (160, 2, 4)):
        used[0] += asking
        with answers.alone():
            used[0] += training
            answers.dense(labels, 1, np.zeros((3, 3)))  # three pairs: there is one list
            used[0] += 100  # what follows the scores, such as scores of pairs that blocking left out
    assert [(row["cpu_seconds"], row["scored"]) for row in answers.rows] == [(8, 3), (11, 3)]


@pytest.mark.parametrize("peer", PEERS.values(), ids=lambda peer: peer.name)
def test_every_peer_has_a_module_and_its_environment(peer: object) -> None:
    module, environment = peer.module, peer.environment  # type: ignore[attr-defined]
    assert importlib.util.find_spec(f"benchmarks.public.peers.{module}")
    assert not environment or all("==" in line for line in (REQUIREMENTS / f"{environment}.txt").read_text().split())

"""The comparison's figures of speed and of earlier versions."""

import pytest

from benchmarks.public.catalog import OURS
from benchmarks.public.plot import of_versions
from benchmarks.public.reasons import LOSSES, MORE, ON_A_GPU, ON_A_PROCESSOR, ON_THE_OTHER, UNKNOWN
from benchmarks.public.speed import is_loss, leading, losses, rows, with_reasons
from benchmarks.public.summary import FIGURES
from benchmarks.public.work import WORK
from benchmarks.quality import audit_figures
from benchmarks.table import BENCHMARKS, GPU, Row

ALL_MET = {"what": "x", "target": "t", "met": True}


def result(*words: tuple[str, bool]) -> dict[str, object]:
    return {"date": "2026-11-27", "rows": [ALL_MET | {"what": ours, "ours": ours, "met": met} for ours, met in words]}


def test_missed_targets_come_first_and_one_page_stands_for_fast() -> None:
    results = {
        "encode": result(("9/s", True)),
        "pages": result(("44 ms", True), ("1,245 ms", False), ("155 ms", True)),
        "load": result(("none lost", True)),
    }
    found = [(kept.name, kept.row.ours, kept.row.what) for kept in rows(results, reliability=False)]
    assert found == [
        ("pages", "1,245 ms", "1,245 ms"),
        ("encode", "9/s", "9/s"),
        ("pages", "155 ms", "the slowest of 2 pages and acts: 155 ms"),
    ]
    assert [kept.name for kept in rows(results, reliability=True)] == ["load"]


def test_a_missed_target_is_a_loss_only_beside_a_faster_product() -> None:
    def row(ratio: float, target: str) -> Row:
        return Row(what="x", ours="1 s", target=target, met=False, peer="another: 1 s", ratio=ratio)

    assert is_loss(row(0.9, "≥ 0.95 × the peer's rate")) and not is_loss(row(1.2, "≥ 5 × the peer's rate"))
    assert not is_loss(row(2.2, "≤ 1.3 × the product's time"))  # a floor
    kept = {"training": {"date": "2026-11-27", "rows": [vars(row(1.2, "≥ 5 × the peer's rate"))]}}
    assert with_reasons(kept, {"training": "It is hard."}).endswith("\n- `training` misses a target. It is hard.")


def test_a_missed_target_is_among_the_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.public.speed.stored", lambda *path: {"load": result(("2 lost", False))})
    assert [line.split(":**")[1] for line in losses()] == [f" 2 lost; the target is t. {UNKNOWN}"] * 3


def test_audits_say_where_another_method_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ["| pool | labels | RMSE | best other | covered: AP |", "| --- | --- | --- | --- | --- |",
             "| A | 300 | **0.1** | 0.2 (HT) | 0.9 |", "| B | 300 | 0.3 | 0.1 (uniform) | 1.0 |",
             "| B | 1,000 | 0.2 | 0.2 (HT) | 0.8 |"]  # fmt: skip
    monkeypatch.setattr(audit_figures, "kept", lambda: {"table": table})
    assert audit_figures.behind() == (["0.3 beside 0.1 (uniform, pool B, 300 labels)"], 3)
    assert audit_figures.coverage(300) == (pytest.approx(0.95), 0.9, 1.0)


def test_words_without_a_number_in_front_are_refused() -> None:
    assert leading("1,245.5 ms (44 ms)") == 1245.5
    with pytest.raises(ValueError, match="no number"):
        leading("median 26 ms")


def test_a_version_is_the_mean_over_the_newest_runs_of_a_day() -> None:
    def run(day: int, seed: int, ap: float, data: str = "amazon_google", peer: str = OURS) -> dict[str, object]:
        versions = {OURS: "0.1.0"}
        return {"date": f"2026-11-{day}", "data": data, "peer": peer, "seed": seed, "versions": versions,
                "average_precision": {"64": ap}}  # fmt: skip

    history = [run(26, 0, 0.3), run(27, 0, 0.1), run(27, 0, 0.5), run(27, 1, 0.7), run(27, 2, 0.9, "wikiqa"),
               run(27, 3, 0.9, peer="splink")]  # fmt: skip
    found = [(row["version"], row["words"]) for row in of_versions(history, "amazon_google").rows]
    assert found == [("0.1.0, 2026-11-26", "0.300 [1]"), ("0.1.0, 2026-11-27", "0.600 [2]")]


def test_reasons_are_of_losses_that_there_can_be() -> None:
    assert {figure for _, figure in LOSSES} <= {MORE, *FIGURES} and {name for name, _ in LOSSES} <= set(WORK)
    assert {*ON_A_PROCESSOR, *ON_THE_OTHER} <= set(BENCHMARKS) and set(ON_A_GPU) <= set(GPU)

"""Figures from Python: those of the command line, of lists, of data frames and of files; audits; simulations."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from allpairs import InputError, Matcher, draw_audit, evaluate, evaluate_groups, simulate
from allpairs.learner.loop import simulate as simulation
from tests.helpers.projects.rounds import texts
from tests.helpers.services.commands import learn
from tests.helpers.tiny import tiny_encoder

COUNT = 90


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), texts(COUNT))


LEFT, RIGHT = texts(COUNT)[::2], texts(COUNT)[1::2]
GOLD = [(row, row) for row in range(COUNT // 2)]


def test_lists_frames_and_files_give_the_command_lines_figures(encoder: Path, tmp_path: Path) -> None:
    frames = [pd.DataFrame({"id": range(len(side)), "text": side}) for side in (LEFT, RIGHT)]
    gold = pd.DataFrame(GOLD, columns=["id1", "id2"])
    files = [tmp_path / f"{name}.csv" for name in ("left", "right", "gold")]
    for path, frame in zip(files, (*frames, gold), strict=True):
        frame.to_csv(path, index=False)
    said = learn("evaluate", "--model", encoder, "--left", files[0], "--right", files[1], "--gold", files[2]).json()
    found = evaluate(encoder, LEFT, RIGHT, gold=GOLD)
    assert found["average_precision"].as_dict() == said["average_precision"]
    assert found == evaluate(str(encoder), *frames, gold=gold) == evaluate(encoder, *files[:2], gold=files[2])


def test_an_audit_measures_what_known_pairs_do(encoder: Path) -> None:
    drawn = draw_audit(encoder, LEFT, RIGHT, pairs=400, seed=1)
    assert len(drawn) == 400 and drawn.label.isna().all()
    assert np.isclose(
        (1 / drawn.inclusion).groupby(drawn.stratum).sum(), drawn.groupby("stratum")["size"].first()
    ).all()
    known = {(str(a), str(b)) for a, b in GOLD}
    drawn["label"] = [int(pair in known) for pair in zip(drawn.id1, drawn.id2, strict=True)]
    estimated = evaluate(encoder, LEFT, RIGHT, audit=drawn)["average_precision"]
    exact = evaluate(encoder, LEFT, RIGHT, gold=GOLD)["average_precision"].value
    assert estimated.low <= exact <= estimated.high and estimated.labels == 400


def test_groups_beside_the_true_ones() -> None:
    found = evaluate_groups([1, 1, 1, 2], ["a", "a", "b", "b"], by=["x", "x", "y", "y"])
    code, _, expected = (evaluate_groups.__doc__ or "").partition("Example: ")[2].partition("  # ")
    assert eval(code) == found["b_cubed"]["f1"] == pytest.approx(float(expected), abs=1e-4)
    assert found["pairs"] == {"precision": 1 / 3, "recall": 1 / 2, "f1": 2 / 5}
    assert [(row["value"], row["texts"], row["recall"]) for row in found["by"]] == [("x", 2, 1.0), ("y", 2, 0.5)]
    alone = evaluate_groups([None, None], np.array([7, 7]), second=[False, True], by="source", name=["Ann", "Ann"])
    assert alone["pairs"]["recall"] == 0 and [row["value"] for row in alone["by"]] == ["left", "right"]
    assert alone["found"]["homonymy"] == 1 and alone["found"]["name_variation"] == 0  # two groups, each named Ann
    assert evaluate_groups([1, 1, 2], [1, 1, 2], name=["Ann", "Anna", None])["found"]["name_variation"] == 1
    missing = pd.array([None, None, 1, 1], dtype="Int64")
    assert evaluate_groups(missing, [1, 2, 3, 3], name=["Ann", np.nan, "Ann", "Ann"])["pairs"]["precision"] == 1
    with pytest.raises(InputError, match="need two lists"):
        evaluate_groups([1], [1], by="source")
    with pytest.raises(InputError, match="true has 1 values for 2"):
        evaluate_groups([1, 2], [1])
    with pytest.raises(InputError, match="by is 'venue'"):
        evaluate_groups([1], [1], by="venue")


def test_a_simulation_leaves_only_its_own_matcher(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = simulate(
        LEFT, RIGHT, gold=GOLD, out=tmp_path, rounds=2, first=200, epochs=1, encoder=str(encoder), neighbours=10
    )
    assert list(found["round"]) == [1, 2] and found.labels.is_monotonic_increasing
    assert (found.average_precision_low <= found.average_precision).all()
    assert len(Matcher.load(tmp_path / "model").match(LEFT, RIGHT, top=3)) == 3

    def stop(*_arguments: object, **_settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "train", stop)
    with pytest.raises(KeyboardInterrupt):
        simulate(LEFT, RIGHT, gold=GOLD, out=tmp_path, rounds=2, first=200, epochs=1, encoder=str(encoder))
    left_over = {path.name for path in tmp_path.iterdir()}
    assert left_over == {"split.csv", "base.json", "rounds.jsonl"} and not (tmp_path / "rounds.jsonl").read_text()


def test_what_is_wrong_is_said_in_one_line(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gold or audit"):
        evaluate(encoder, LEFT, RIGHT)
    with pytest.raises(InputError, match="no column 'id2'"):
        evaluate(encoder, LEFT, RIGHT, gold=pd.DataFrame({"id1": [1], "other": [2]}))
    with pytest.raises(InputError, match="columns id1, id2, label, inclusion"):
        evaluate(encoder, LEFT, RIGHT, audit=GOLD)
    with pytest.raises(InputError, match=r"gold\[0\].*'999'"):
        evaluate(encoder, LEFT, RIGHT, gold=[(0, 999)])
    with pytest.raises(InputError, match="too few"):
        draw_audit(encoder, LEFT, RIGHT, pairs=3)
    with pytest.raises(InputError, match="no setting 'epoch'"):
        simulate(LEFT, RIGHT, gold=GOLD, out=tmp_path, epoch=1)


@pytest.mark.slow
def test_the_intervals_of_drawn_audits_hold_what_they_promise(encoder: Path) -> None:
    exact = evaluate(encoder, LEFT, RIGHT, gold=GOLD)["average_precision"].value
    known = {(str(a), str(b)) for a, b in GOLD}
    held = 0
    for seed in range(40):
        drawn = draw_audit(encoder, LEFT, RIGHT, pairs=300, seed=seed)
        drawn["label"] = [int(pair in known) for pair in zip(drawn.id1, drawn.id2, strict=True)]
        found = evaluate(encoder, LEFT, RIGHT, audit=drawn, seed=seed)["average_precision"]
        held += found.low <= exact <= found.high
    assert held >= 35  # of 40: 95 % less two standard deviations

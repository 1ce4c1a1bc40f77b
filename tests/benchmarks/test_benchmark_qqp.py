"""The benchmark at QQP scale, small: its questions, its floors, and its rounds."""

from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from allpairs.db.domain import Settings
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.search.exact import count_pairs
from benchmarks.data.qqp_texts import Questions, common_words, load_questions, make_up
from benchmarks.data.shapes import flop_per_token, trained_weights
from benchmarks.scale.qqp_scale import BACKWARD, Experiment, Stages, report, row, run
from tests.helpers.tiny import tiny_encoder

N = 120


@pytest.fixture(scope="module")
def data() -> Questions:
    return make_up(N, common_words(), np.random.default_rng(0))


@pytest.fixture
def experiment(data: Questions, tmp_path: Path) -> Experiment:
    test = make_up(80, common_words(), np.random.default_rng(1))
    encoder = load_encoder(str(tiny_encoder(tmp_path, data.texts + test.texts)), device="cpu")
    settings = Settings(first=20, growth=1.5, epochs=2, batch_size=8, learning_rate=1e-3)
    return Experiment("made-up questions", encoder, data, test, settings)


def test_made_up_questions_are_about_as_many_and_as_long_as_qqps() -> None:
    made = make_up(20_000, common_words(), np.random.default_rng(0))
    again = make_up(20_000, common_words(), np.random.default_rng(0))
    assert made.texts == again.texts and np.array_equal(made.group, again.group)
    assert len(made.texts) == len(made.group) == 20_000
    assert 0.25 < len(made.positives()) / 20_000 < 0.45
    assert 9 < np.mean([len(text.split()) for text in made.texts]) < 11


def test_positives_are_the_pairs_of_a_group() -> None:
    few = Questions(["a", "b", "c", "d", "e"], np.array([0, 1, 0, 1, 0]))
    assert sorted(map(tuple, few.positives().tolist())) == [(0, 2), (0, 4), (1, 3), (2, 4)]
    part = few.part(3, np.random.default_rng(0))
    assert (part.group[:3] == part.group[0]).all() or (part.group[:2] == part.group[0]).all()
    assert Questions(["a"], np.array([0])).positives().shape == (0, 2)


def test_without_the_real_questions_they_are_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_DATA", str(tmp_path))
    source, train, test = load_questions(0.001, False, np.random.default_rng(0))
    assert (source, len(train.texts), len(test.texts)) == ("made-up questions", 277, 132)


@pytest.mark.parametrize("neighbours", [0, 10])
def test_rounds_collect_new_pairs_train_and_measure(
    experiment: Experiment, capsys: pytest.CaptureFixture[str], tmp_path: Path, neighbours: int
) -> None:
    options = Namespace(rounds=3, neighbours=neighbours, evaluate_every_round=True, peak_flop=1e9, peak_bytes=1e9,
                        out=str(tmp_path / "out.json"))  # fmt: skip
    run(experiment, options)
    assert len(experiment.known) == 20 + 30 + 45 == len(set(map(tuple, experiment.known.tolist())))
    assert (experiment.known[:, 0] < experiment.known[:, 1]).all()
    assert experiment.labelled.has_both_classes and experiment.layer is not None
    report(experiment, options)
    printed = capsys.readouterr().out
    assert [line.split(":")[0].split()[-1] for line in printed.splitlines() if ", AP " in line] == ["1", "2", "3"]
    for stage in ("encode", "search", "train", "encode test", "evaluate", "total"):
        assert f"| {stage} | " in printed
    assert (tmp_path / "out.json").is_file()
    found = row(experiment, options)
    assert (
        f"{N} made-up questions, batches of 8, AP {experiment.average_precision:.4f}" in found.what
        and ", train " in found.ours
    )
    assert found.ratio and found.met  # no target for vectors of this length


def test_floors_count_the_work_that_is_done(experiment: Experiment) -> None:
    layers = sum(w.numel() for name, w in experiment.encoder.model.named_parameters()
                 if "encoder.layer" in name and w.dim() == 2)  # fmt: skip
    assert flop_per_token(experiment.encoder) == 2 * layers
    assert trained_weights(experiment.encoder) > layers
    experiment.collect(0, 0)
    experiment.learn()
    stages, tokens = experiment.stages, int(experiment.tokens.sum())
    assert stages.flop["encode"] == 2 * layers * tokens
    assert stages.flop["search"] == 2 * 32 * count_pairs(N, N, True)
    assert stages.flop["train"] == BACKWARD * 2 * 2 * layers * int(experiment.tokens[experiment.known].sum())
    assert stages.moved["train"] == 2 * (20 // 8) * trained_weights(experiment.encoder) * 28


def test_a_floor_is_work_over_peak() -> None:
    stages = Stages()
    for _ in range(2):
        with stages.stage("x", 6e9, 4e9):
            pass
    assert stages.floor("x", (3e9, 2e9)) == pytest.approx(8.0)
    assert stages.seconds["x"] < 1

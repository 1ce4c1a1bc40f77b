"""Training by several processes: all learn the same, and none outlives the training."""

import multiprocessing
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from allpairs.db.domain import Settings
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.progress import no_progress
from allpairs.learner.light.catalog.mining import Classifier
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.models import bi_encoder_training, cosine_bert
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.models.bi_encoder_training import Retriever, lesson_of, new_retriever, train_retriever
from allpairs.learner.models.cosine_bert import Labelled, train
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.pipelines.mining.classifier import TextClassifier
from allpairs.learner.runtime import lifetime, training_group
from allpairs.learner.runtime.training_group import PROCESSES, process_count
from allpairs.learner.runtime.training_launcher import train_together
from tests.helpers.group_work import done_by, dying, exact, failing, stay, staying
from tests.helpers.machine import is_alive
from tests.helpers.tiny import tiny_encoder

TEXTS = [f"where are {thing} sold in town number {n}" for n in range(12) for thing in ("apples", "boats", "cats")]
TOLERANCE = 1e-5  # of a weight, where some steps change it by 10⁻³


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROCESSES, "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("group"), TEXTS)


def matcher(folder: Path, texts: int = len(TEXTS), **settings: object) -> list[nn.Module]:
    """Return the modules trained by CosineBERT on pairs of so many texts."""
    left, right = np.random.default_rng(0).integers(0, texts, (2, 60))
    pairs = Labelled(left, right, (left % 3 == right % 3).astype(np.int64))
    encoder = load_encoder(str(folder), device="cpu")
    train(encoder, TEXTS, pairs, Settings.model_validate({"epochs": 1, "learning_rate": 2e-4} | settings))
    return [encoder.model]


def retriever(folder: Path, **settings: object) -> list[nn.Module]:
    """Return the modules of a trained bi-encoder with a classifier."""
    wanted = {"backbone": str(folder), "steps": 6, "batch_size": 4, "learning_rate": 2e-4} | settings
    checked = RetrieverSettings.model_validate(wanted)
    model = new_retriever(checked, "cpu")
    beside = TextClassifier(model.query, TEXTS[:10], TEXTS[10:], Classifier(side="x"), 3, 32)
    train_retriever(
        model, lesson_of(list(zip(TEXTS[:9], TEXTS[9:18], strict=True)), TEXTS), checked, 0, side_task=beside
    )
    return [*(encoder.model for encoder in model.towers), beside.head]


def chosen(folder: Path) -> list[nn.Module]:
    """Return the modules of a bi-encoder at the step that development pairs chose."""
    settings = RetrieverSettings(backbone=str(folder), steps=6, batch_size=4, learning_rate=2e-4)
    model, pairs = new_retriever(settings, "cpu"), list(zip(TEXTS[:9], TEXTS[9:18], strict=True))
    best = BestWeights(model.networks, partial(_distance, model), 2, 2e-4)
    train_retriever(model, lesson_of(pairs, TEXTS), settings, 0, best=best)
    assert [look.step for look in best.looks] == [0, 3, 6] and best.best is not None and best.best.step == 6
    assert best.best.value == pytest.approx(_distance(model), abs=1e-4)  # the weights are those that were measured
    return model.networks


def _distance(model: Retriever) -> float:
    """Return a measure that training raises."""
    x, y = model.query.encode(TEXTS[:9]), model.passage.encode(TEXTS[9:18])
    return float((x * y).sum() - np.abs(x @ y.T).sum())


TRAININGS = {
    "as projects train": (2, matcher),
    "no batch norm, grouped": (2, partial(matcher, batch_norm=False, group_pairs=True)),
    "fewer texts than processes": (3, partial(matcher, texts=2, batch_norm=False)),
    "one tower": (2, partial(retriever, towers=1, negatives=1)),
    "two towers": (2, partial(retriever, towers=2)),
    "chosen by development pairs": (2, chosen),
}
FIRST, *OTHERS = TRAININGS


@pytest.mark.parametrize("name", [FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_processes_together_learn_what_one_learns(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done_by(exact, monkeypatch, cosine_bert, bi_encoder_training)
    processes, learn = TRAININGS[name]
    found = []
    for n in (1, processes):
        monkeypatch.setenv(PROCESSES, str(n))
        found.append(torch.cat([p.detach().flatten() for network in learn(folder) for p in network.parameters()]))
    one, together = found
    assert (together - one).abs().max() < TOLERANCE


@pytest.mark.slow
def test_processes_that_load_the_libraries_themselves(folder: Path, monkeypatch: pytest.MonkeyPatch, two: None) -> None:
    monkeypatch.setattr(lifetime, "START", "spawn")
    before = load_encoder(str(folder), device="cpu").model.state_dict()
    trained = matcher(folder)[0].state_dict()
    assert any(not torch.equal(before[name], value) for name, value in trained.items())


def alive(folder: Path) -> list[int]:
    """Return the live processes that signed in the folder."""
    return [pid for pid in (int(file.name) for file in folder.iterdir()) if is_alive(pid)]


@pytest.mark.slow
def test_a_killed_process_ends_the_training_with_advice(two: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"ended by SIGKILL.*{PROCESSES}"):
        train_together(dying, (nn.Linear(1, 1), tmp_path), [], no_progress)
    assert len(list(tmp_path.iterdir())) == 2 and not alive(tmp_path)


def test_the_first_error_is_the_trainings_own(two: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^text 7 is empty: .*\n") as caught:
        train_together(failing, (nn.Linear(1, 1), tmp_path), [], no_progress)
    assert "group_work.py" in caught.value.__notes__[0]  # where it happened, for the job's row
    said = {file.read_text() for file in tmp_path.iterdir()}  # the other one may be ended before it says anything
    assert said == {"INFO"}  # they log as a worker does
    assert not alive(tmp_path)


@pytest.mark.slow
def test_a_cancel_ends_the_processes(two: None, tmp_path: Path) -> None:
    def cancel(stage: str, done: float) -> None:
        if len(list(tmp_path.iterdir())) == 2 and done == 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        train_together(staying, (nn.Linear(1, 1), tmp_path), [], cancel)
    assert not alive(tmp_path)


@pytest.mark.slow
def test_no_process_outlives_its_parent(tmp_path: Path) -> None:
    parent = multiprocessing.get_context("forkserver").Process(target=stay, args=(tmp_path,))
    parent.start()
    wait_until(lambda: len(alive(tmp_path)) == 2)
    parent.kill()
    wait_until(lambda: not alive(tmp_path))


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("written", ["0", "two", "-1", "1.5", ""])
def test_a_number_of_processes_is_a_number(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROCESSES, written)
    with pytest.raises(InputError, match="number of processes"):
        process_count()


def test_one_process_is_the_default_and_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROCESSES, raising=False)
    monkeypatch.setattr(training_group, "find_spec", lambda name: None)
    assert process_count() == 1
    monkeypatch.setenv(PROCESSES, "2")
    with pytest.raises(InputError, match=r"accelerate.* requirements-cluster.txt"):
        process_count()


def test_there_is_a_gpu_for_each_process(monkeypatch: pytest.MonkeyPatch, two: None) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for gpus, fits in ((2, True), (1, False)):
        monkeypatch.setattr(torch.cuda, "device_count", lambda gpus=gpus: gpus)
        with nullcontext() if fits else pytest.raises(InputError, match="there are 1 GPUs"):
            process_count()

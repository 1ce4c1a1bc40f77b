"""Encoders compared on labels: cross-validated, each with its speed and its memory, the better one first."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allpairs.db.domain import Settings
from allpairs.db.errors import InputError
from allpairs.learner.data.dataset import make_dataset
from allpairs.learner.experiment.cell import run_cell
from allpairs.learner.experiment.encoder_table import encoder_figures
from allpairs.learner.experiment.encoders import ap_of, held_out_scores
from allpairs.learner.experiment.report import write_report
from allpairs.learner.experiment.spec import Experiment, cells_of, make_experiment
from allpairs.learner.models.cosine_bert import Labelled, cosines, train
from allpairs.learner.models.encoder import load_encoder
from tests.helpers.tiny import static_encoder, tiny_encoder

TEXTS = [f"topic{i % 8} is about word{i % 8} number{i // 8}" for i in range(48)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with texts, labels, known pairs, and two encoders: one that knows the words, and one that not."""
    write(tmp_path / "texts.csv", ("id", "text"), enumerate(TEXTS))
    rng = np.random.default_rng(0)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(36, size=(600, 2)).tolist() if pair[0] != pair[1]}
    labels = [(a, b, int(a % 8 == b % 8)) for a, b in sorted(pairs)]
    positives, negatives = ([one for one in labels if one[2] == kind] for kind in (1, 0))
    write(tmp_path / "labels.csv", ("id1", "id2", "label"), [*positives[:30], *negatives[:40]])
    write(tmp_path / "gold.csv", ("id1", "id2"), [(40, 32), (41, 33)])
    split = [(i, "left", "train" if i < 36 else "evaluation") for i in range(48)]
    split = [(i, side, "evaluation" if i in (32, 33) else part) for i, side, part in split]
    write(tmp_path / "split.csv", ("id", "side", "split"), split)
    (tmp_path / "blind").mkdir()
    static_encoder(tmp_path, TEXTS)
    tiny_encoder(tmp_path / "blind", ["no word of these"])
    return tmp_path


def write(path: Path, header: tuple[str, ...], rows: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def comparison(folder: Path, **changes: Any) -> Experiment:
    data = {"left": "texts.csv", "labels": "labels.csv", "gold": "gold.csv", "split": "split.csv"}
    rows = [{"name": "blind", "kind": "encoder", "backbone": str(folder / "blind" / "tiny")},
            {"name": "static", "kind": "encoder", "backbone": str(folder / "static")}]  # fmt: skip
    settings = {"epochs": 2, "learning_rate": 1e-2}
    whole = {"name": "Which", "datasets": {"words": data}, "rows": rows, "seeds": [0, 1], "settings": settings}
    return make_experiment(whole | changes, folder)


def test_the_encoder_that_knows_the_words_is_found(folder: Path) -> None:
    experiment, out = comparison(folder), folder / "out"
    for cell in cells_of(experiment):
        run_cell(cell, experiment.datasets["words"], out, False, lambda words, done: None)
    best, other = encoder_figures(experiment, out)
    assert (best.row, other.row) == ("static", "blind")
    assert best.figures["labels_ap"] > 0.9 > other.figures["labels_ap"] + 0.2
    assert best.gain is not None and 0 < best.gain[1] < best.gain[0] < best.gain[2] and other.gain is None
    assert best.interval[0] <= best.figures["labels_ap"] <= best.interval[1]
    assert best.figures["dimension"] == 32 and best.figures["texts_per_second"] > 0 and best.figures["memory"] > 50
    assert best.figures["near"] > other.figures["near"]
    assert best.figures["all_pairs_ap"] > other.figures["all_pairs_ap"]
    assert write_report(experiment, out)
    table = json.loads((out / "tables" / "encoders.json").read_text())
    assert [line["row"] for line in table["rows"]] == ["static", "blind"]
    assert "| Encoder | AP over all pairs | AP on labels |" in (out / "report.md").read_text()


def test_a_label_held_out_teaches_nothing(folder: Path) -> None:
    rng, known, held = np.random.default_rng(0), [], []
    dataset = make_dataset(TEXTS, ["left"] * 48, ["train"] * 48, True, np.empty((0, 2)))
    for _ in range(8):  # labels that nothing foretells
        rows = rng.permutation(48)
        labelled = Labelled(rows[:24], rows[24:], rng.permutation(np.tile([0, 1], 12)))
        settings, encoder = Settings(epochs=20, learning_rate=1e-1), load_encoder(str(folder / "static"))
        held.append(ap_of(held_out_scores(encoder, dataset, labelled, settings, lambda *_: None), labelled.label))
        train(encoder, TEXTS, labelled, settings)
        known.append(ap_of(cosines(encoder, TEXTS, labelled), labelled.label))
    assert np.mean(known) > 0.95 and np.mean(held) < 0.7  # by chance 0.56


def test_what_cannot_be_compared_is_one_line(folder: Path) -> None:
    data = {"words": {"left": "texts.csv", "split": "split.csv"}}
    with pytest.raises(InputError, match="'words' has no labels"):
        comparison(folder, datasets=data)
    with pytest.raises(InputError, match="has no gold"):
        comparison(folder, datasets=data, rows=[{"name": "u", "strategy": "uncertainty"}])
    with pytest.raises(InputError, match="compared by themselves"):
        comparison(folder, rows=[{"name": "e", "kind": "encoder"}, {"name": "u", "strategy": "uncertainty"}])
    write(folder / "labels.csv", ("id1", "id2", "label"), [(1, 9, 1), (1, 2, 0)])
    experiment = comparison(folder)
    with pytest.raises(InputError, match="1 positive and 1 negative"):
        run_cell(cells_of(experiment)[0], experiment.datasets["words"], folder / "out", False, lambda *_: None)

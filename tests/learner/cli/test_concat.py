"""`allpairs concat` and `dataset` on files: what they write, print and refuse."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.errors import InputError
from allpairs.learner.files.labels import read_label_file
from allpairs.learner.scorers.scorer import load_cross_encoder
from tests.helpers.files.released_files import write_quora, write_wikiqa
from tests.helpers.services.commands import learn
from tests.helpers.tiny import tiny_encoder
from tests.helpers.tiny_backbones import tiny_backbone

TEXTS = [f"{('red', 'blue')[i % 2]} word{i % 5} thing{i}" for i in range(24)]
FAST = ["--epochs", "15", "--learning-rate", "0.003", "--batch-size", "8"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with texts, gold (both red), a split in halves, labels, and tiny models."""
    (tmp_path / "left.csv").write_text("id,text\n" + "".join(f"q{i},{text}\n" for i, text in enumerate(TEXTS)))
    gold = [(i, j) for i in range(0, 24, 2) for j in range(i + 2, 24, 2)]
    (tmp_path / "gold.csv").write_text("id1,id2\n" + "".join(f"q{i},q{j}\n" for i, j in gold))
    (tmp_path / "split.csv").write_text(
        "id,split\n" + "".join(f"q{i},{('train', 'evaluation')[i >= 12]}\n" for i in range(24))
    )
    pairs = [(i, j) for i in range(14) for j in range(i + 1, 14)]
    lines = [f"q{i},q{j},{int(i % 2 == j % 2 == 0 and j != 2)}\n" for i, j in pairs]
    (tmp_path / "labels.csv").write_text("id1,id2,label\n" + "".join(lines))
    tiny_backbone(tmp_path, "bert", TEXTS)
    tiny_encoder(tmp_path / "base", TEXTS)
    return tmp_path


def concat(folder: Path, *more: object) -> list[object]:
    files = ["--left", folder / "left.csv", "--labels", folder / "labels.csv", "--backbone", folder / "bert"]
    return ["concat", *files, "--out", folder / "out", *FAST, *more]


def test_concat_trains_measures_and_leaves_a_readable_model(files: Path) -> None:
    measure = ["--gold", files / "gold.csv", "--split", files / "split.csv"]
    run = learn(*concat(files, *measure, "--json"))
    assert run.code == 0, run.err
    assert "note: 25 labelled pairs" in run.err
    found = json.loads(run.out)
    assert (found["labels"], found["labelled_positives"], found["positives"]) == (66, 14, 15)
    scorer = load_cross_encoder(str(files / "out" / "model"), TEXTS)
    corpus = load_corpus(files / "left.csv", None, files / "gold.csv")
    positive = {(pair.left, pair.right) for pair in corpus.gold}
    pairs = [(i, j) for i in range(12, 24) for j in range(i + 1, 24)]
    labels = read_label_file(files / "labels.csv", corpus)
    assert len(labels) == 91
    scores = [float(score) for score in scorer.score(*np.array(pairs).T)]
    expected = average_precision_score([pair in positive for pair in pairs], scores)
    assert found["average_precision"]["value"] == pytest.approx(expected, abs=1e-3)
    written = json.loads((files / "out" / "evaluation.json").read_text())
    assert written["average_precision"] == found["average_precision"]
    assert "curve" in written
    details = json.loads((files / "out" / "model" / "concat.json").read_text())
    assert (details["labels"], details["settings"]["epochs"]) == (66, 15)
    again = learn("evaluate", "--model", files / "out" / "model", "--left", files / "left.csv", *measure)
    assert json.loads(again.out)["average_precision"] == found["average_precision"]


def test_mistakes_are_listed_checked_and_correct_the_precision(files: Path) -> None:
    measure = ["--left", files / "left.csv", "--gold", files / "gold.csv", "--split", files / "split.csv"]
    assert learn(*concat(files), "--epochs", 1, "--learning-rate", "1e-5").code == 0  # so that it makes mistakes
    listed = [
        "mistakes",
        "--model",
        files / "out" / "model",
        *measure,
        "--base",
        files / "base" / "tiny",
        "--recall",
        1,
    ]
    run = learn(*listed, "--out", files / "mistakes.csv", "--checks", 3, "--json")
    assert run.code == 0, run.err
    found = json.loads(run.out)
    rows = pd.read_csv(files / "mistakes.csv", dtype=str, keep_default_na=False)
    assert (found["true"], found["rows"]) == (15, len(rows)) and set(rows["true"]) == {"15"}
    near = rows[rows.kind == "confident"]
    assert len(near) == 3 and list(near.score) == sorted(near.score, key=float, reverse=True)
    scorer = load_cross_encoder(str(files / "out" / "model"), TEXTS)
    corpus = load_corpus(files / "left.csv", None, files / "gold.csv")
    known = {(pair.left, pair.right) for pair in corpus.gold}
    pairs = [(i, j) for i in range(12, 24) for j in range(i + 1, 24)]
    scores = dict(zip(pairs, scorer.score(*np.array(pairs).T).tolist(), strict=True))
    lowest = min(score for pair, score in scores.items() if pair in known)
    wrong = sorted((score for pair, score in scores.items() if pair not in known and score >= lowest), reverse=True)
    assert sum(found["mistakes"].values()) == len(wrong)
    assert [float(score) for score in near.score] == pytest.approx(wrong[:3], abs=1e-5)
    refused = learn("mistakes", "--checked", files / "mistakes.csv").refused()
    assert "pair of the sample" in refused
    rows.assign(label="0", size="few").to_csv(files / "bad.csv", index=False)
    assert "column 'size': 'few'" in learn("mistakes", "--checked", files / "bad.csv").refused()
    (files / "a_file").touch()
    assert "cannot be written" in learn(*listed, "--out", files / "a_file" / "m.csv").refused()
    rows.loc[rows.kind == "sample", "label"] = "1"
    rows.to_csv(files / "checked.csv", index=False)
    corrected = json.loads(learn("mistakes", "--checked", files / "checked.csv", "--json").out)
    assert corrected["uncorrected"]["value"] == pytest.approx(15 / (15 + len(wrong)))
    assert corrected["paper"]["value"] == corrected["consistent"]["value"] == 1  # every checked one is a match


def test_pairs_that_are_held_out_measure_and_do_not_train(files: Path) -> None:
    header, *rows = (files / "labels.csv").read_text().splitlines()
    (files / "held.csv").write_text("\n".join([header, *rows[::4]]) + "\n")
    run = learn(*concat(files, "--held-out", files / "held.csv", "--json"))
    assert run.code == 0, run.err
    found = json.loads(run.out)
    assert (found["labels"], found["held_out"]["pairs"]) == (len(rows) - len(rows[::4]), len(rows[::4]))
    corpus = load_corpus(files / "left.csv")
    held = read_label_file(files / "held.csv", corpus)
    logits = load_cross_encoder(str(files / "out" / "model"), TEXTS).score(held.left, held.right)
    assert found["held_out"]["accuracy"] == pytest.approx(((logits >= 0) == held.label).mean())
    assert found["held_out"]["positive"] == pytest.approx(held.label.mean())


def test_concat_measures_by_sampling(files: Path) -> None:
    measure = ["--gold", files / "gold.csv", "--split", files / "split.csv", "--base", files / "base" / "tiny"]
    run = learn(*concat(files, *measure, "--method", "near-random", "--sample", 100))
    assert run.code == 0, run.err
    assert "average_precision" in run.out
    assert "near-random" in run.out
    strata = json.loads((files / "out" / "evaluation.json").read_text())["strata"]
    assert [row["name"] for row in strata] == ["known positives", "near", "random"]


def test_concat_without_gold_only_trains(files: Path) -> None:
    run = learn(*concat(files))
    assert "91 labels (20 positive)" in run.out and str(files / "out" / "model") in run.out
    assert not (files / "out" / "evaluation.json").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--gold", "gold.csv"], "--gold without --split"),
        (["--backbone", "/nowhere"], "there is no folder /nowhere"),
        (["--batch-size", "0"], "--batch-size: input should be greater than or equal to 1"),
        (["--method", "guess"], "--method 'guess' is not known"),
    ],
)
def test_concat_refuses(files: Path, more: list[str], message: str) -> None:
    assert message in learn(*concat(files, *more)).refused()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("q0,q99,1\n", "row 2, column 'id2': the id 'q99' is not among the 24 ids"),
        ("q0,q2,maybe\n", "row 2, column 'label': the label is 'maybe'"),
        ("q0,q2,\n", "no pair has a label"),
    ],
)
def test_label_files_are_checked(files: Path, rows: str, message: str) -> None:
    (files / "labels.csv").write_text("id1,id2,label\n" + rows)
    with pytest.raises(InputError, match=message):
        read_label_file(files / "labels.csv", load_corpus(files / "left.csv"))


def test_what_measures_is_unsure_or_of_one_text_trains_nothing(files: Path) -> None:
    (files / "labels.csv").write_text(
        "id1,id2,label,purpose\nq0,q2,0,train\nq2,q0,1,train\nq1,q3,,train\nq4,q5,1,audit\nq6,q6,1,train\n"
    )
    labelled = read_label_file(files / "labels.csv", load_corpus(files / "left.csv"))
    assert (labelled.left.tolist(), labelled.right.tolist(), labelled.label.tolist()) == ([0], [2], [1])


def test_dataset_writes_files_that_simulate_reads(tmp_path: Path) -> None:
    pairs = [(str(3 * i), str(3 * i + 1), 1) for i in range(60)] + [(str(3 * i), str(3 * i + 2), 0) for i in range(60)]
    path = write_quora(tmp_path / "quora_duplicate_questions.tsv", pairs)
    run = learn("dataset", "qqp", path, "--out", tmp_path / "out", "--evaluate", "dev", "--json")
    assert run.code == 0, run.err
    stats = json.loads(run.out)
    assert stats == json.loads((tmp_path / "out" / "stats.json").read_text())
    assert sum(part["positives"] for part in stats["parts"].values()) == 60
    assert sum(part["stated_negatives"] for part in stats["parts"].values()) == 60
    assert "% of the paper's 124,625." in run.err
    out, tiny = tmp_path / "out", tiny_encoder(tmp_path, [f"question {i}" for i in range(180)])
    simulated = learn(
        "simulate", "--left", out / "left.csv", "--gold", out / "gold.csv", "--split", out / "split.csv", "--encoder",
        tiny, "--first", 8, "--rounds", 1, "--out", tmp_path / "run", "--json",
    )  # fmt: skip
    assert simulated.code == 0, simulated.err
    assert json.loads(simulated.out)["rounds"][0]["evaluation_positives"] == stats["parts"]["dev"]["positives"]


def test_dataset_prints_a_table_beside_the_paper(tmp_path: Path) -> None:
    tiny = tiny_encoder(tmp_path, ["it is long"])
    run = learn(
        "dataset", "wikiqa", write_wikiqa(tmp_path), "--out", tmp_path / "out", "--titles", "never", "--near",
        "--encoder", tiny,
    )  # fmt: skip
    assert run.code == 0, run.err
    lines = [line.split() for line in run.out.splitlines()]
    assert ["test", "positives", "1", "293"] in lines
    assert ["test", "near", "negatives", "4", "63,136"] in lines
    assert (tmp_path / "out" / "right.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["imdb", "."], "data set 'imdb' is not known; use one of qqp"),
        (["wikiqa", ".", "--titles", "some"], "Invalid value for '--titles'"),
        (["qqp", "/nowhere"], "/nowhere: there is no such file or folder"),
    ],
)
def test_dataset_refuses(tmp_path: Path, arguments: list[str], message: str) -> None:
    assert message in learn("dataset", *arguments, "--out", tmp_path / "out").refused()

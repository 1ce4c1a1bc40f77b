"""The fusion of first stage and re-ranker within the pipeline: what it is fitted to, and what the artifact scores."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allpairs.learner.backbones.reranking.reranker import load_reranker, pair_scores
from allpairs.learner.pipelines.multiview.first import first_scores
from allpairs.learner.pipelines.multiview.fusing import fused_scores
from allpairs.learner.pipelines.multiview.inputs import FIT, TEST, RankingTexts, read_inputs, texts_of
from allpairs.learner.pipelines.multiview.trainings import SCORES
from allpairs.learner.pipelines.pipeline import RESULTS, Run, begin, read_artifacts, run_pipeline
from allpairs.learner.pipelines.spec import make_spec
from tests.helpers.tiny import tiny_encoder

NAME = "multi-view-reranking"
COLOURS, THINGS = ("red", "blue", "green", "black"), [f"thing{i}" for i in range(20)]
PAIRS = [(f"what is the {colour} {thing}", f"a {colour} {thing} lives here") for colour in COLOURS for thing in THINGS]


def run_with(folder: Path, **config: Any) -> Run:
    tiny_encoder(folder, [text for pair in PAIRS for text in pair] + ["Query: Document: Relevant: true false"])
    (folder / "passages.tsv").write_text("".join(f"{i}\t{y}\n" for i, (_, y) in enumerate(PAIRS)))
    (folder / "queries.tsv").write_text("".join(f"{i}\t{x}\n" for i, (x, _) in enumerate(PAIRS)))
    (folder / "qrels.tsv").write_text("".join(f"{i}\t0\t{i}\t1\n" for i in range(len(PAIRS))))
    (folder / "triples.tsv").write_text("".join(f"{x}\t{y}\t{PAIRS[0][1]}\n" for x, y in PAIRS))
    names = {"passages": "passages.tsv", "queries": "queries.tsv", "qrels": "qrels.tsv", "triples": "triples.tsv"}
    model = {"backbone": str(folder / "bert"), "steps": 40, "batch_size": 8, "source_length": 32}
    content = {"inputs": names, "model": model, "depth": 6, "depths": [6], "held_out": 0.2,
               "first_stage": {"encoder": str(folder / "tiny")}, **config}  # fmt: skip
    run = begin(NAME, folder / "out", *make_spec(NAME, content, folder / "x.toml"))
    run_pipeline(NAME, run)
    return run


def test_weights_are_fitted_to_queries_that_trained_nothing(tmp_path: Path) -> None:
    run = run_with(tmp_path)
    texts = texts_of(run)
    fitting = texts.fitting
    assert fitting is not None and texts.triples is not None
    parts = [set(table.values("id")) for table in (texts.queries, fitting.queries, texts.tests[0].queries)]
    assert [len(part) for part in parts] == [52, 12, 16] and len(set().union(*parts)) == 80
    assert not set(texts.triples.values("query")) & set(fitting.queries.values("text"))
    table = json.loads((run.of(RESULTS) / "tables" / "fusion-test.json").read_text())["rows"]
    assert [row["alone"] is None for row in table] == [True, False, False]
    assert all(0 < row["joined"] <= 1 for row in table)
    [about] = [one["about"] for one in read_artifacts(run.of(RESULTS)) if one["kind"] == "reranker"]
    assert any(about.get("RR@10 on the test, joined with cosine and BM25") == row["joined"] for row in table)
    _is_what_the_artifact_scores(run)


def _is_what_the_artifact_scores(run: Run) -> None:
    texts = texts_of(run)
    [path] = [one["path"] for one in read_artifacts(run.of(RESULTS)) if one["kind"] == "reranker"]
    reranker = load_reranker(str(run.folder / path), "cpu")
    with np.load((run.folder / path).parent / SCORES) as stored:
        own = {name: np.subtract(*np.moveaxis(logits, -1, 0)) for name, logits in stored.items()}
    assert set(own) == {TEST, FIT} and texts.fitting is not None
    wanted = fused_scores(run, texts.fitting, TEST, own)
    near = np.load(run.of("candidates") / "test-dense.npy")
    pairs = np.column_stack([np.repeat(np.arange(len(near)), near.shape[1]), near.ravel()])
    found = pair_scores(reranker, texts.tests[0].queries.all(), texts.passages.all(), pairs)
    assert wanted is not None and found == pytest.approx(wanted.ravel(), abs=1e-3)
    assert first_scores(run, TEST).shape == (*near.shape, 2)


def test_texts_that_are_all_joined_train_and_nothing_is_fitted(tmp_path: Path) -> None:
    texts = "".join(f"{i}\t{x}\n" for i, (x, _) in enumerate(PAIRS))
    for name in ("queries.tsv", "test.tsv"):
        (tmp_path / name).write_text(texts)
    (tmp_path / "qrels.tsv").write_text("".join(f"{i}\t0\t{i + 1}\t1\n" for i in range(70)))
    (tmp_path / "dev.tsv").write_text("75\t0\t76\t1\n77\t0\t78\t1\n")
    tiny_encoder(tmp_path, [text for pair in PAIRS for text in pair])
    names = {"passages": "queries.tsv", "queries": "queries.tsv", "qrels": "qrels.tsv", "test_queries": "test.tsv",
             "test_qrels": "dev.tsv"}  # fmt: skip
    encoders = {"model": {"backbone": str(tmp_path / "bert")}, "first_stage": {"encoder": str(tmp_path / "tiny")}}
    run = begin(NAME, tmp_path / "out", *make_spec(NAME, {"inputs": names, **encoders}, tmp_path / "x.toml"))
    (tmp_path / "texts").mkdir()
    read_inputs(run, tmp_path / "texts", lambda words, done: None)
    found = RankingTexts(tmp_path / "texts")
    assert found.fitting is None and len(found.positives) == 70


def test_the_papers_way_fits_nothing(tmp_path: Path) -> None:
    run = run_with(tmp_path, fuse=False)
    assert texts_of(run).fitting is None and len(texts_of(run).queries) == 64
    assert not (run.of(RESULTS) / "tables" / "fusion-test.json").exists()
    [path] = [one["path"] for one in read_artifacts(run.of(RESULTS)) if one["kind"] == "reranker"]
    assert load_reranker(str(run.folder / path), "cpu").fused is None

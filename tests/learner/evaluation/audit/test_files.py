"""Audit labels in a file: read, refused with row and column, and measured."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.domain import Split
from allpairs.db.errors import InputError
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.evaluation.audit.files_estimate import measure_labels
from allpairs.learner.evaluation.audit.label_files import AuditLabels, read_audit
from allpairs.learner.evaluation.audit.verdicts import NO, UNREAD, YES
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.files.audit import drawn_by
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scorers.scorer import VectorScorer

HEADER = "id1,id2,label,inclusion,stratum,size"


def texts(folder: Path, name: str, n: int) -> Path:
    path = folder / f"{name}.csv"
    path.write_text("id,text\n" + "".join(f"{name}{i},text {name} {i}\n" for i in range(n)))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Return six texts of one list; the last trains."""
    found = load_corpus(texts(tmp_path, "q", 6))
    splits = [Split.EVALUATION] * 5 + [Split.TRAIN]
    return replace(found, items=[replace(item, split=split) for item, split in zip(found.items, splits, strict=True)])


def read(folder: Path, corpus: Corpus, *rows: str, header: str = HEADER) -> AuditLabels:
    path = folder / "audit.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return read_audit(path, corpus, dataset_of(corpus))


def test_what_is_written_is_read(tmp_path: Path, corpus: Corpus) -> None:
    found = read(tmp_path, corpus, "q1,q0,1,1,0,1", "q2,q3,0,0.5,3,4", "q2,q4,no".replace("no", "1,0.5,3,4"))
    assert (found.left.tolist(), found.right.tolist()) == ([0, 2, 2], [1, 3, 4])
    assert found.positive.tolist() == [True, False, True]
    assert found.inclusion.tolist() == [1, 0.5, 0.5]
    assert found.stratum.tolist() == [0, 1, 1]
    assert found.sizes.tolist() == [1, 4]


def test_verdicts_are_read(tmp_path: Path, corpus: Corpus) -> None:
    rows = "q1,q0,1,1,0,1,1,1,1", "q2,q3,0,0.5,3,4,0,3,1", "q2,q4,1,0.5,3,4,,3,1"
    found = read(tmp_path, corpus, *rows, header=f"{HEADER},verdict,read,called").sample().verdicts
    assert found is not None
    assert (found.verdict.tolist(), found.read.tolist(), found.called.tolist()) == ([YES, NO, UNREAD], [1, 3], [1, 1])


@pytest.mark.parametrize("rest", ["maybe,3,1", "1,3,4", "1,-1,0", "1,,1", "1,2.5,1"])
def test_verdicts_that_cannot_be_are_refused(tmp_path: Path, corpus: Corpus, rest: str) -> None:
    with pytest.raises(InputError, match=r"audit\.csv.*row 2"):
        read(tmp_path, corpus, f"q2,q3,0,0.5,3,4,{rest}", header=f"{HEADER},verdict,read,called")


def test_missing_strata_follow_from_the_probabilities(tmp_path: Path, corpus: Corpus) -> None:
    rows = "q0,q1,0,0.5", "q0,q2,1,1", "q0,q3,0,0.5", "q0,q4,0,0.5"
    found = read(tmp_path, corpus, *rows, header="id1,id2,label,inclusion")
    assert found.stratum.tolist() == [1, 0, 1, 1]  # the stratum that was drawn most densely is the highest
    assert found.sizes.tolist() == [1, 6]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q0,q9,1,1,0,1", "row 3, column 'id2': the id 'q9' is not among the 6 ids"),
        ("q0,q5,1,1,0,1", "row 3, column 'id2': 'q5'"),
        ("q3,q3,1,1,0,1", "row 3, column 'id2': both ids name the same text"),
        ("q1,q0,1,1,0,1", "row 3, column 'id2': the pair is in row 2 already"),
        ("q2,q3,maybe,1,0,1", "row 3, column 'label': the label is 'maybe'; write 1, 0, or nothing"),
        ("q2,q3,1,0,0,1", "row 3, column 'inclusion': '0'"),
        ("q2,q3,1,1.5,0,1", "row 3, column 'inclusion'"),
        ("q2,q3,1,often,0,1", "row 3, column 'inclusion': 'often' is not a number"),
        ("q2,q3,1,nan,0,1", "row 3, column 'inclusion': 'nan' is not a number"),
        ("q2,q3,1,1,top,1", "row 3, column 'stratum': 'top' is not a number"),
        ("q2,q3,1,1,1,0", "row 3, column 'size': '0'"),
        ("q2,q3,1,1,1,2.5", "row 3, column 'size': '2.5'"),
        ("q2,q3,1,1,0,7", "row 3, column 'size': the stratum's size is 1 in another row and 7 here"),
        ("q2,q3,1,1,1,10", "the strata have 11 pairs, but there are only 10"),
        ("q2,q3,1,1,0,1", "stratum 0 has 1 pair and 2 of them are labelled: correct the column 'size'"),
    ],
)
def test_bad_rows_are_refused_with_their_place(tmp_path: Path, corpus: Corpus, row: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, corpus, "q0,q1,1,1,0,1", row)
    assert str(refused.value).startswith("audit.csv")
    assert message in str(refused.value)


def test_a_missing_column_is_refused(tmp_path: Path, corpus: Corpus) -> None:
    with pytest.raises(InputError, match="inclusion"):
        read(tmp_path, corpus, "q0,q1,1", header="id1,id2,label")


def test_ids_of_two_lists_belong_to_their_lists(tmp_path: Path) -> None:
    found = load_corpus(texts(tmp_path, "q", 2), texts(tmp_path, "p", 2))
    splits = [Split.EVALUATION, Split.EVALUATION, Split.SHARED, Split.SHARED]
    both = replace(found, items=[replace(item, split=at) for item, at in zip(found.items, splits, strict=True)])
    labels = read(tmp_path, both, "q1,p0,1,1,0,4")
    assert (labels.left.tolist(), labels.right.tolist()) == ([1], [2])
    with pytest.raises(InputError, match=r"'p0' is not among .* 2"):
        read(tmp_path, both, "p0,q1,1,1,0,4")


def test_strata_of_one_band_are_read_and_refused(tmp_path: Path, corpus: Corpus) -> None:
    header = HEADER + ",band"
    rows = "q0,q1,1,1,1,1,1", "q0,q2,0,1,2,1,2", "q0,q3,0,1,3,2,2"
    assert read(tmp_path, corpus, *rows, header=header).band.tolist() == [0, 1, 1]
    assert read(tmp_path, corpus, *(row[:-2] for row in rows)).band.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"stratum 1 .* band 3"):
        read(tmp_path, corpus, "q0,q1,1,1,1,1,3", *rows[1:], header=header)
    with pytest.raises(InputError, match="row 3, column 'band': 'x'"):
        read(tmp_path, corpus, rows[0], "q0,q2,0,1,2,1,x", header=header)


def audited(labels: int) -> tuple[Dataset, VectorScorer, AuditLabels, np.ndarray]:
    """Return 300 texts in groups of three, so many labels in each of ten strata of their best pairs, all positives."""
    rng = np.random.default_rng(3)
    vectors = np.repeat(rng.standard_normal((100, 16)), 3, axis=0) + 0.9 * rng.standard_normal((300, 16))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    left, right = np.triu_indices(300, 1)
    positive = left // 3 == right // 3
    order = np.argsort(-np.einsum("nd,nd->n", vectors[left], vectors[right]))
    edges = np.r_[0, np.cumsum([64, 64, 128, 256, 512, 1_024, 2_048, 4_096]), len(order)]
    drawn = [rng.permutation(order[low:high])[:labels] for low, high in pairwise(edges)]
    sizes, counts = np.diff(edges), np.array([len(part) for part in drawn])
    stratum, at = np.repeat(np.arange(len(drawn)), counts), np.concatenate(drawn)
    found = AuditLabels(
        left[at], right[at], positive[at], (counts / sizes)[stratum], stratum, sizes, np.arange(len(sizes))
    )
    pairs = np.column_stack([left[positive], right[positive]])
    dataset = make_dataset([""] * 300, ["left"] * 300, ["evaluation"] * 300, True, np.empty((0, 2)))
    return dataset, VectorScorer(vectors, OutputLayer(20.0, -14.0)), found, pairs


def test_figures_from_labels_hold_the_exact_ones() -> None:
    dataset, scorer, labels, positives = audited(60)
    found = measure_labels(dataset, scorer, labels, np.random.default_rng(0))
    exact = evaluate_exact(scorer.vectors, scorer.vectors, positives, True, layer=scorer.layer)
    assert exact is not None
    assert (found.pairs, found.positives, len(found.strata)) == (exact.pairs, None, 9)
    for name in ("average_precision", "precision_at_recall_20", "precision", "positives"):
        assert found.estimates[name].low <= exact.estimates[name].value <= found.estimates[name].high
        assert found.estimates[name].method == "audit"
    json.dumps(found.strata)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("later", [False, True], ids=["same model", "later model"])
def test_a_drawn_audit_with_every_label_is_exact(copies: int, later: bool) -> None:
    """Copies of a text tie with all others; a later model ranks the pairs otherwise than the one that drew them."""
    rng = np.random.default_rng(5)
    dataset = make_dataset([f"text {i}" for i in range(24)], ["left"] * 24, ["evaluation"] * 24, True, np.empty((0, 2)))
    drawing, measured = (_scorer(rng.standard_normal((24 // copies, 8)), copies) for _ in range(2))
    drawn = drawn_by(drawing, dataset, 24 * 23 // 2, 0)
    left, right = np.minimum(drawn.left, drawn.right), np.maximum(drawn.left, drawn.right)
    positive = rng.random(len(left)) < 0.2
    first = np.unique(drawn.stratum, return_index=True)[1]
    labels = AuditLabels(
        left, right, positive, drawn.inclusion, drawn.stratum - 1, drawn.size[first], drawn.band[first] - 1
    )
    scorer = measured if later else drawing
    found = measure_labels(dataset, scorer, labels, np.random.default_rng(0)).estimates
    pairs = np.column_stack([left, right])[positive]
    exact = evaluate_exact(scorer.vectors, scorer.vectors, pairs, True, layer=scorer.layer)
    assert exact is not None
    assert found.keys() == exact.estimates.keys() - {"calibration_error"}
    for name, estimate in found.items():
        assert estimate.value == pytest.approx(exact.estimates[name].value), name
        assert (estimate.low, estimate.high, estimate.method) == (estimate.value, estimate.value, "exact"), name
    keep, near = np.arange(len(left)) != 40, drawn.inclusion.copy()
    near[drawn.stratum == drawn.stratum[40]] -= 1 / drawn.size[40]
    columns = left[keep], right[keep], positive[keep], near[keep], drawn.stratum[keep] - 1
    but_one = AuditLabels(*columns, labels.sizes, labels.band)
    almost = measure_labels(dataset, scorer, but_one, np.random.default_rng(0)).estimates["average_precision"]
    assert almost.value == pytest.approx(found["average_precision"].value, abs=1 / positive.sum())
    assert almost.method == "audit"


def _scorer(vectors: np.ndarray, copies: int) -> VectorScorer:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return VectorScorer(np.repeat(unit, copies, axis=0).astype(np.float32), OutputLayer(20.0, -2.0))


def test_too_few_labels_are_refused() -> None:
    dataset, scorer, labels, _ = audited(3)
    with pytest.raises(InputError, match="label 18 more"):
        measure_labels(dataset, scorer, labels, np.random.default_rng(0))


def test_pairs_of_different_probabilities_count_by_their_weights() -> None:
    dataset, scorer, _, positives = audited(5)
    left, right = np.triu_indices(300, 1)
    positive = left // 3 == right // 3
    inclusion = np.where(positive, 0.2, 0.004)  # a quarter of the labels are positives, and 1 in 150 pairs is one
    drawn = np.random.default_rng(0).random(len(left)) < inclusion
    of_one_stratum = np.zeros(drawn.sum(), dtype=np.int64), np.array([len(left)]), np.array([0])
    labels = AuditLabels(left[drawn], right[drawn], positive[drawn], inclusion[drawn], *of_one_stratum)
    found = measure_labels(dataset, scorer, labels, np.random.default_rng(0)).estimates["positives"]
    assert found.low <= len(positives) <= found.high
    assert found.value == pytest.approx(len(positives), rel=0.5)

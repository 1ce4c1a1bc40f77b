"""Multi-view re-ranking, its pure parts: files, lists on disk, mixing, ranks and tests; the paper's numbers."""

import gzip
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.errors import InputError
from allpairs.learner.backbones.reranking.training import Row
from allpairs.learner.pipelines.multiview import lists
from allpairs.learner.pipelines.multiview.formats import (
    JudgedPassage,
    RunHit,
    read_qrels,
    read_run,
    read_texts,
    read_triples,
    write_run,
)
from allpairs.learner.pipelines.multiview.lists import write_texts
from allpairs.learner.pipelines.multiview.mixing import Mixed, of_second_view, streams_of
from allpairs.learner.pipelines.multiview.ranking import improvement, measured, paired, parsed, ranked, reciprocal_ranks
from allpairs.learner.reports.means import mean_of

SEEDS = (0.396, 0.398, 0.399, 0.400, 0.397, 0.401, 0.399, 0.398, 0.400, 0.399)


def test_mixing_is_per_row() -> None:
    assert of_second_view(10_000, 0.15, np.random.default_rng(0)).sum() == 1531
    counts = [of_second_view(10_000, 0.15, np.random.default_rng(seed)).sum() for seed in range(20)]
    assert all(1357 <= count <= 1643 for count in counts)  # 1,500 ± 4 standard deviations
    assert not of_second_view(1_000, 0.0, np.random.default_rng(0)).any()
    assert of_second_view(1_000, 1.0, np.random.default_rng(0)).all()


def rank_row(number: int) -> Row:
    return Row("rank", f"q{number}", "p")


def p2q_row(number: int) -> Row:
    return Row("p2q", f"q{number}", "p")


@given(st.integers(1, 9), st.integers(1, 9), st.floats(0, 1), st.integers(0, 99))
def test_every_row_of_a_view_comes_once_a_pass_in_the_same_order(n: int, m: int, rate: float, seed: int) -> None:
    rows = list(islice(Mixed((n, rank_row), (m, p2q_row), rate, [seed]), 60))
    alone = list(islice(Mixed((n, rank_row), None, rate, [seed]), 60))
    ranking = [row for row in rows if row.view == "rank"]
    assert ranking == alone[: len(ranking)]
    for view, size in (("rank", n), ("p2q", m)):
        mine = [row.query for row in rows if row.view == view]
        for start in range(0, len(mine) - size + 1, size):
            assert len(set(mine[start : start + size])) == size


def test_writing_first_takes_its_share_and_ranks_alike() -> None:
    views = (9, rank_row), (4, p2q_row)
    (written, first), (ranked_, rest) = streams_of(*views, 0.15, 200, True, [1])
    assert (first, rest) == (30, 170) and {row.view for row in islice(written, 40)} == {"p2q"}
    assert list(islice(ranked_, 40)) == list(islice(Mixed(views[0], None, 0.0, [1]), 40))
    [(both, steps)] = streams_of(*views, 0.15, 200, False, [1])
    assert steps == 200 and {row.view for row in islice(both, 100)} == {"rank", "p2q"}
    assert [some for _, some in streams_of(views[0], None, 0.0, 200, True, [1])] == [200]


def test_reciprocal_ranks_divide_by_judged_queries() -> None:
    """Right at rank 2, at rank 11, at rank 1, not retrieved: 0.375, and not the 0.5 of the retrieved ones."""
    ranking = np.array([[5, 0, *range(10, 19)], [*range(20, 30), 1], [2, *range(30, 40)], range(40, 51)])
    gold = [{0}, {1}, {2}, {3}]
    assert reciprocal_ranks(ranking, gold).mean() == pytest.approx(0.375)
    found = measured(ranking, gold, ["RR@10", "Success@1"])
    assert found["RR@10"].mean() == pytest.approx(0.375) and found["Success@1"].tolist() == [0, 0, 1, 0]
    nothing = np.full((4, 3), -1)
    assert measured(nothing, [{-1}] * 4, ["RR@10"])["RR@10"].tolist() == [0, 0, 0, 0]
    with pytest.raises(InputError, match="'Best@1' is not"):
        parsed(["Best@1"])


@given(st.integers(0, 999))
def test_ranks_are_those_of_ir_measures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    candidates = np.array([rng.permutation(30)[:15] for _ in range(5)])
    candidates[0, 9:] = -1
    ranking = ranked(candidates, rng.integers(0, 4, size=candidates.shape).astype(float), 12)
    gold = [set(rng.integers(0, 30, size=3).tolist()) for _ in range(5)]
    assert np.allclose(measured(ranking, gold, ["RR@10"])["RR@10"], reciprocal_ranks(ranking, gold))


def test_equal_scores_keep_the_first_order_and_depth_cuts_before() -> None:
    candidates, scores = np.array([[4, 7, 2, 9, -1]]), np.array([[0.5, 1.0, 1.0, 3.0, 9.0]])
    assert ranked(candidates, scores, 5).tolist() == [[9, 7, 2, 4, -1]]
    assert ranked(candidates, scores, 3).tolist() == [[7, 2, 4]]


def test_a_measure_is_named_once() -> None:
    with pytest.raises(InputError, match="'MRR@10' is listed twice"):
        parsed(["RR@10", "nDCG@10", "MRR@10"])


def test_the_papers_improvements() -> None:
    printed = {(0.401, 0.395): 1.519, (0.393, 0.390): 0.769, (0.402, 0.398): 1.005, (0.396, 0.395): 0.253,
               (0.385, 0.384): 0.260, (0.382, 0.380): 0.526}  # fmt: skip
    for (multi, single), percent in printed.items():
        assert 100 * improvement(multi, single) == pytest.approx(percent, abs=5e-4)


def test_the_paired_test_and_the_interval_of_ten_runs() -> None:
    single = np.array([1, 0.5, 0, 1, 0.333333, 0.2, 0, 1])
    multi = np.array([1, 1, 0.1, 1, 0.5, 0.25, 0, 1])
    found = paired(single, multi)
    assert (found.t, found.p) == (pytest.approx(1.679417, abs=1e-6), pytest.approx(0.136963, abs=1e-6))
    assert found.difference == pytest.approx((multi - single).mean())
    assert paired(single, single).p == 1.0
    mean = mean_of(SEEDS)
    assert mean.low is not None
    assert (mean.value, mean.value - mean.low) == (pytest.approx(0.3987), pytest.approx(0.001069, abs=1e-6))


def test_msmarcos_files_and_tables_say_the_same(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "collection.tsv.gz", "wt") as file:
        file.write('0\tthe "first text\n1\tthe second\n')
    (tmp_path / "texts.csv").write_text('id,text\n0,"the ""first text"\n1,the second\n')
    expected = [("0", 'the "first text'), ("1", "the second")]
    for name in ("collection.tsv.gz", "texts.csv"):
        assert list(read_texts(tmp_path / name)) == expected
    (tmp_path / "qrels.tsv").write_text("7\t0\t1\t1\n8\t0\t0\t0\n")
    (tmp_path / "qrels.trec").write_text("7 0 1 1\n8 0 0 0\n")
    (tmp_path / "gold.csv").write_text("id1,id2,label\n7,1,1\n8,0,false\n")
    for name in ("qrels.tsv", "qrels.trec", "gold.csv"):
        assert list(read_qrels(tmp_path / name)) == [JudgedPassage("7", "1", True), JudgedPassage("8", "0", False)]
    (tmp_path / "triples.tsv").write_text("q\tright\twrong\n" * 9)
    assert list(read_triples(tmp_path / "triples.tsv", 4)) == [("q", "right", "wrong")] * 4


def test_runs_go_round_in_both_forms(tmp_path: Path) -> None:
    hits = [RunHit("7", "1", 1), RunHit("7", "0", 2), RunHit("8", "0", 1)]
    write_run(tmp_path, "bm25", [(hit, 1 / hit.rank) for hit in hits])
    assert list(read_run(tmp_path / "bm25.tsv")) == list(read_run(tmp_path / "bm25.trec")) == hits
    assert (tmp_path / "bm25.trec").read_text().splitlines()[1] == "7 Q0 0 2 0.500000 bm25"


BROKEN = {
    "one column": ("texts.tsv", "a\n", read_texts, "row 1: 1 tab-separated columns"),
    "no text": ("texts.csv", "id,text\na, \n", read_texts, "the text is empty"),
    "no such column": ("texts.csv", "id,words\na,b\n", read_texts, "no such column"),
    "bad label": ("qrels.tsv", "1\t0\t2\tyes\n", read_qrels, "the label is 'yes'"),
    "bad rank": ("run.tsv", "1\t2\tfirst\n", read_run, "the rank is 'first'"),
    "four values": ("run.tsv", "1 2 3 4\n", read_run, "row 1: 4 values"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_told_in_one_line(tmp_path: Path, case: str) -> None:
    name, text, read, said = BROKEN[case]
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said) as found:
        list(read(tmp_path / name))  # type: ignore[operator]
    assert name in str(found.value) and "\n" not in str(found.value)


def test_a_list_on_disk_is_read_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "CHUNK", 4)
    table = write_texts(tmp_path / "t.arrow", ("id", "text"), ((f"i{n % 9}", f"text {n}") for n in range(10)))
    assert len(table) == 10 and table.all() == [f"text {n}" for n in range(10)]
    assert table.take([9, 0, 4, 4]) == ["text 9", "text 0", "text 4", "text 4"]
    assert table.rows_of(["i0", "i5", "none"]) == {"i0": 0, "i5": 5}

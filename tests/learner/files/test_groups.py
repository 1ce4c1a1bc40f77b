"""Groups of matches in files: people's answers, representatives, and the figures beside the true groups."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.domain import Clustering, Kind, Representative
from allpairs.db.errors import InputError
from allpairs.learner.cli.evaluate_groups import evaluate_groups
from allpairs.learner.files.group_figures import group_figures
from allpairs.learner.files.groups import column_order, column_values, group_table
from allpairs.learner.files.labels import read_label_file
from allpairs.learner.light.groups.grouping import Grouping, possible
from allpairs.learner.search.exact import Pairs

SCORES = np.array([0.9, 0.8, 0.7, 0.6], dtype=np.float32)
PAIRS = Pairs(np.array([0, 1, 3, 2]), np.array([1, 2, 4, 3]), SCORES)  # a chain of five texts


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write(tmp_path / "texts.csv", "id,text", "a,one", "b,one two", "c,a long text", "d,four", "e,five")


def grouped(texts: Path, grouping: Grouping, p: np.ndarray | None = SCORES, right: Path | None = None) -> list[str]:
    """Return the ids of each group, its representative in capitals."""
    table = group_table(load_corpus(texts, right), PAIRS, p, 0.5, grouping)
    names = np.where(table["representative"] == 1, table["id"].str.upper(), table["id"])
    return table.assign(id=names).groupby("group")["id"].sum().tolist()


def test_clusterings_and_representatives(texts: Path) -> None:
    assert grouped(texts, Grouping()) == ["aBcde"]
    assert grouped(texts, Grouping(Clustering.AVERAGE)) == ["Ab", "De"]
    assert grouped(texts, Grouping(representative=Representative.LONGEST)) == ["abCde"]


def test_each_text_of_a_group_says_what_holds_it(texts: Path) -> None:
    table = group_table(load_corpus(texts), PAIRS, SCORES, 0.5, Grouping(Clustering.AVERAGE))
    assert list(table) == ["group", "size", "side", "id", "text", "representative", "weakest", "coherence"]
    assert table["weakest"].tolist() == pytest.approx([0.9, 0.9, 0.7, 0.7]) and set(table["coherence"]) == {1}


def test_the_newest_by_any_column_of_the_file(tmp_path: Path) -> None:
    rows = "id,text,day", "a,one,2024-01-09", "b,two,9.1.2024", "c,three,", "d,four,10.1.2024", "e,five,1.1.2024"
    texts = write(tmp_path / "dated.csv", *rows)
    corpus = load_corpus(texts)
    values = column_values(corpus, "day", texts, None, "id")
    grouping = Grouping(representative=Representative.NEWEST, newest_by="day")
    table = group_table(corpus, PAIRS, SCORES, 0.5, grouping, order=column_order(corpus, grouping, values))
    assert table["id"][table["representative"] == 1].tolist() == ["d"]
    with pytest.raises(InputError, match="column 'age': no such column"):
        column_values(corpus, "age", texts, None, "id")


def test_people_decide_over_the_model(texts: Path, tmp_path: Path) -> None:
    rows = "id1,id2,label,purpose", "c,d,0,audit", "a,e,1,train"
    answers = read_label_file(write(tmp_path / "answers.csv", *rows), load_corpus(texts), with_audit=True)
    table = group_table(load_corpus(texts), PAIRS, SCORES, 0.5, Grouping(), answers)
    of = dict(zip(table["id"], table["group"], strict=True))
    assert of["a"] == of["b"] == of["c"] == of["e"] and "d" not in of  # its best link leads to what is not its like


def test_a_clustering_that_lacks_something_is_refused(texts: Path) -> None:
    with pytest.raises(InputError, match="need probabilities"):
        Grouping(Clustering.AVERAGE).require_possible(Kind.BIPARTITE, False)
    with pytest.raises(InputError, match="need two lists"):
        Grouping(Clustering.ONE_TO_ONE).require_possible(Kind.SYMMETRIC, True)
    for wrong in (Grouping(representative=Representative.NEWEST), Grouping(newest_by="date")):
        with pytest.raises(InputError, match="give both"):
            wrong.require_possible(Kind.SYMMETRIC, True)
    for kind in Kind:
        for has_p in (True, False):
            for how in possible(kind, has_p):
                Grouping(how).require_possible(kind, has_p)
    assert len(possible(Kind.SYMMETRIC, False)) == 1 and len(possible(Kind.BIPARTITE, True)) == 5
    assert grouped(texts, Grouping(), None) == ["aBcde"]


def test_figures_of_groups_beside_pairs_of_one_entity(texts: Path, tmp_path: Path) -> None:
    found = write(tmp_path / "found.csv", "id,group,name", "a,1,x", "b,1,y", "c,1,x", "d,2,x", "e,2,x")
    true = write(tmp_path / "true.csv", "id1,id2,label", "a,b,1", "d,e,Positive", "c,d,negative", "b,c,", "b,d,unsure")
    figures = group_figures(found, true, name="name")
    assert figures["texts"] == 5 and figures["pairs"] == {"precision": 2 / 4, "recall": 1.0, "f1": 2 / 3}
    assert figures["clusters"] == {"precision": 1 / 2, "recall": 1 / 3, "f1": 2 / 5}  # c is alone in truth
    assert figures["b_cubed"]["precision"] == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 2) / 5)
    assert figures["found"]["sizes"] == {2: 1, 3: 1} and figures["true"]["groups"] == 3
    assert figures["found"]["name_variation"] == 1 / 2 and figures["found"]["homonymy"] == 1
    assert group_figures(found, true, [write(tmp_path / "more.csv", "id", *"abcdefg")])["texts"] == 7
    alone = write(tmp_path / "alone.csv", "id,group", "a,1", "b,1", "d,", "e,")
    assert group_figures(alone, true)["pairs"] == {"precision": 1.0, "recall": 1 / 2, "f1": 2 / 3}


def test_equal_groups_of_two_lists_are_right(tmp_path: Path) -> None:
    rows = "side,id,group", "left,1,p", "right,1,p", "left,2,q", "right,2,r"
    found = write(tmp_path / "found.csv", *rows)
    true = write(tmp_path / "true.csv", "id1,id2", "1,1")
    figures = group_figures(found, true)
    assert figures["b_cubed"]["f1"] == figures["clusters"]["f1"] == figures["pairs"]["f1"] == 1


def by(*files: Path | None, by: str, capsys: pytest.CaptureFixture[str]) -> list[tuple[Any, ...]]:
    """Return value, texts, precision and recall of each row that the command prints. files: as it takes them."""
    found, true, *lists = files
    left, right = [*lists, None, None][:2]
    assert found is not None and true is not None
    evaluate_groups(found, true, left, right, by=by, json=True)
    rows = json.loads(capsys.readouterr().out)["by"]
    return [(row["value"], row["texts"], row["precision"], row["recall"]) for row in rows]


def test_errors_by_size_and_by_a_column(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = write(tmp_path / "found.csv", "id,group", "a,1", "b,1", "c,1", "d,2", "e,3")
    true = write(tmp_path / "true.csv", "id,group", "a,1", "b,1", "c,2", "d,3", "e,3")
    assert by(found, true, by="size", capsys=capsys) == [
        ("1", 1, 1 / 3, 1.0),
        ("2", 4, (2 / 3 + 1) / 2, (1 + 1 / 2) / 2),
    ]
    where = write(tmp_path / "where.csv", "id,source", "a,x", "b,x", "c,y", "d,x", "e,y")
    rows = [("x", 3, (2 / 3 + 2 / 3 + 1) / 3, (1 + 1 + 1 / 2) / 3), ("y", 2, (1 / 3 + 1) / 2, (1 + 1 / 2) / 2)]
    assert by(found, true, where, by="source", capsys=capsys) == [pytest.approx(row) for row in rows]
    with pytest.raises(InputError, match="no column venue"):
        by(found, true, texts, by="venue", capsys=capsys)
    with pytest.raises(InputError, match="give --left"):
        by(found, true, by="source", capsys=capsys)


def test_errors_by_the_source_of_two_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = write(tmp_path / "found.csv", "side,id,group", "left,1,p", "left,2,p", "right,1,p", "right,2,q")
    true = write(tmp_path / "true.csv", "id1,id2", "1,1", "2,2")
    rows = [("left", 2, (2 / 3 + 1 / 3) / 2, (1 + 1 / 2) / 2), ("right", 2, (2 / 3 + 1) / 2, (1 + 1 / 2) / 2)]
    assert by(found, true, by="source", capsys=capsys) == [pytest.approx(row) for row in rows]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("id,group", "a,1", "a,2"), "row 3: a is in two groups"),
        (("id,of", "a,1"), "has no column group"),
        (("side,id,group", "L,a,1", "R,a,1"), r"row 2.*the side is 'L'; write left or right"),
        (("id1,id2,label", "a,b,1", "a,c,2"), r"row 3.*the label is '2'; write 1, 0, or nothing"),
    ],
)
def test_bad_files_get_one_line(tmp_path: Path, rows: tuple[str, ...], message: str) -> None:
    true = write(tmp_path / "true.csv", "id,group", "a,1")
    with pytest.raises(InputError, match=message):
        group_figures(write(tmp_path / "found.csv", *rows), true)

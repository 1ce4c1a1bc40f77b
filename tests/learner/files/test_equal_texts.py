"""Every id that came in goes out: equal texts of one list, and texts that two lists share, in tables of matches."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.db.corpus import graph
from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.domain import Clustering, Side
from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.files.group_figures import group_figures
from allpairs.learner.files.groups import column_values
from allpairs.learner.files.match import Cut, groups_file, match_corpus, matches_of
from allpairs.learner.light.groups.grouping import Grouping
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.records import ONE_COLUMN
from tests.helpers.files.simulated import write
from tests.helpers.machine import examples
from tests.helpers.tiny import static_encoder

TEXTS = ["red kettle", "red  kettle", "blue chair", "ｂlue chair", "green lamp", "old red lamp"]  # two pairs are equal
Named = tuple[str, str]  # side and id


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(static_encoder(tmp_path_factory.mktemp("encoder"), TEXTS))


@cache
def loaded(encoder: str):  # type: ignore[no-untyped-def]
    return load_matcher(encoder)


def named(texts: Sequence[str], side: str) -> dict[Named, str]:
    return {(side, f"{side}{number}"): text for number, text in enumerate(texts)}


def files(folder: Path, left: Sequence[str], right: Sequence[str]) -> tuple[Path, Path | None]:
    paths = []
    for side, texts in (("left", left), ("right", right)):
        rows = [(name, text) for (_, name), text in named(texts, side).items()]
        paths.append(write(folder / f"{side}.csv", ["id", "text"], rows))
    return paths[0], paths[1] if right else None


def equal_pairs(ids: dict[Named, str], right: Sequence[str]) -> set[frozenset[Named]]:
    """Return the pairs of ids with equal texts: of one list all, of two lists those between them."""
    sides = {"left": [one for one in ids if one[0] == "left"], "right": [one for one in ids if one[0] == "right"]}
    possible = product(*sides.values()) if right else combinations(ids, 2)
    return {frozenset(pair) for pair in possible if identity(ids[pair[0]]) == identity(ids[pair[1]])}


def require_groups_of(table: pd.DataFrame, ids: dict[Named, str], pairs: set[frozenset[Named]]) -> None:
    """Require that pairs and equal texts connect exactly these groups, with each id at most once."""
    names = list(ids)
    place = {name: number for number, name in enumerate(names)}
    of_lists = [pair for pair in combinations(names, 2) if pair[0][0] == pair[1][0]]
    same = [pair for pair in of_lists if identity(ids[pair[0]]) == identity(ids[pair[1]])]
    links = [tuple(place[name] for name in pair) for pair in [*map(tuple, pairs), *same]]
    expected = {tuple(part) for part in graph.joined_groups(graph.components(len(names), links))}
    groups = defaultdict(list)
    for side, name, group, size in table[["side", "id", "group", "size"]].itertuples(index=False):
        groups[group, size].append(place[side, name])
    assert {tuple(sorted(part)) for part in groups.values()} == expected
    assert all(size == len(part) for (_, size), part in groups.items())
    assert (table.groupby("group")["representative"].sum() == 1).all()


some = st.lists(st.sampled_from(TEXTS), min_size=2, max_size=7)


@settings(max_examples=examples(60), deadline=None)
@given(left=some, right=st.one_of(st.just([]), some), top=st.integers(1, 8))
def test_every_id_goes_out_once(encoder: str, left: list[str], right: list[str], top: int) -> None:
    ids = named(left, "left") | named(right, "right")
    with TemporaryDirectory() as folder:
        paths = files(Path(folder), left, right)
        corpus, out = load_corpus(*paths, fewest=1), Path(folder) / "m.csv"
        match_corpus(encoder, corpus, Cut(top=top), out, grouping=Grouping(Clustering.CONNECTED))
        table, groups = pd.read_csv(out), pd.read_csv(groups_file(out))
    second = "right" if right else "left"
    pairs = [frozenset({("left", one), (second, other)}) for one, other in zip(table["id1"], table["id2"], strict=True)]
    assert len(set(pairs)) == len(pairs) and all(len(pair) == 2 for pair in pairs)
    equal = equal_pairs(ids, right)
    assert {pair for pair, reason in zip(pairs, table["reason"], strict=True) if reason == "equal"} == equal
    keys = {name: (name[0], identity(text)) for name, text in ids.items()}
    texts = {frozenset(keys[name] for name in pair) for pair in pairs}
    whole = {frozenset(pair) for pair in combinations(ids, 2) if frozenset(keys[name] for name in pair) in texts}
    assert set(pairs) == {pair for pair in whole if not right or len({side for side, _ in pair}) == 2}
    require_groups_of(groups, ids, set(pairs))

    records = [RecordTexts(texts, [None] * len(texts), [side] * len(texts), ONE_COLUMN)
               for texts, side in ((left, Side.LEFT), (right, Side.RIGHT)) if texts]  # fmt: skip
    in_python = matches_of(loaded(encoder), records[0], records[1] if right else None, Cut(top=top), -9)
    again = [frozenset({("left", f"left{one}"), (second, f"{second}{other}")})
             for one, other in zip(in_python["left"], in_python["right"], strict=True)]  # fmt: skip
    assert sorted(map(sorted, again)) == sorted(map(sorted, pairs))


def test_equal_texts_come_first_with_the_reason_equal(encoder: str, tmp_path: Path) -> None:
    left, right = files(tmp_path, ["red kettle", "green lamp", "red  kettle"], ["blue chair", "red kettle"])
    out = tmp_path / "m.csv"
    said = match_corpus(encoder, load_corpus(left, right), Cut(threshold=2), out, grouping=Grouping())
    table = pd.read_csv(out)
    assert table[["id1", "id2", "reason"]].values.tolist() == [
        ["left0", "right1", "equal"],
        ["left2", "right1", "equal"],
    ]
    assert said["equal"] == 2 and set(pd.read_csv(groups_file(out))["id"]) == {"left0", "left2", "right1"}
    answers = np.array([0]), np.array([3])  # people say that they are two things
    match_corpus(encoder, load_corpus(left, right), Cut(threshold=2), out, grouping=Grouping(),
                 answers=Labelled(*answers, np.array([0])))  # fmt: skip
    assert set(pd.read_csv(groups_file(out))["id"]) == {"left0", "left2"}


def test_true_pairs_of_equal_texts_are_not_missed(encoder: str, tmp_path: Path) -> None:
    left, _ = files(tmp_path, ["red kettle", "red  kettle", "green lamp"], [])
    true = write(tmp_path / "true.csv", ["id1", "id2"], [("left0", "left1")])
    match_corpus(encoder, load_corpus(left), Cut(threshold=2), tmp_path / "m.csv", grouping=Grouping())
    for found in ("m.csv", "m-groups.csv"):
        assert group_figures(tmp_path / found, true, [left])["pairs"] == {"precision": 1, "recall": 1, "f1": 1}


def test_a_thousand_equal_rows_are_a_thousand_rows(encoder: str, tmp_path: Path) -> None:
    left, _ = files(tmp_path, ["red kettle"] * 1_000 + ["green lamp"], [])
    said = match_corpus(encoder, load_corpus(left), Cut(top=2), tmp_path / "m.csv", grouping=Grouping())
    table = pd.read_csv(tmp_path / "m.csv")
    assert said["pairs"] == len(table) == 999 + 1_000 and said["equal"] == 999
    assert said["left_out"] == 499_500 - 999
    assert set(table["id1"]) | set(table["id2"]) == {f"left{number}" for number in range(1_001)}
    assert len(pd.read_csv(tmp_path / "m-groups.csv")) == 1_001


def test_the_newest_of_equal_texts_is_that_of_its_own_row(encoder: str, tmp_path: Path) -> None:
    rows = [("a", "red kettle", 2020), ("b", "red kettle", 2024), ("c", "red kettle", 2022)]
    left = write(tmp_path / "l.csv", ["id", "text", "year"], rows)
    corpus = load_corpus(left, fewest=1)
    grouping = Grouping(representative="newest", newest_by="year")  # type: ignore[arg-type]
    values = column_values(corpus, "year", left, None, "id")
    match_corpus(encoder, corpus, Cut(top=1), tmp_path / "m.csv", grouping=grouping, values=values)
    assert pd.read_csv(tmp_path / "m-groups.csv").set_index("id")["representative"].to_dict() == {
        "a": 0,
        "b": 1,
        "c": 0,
    }


def test_a_single_row_makes_no_pair(encoder: str, tmp_path: Path) -> None:
    left, _ = files(tmp_path, ["red kettle"], [])
    with pytest.raises(InputError, match="one row"):
        match_corpus(encoder, load_corpus(left, fewest=1), Cut(top=1), tmp_path / "m.csv")

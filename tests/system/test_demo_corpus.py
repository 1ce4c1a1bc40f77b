"""The demo corpus keeps its promises: size, look-alikes, unique questions, consistent gold, a model that improves."""

import csv
import json
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from allpairs.annotate.demo import SETTINGS
from allpairs.db.corpus.corpus import load_corpus
from allpairs.learner.files.simulate import simulate_corpus
from tests.helpers.machine import ROOT

DEMO = ROOT / "annotate" / "demo"
Gold = list[tuple[str, str, str]]


def read(name: str, columns: list[str]) -> list[list[str]]:
    """Return the rows of a demo file below its header, which must be `columns`."""
    with (DEMO / name).open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == columns
    assert all(len(row) == len(columns) for row in rows)
    return rows


def components(ids: list[str], pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return the representative of each id's connected component."""
    parent = {i: i for i in ids}

    def find(i: str) -> str:
        while parent[i] != i:
            i = parent[i]
        return i

    for a, b in pairs:
        parent[find(a)] = find(b)
    return {i: find(i) for i in ids}


def folded(text: str) -> str:
    """Return the text as the import compares it, ignoring case."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def negatives_of_first_batch(group_of: dict[str, str]) -> int:
    batch = read("first_batch.csv", ["id1", "id2", "score"])[: SETTINGS.first]
    return sum(group_of[a] != group_of[b] for a, b, _ in batch)


@pytest.fixture(scope="module")
def questions() -> dict[str, str]:
    rows = read("questions.csv", ["id", "text"])
    assert len({i for i, _ in rows}) == len(rows)
    return dict(rows)


@pytest.fixture(scope="module")
def gold() -> Gold:
    return [(a, b, label) for a, b, label in read("gold.csv", ["id1", "id2", "label"])]


@pytest.fixture(scope="module")
def group_of(questions: dict[str, str], gold: Gold) -> dict[str, str]:
    return components(list(questions), [(a, b) for a, b, label in gold if label == "1"])


def test_questions_are_many_and_distinct(questions: dict[str, str]) -> None:
    assert len(questions) >= 600
    texts = [folded(text) for text in questions.values()]
    assert all(texts)
    assert [text for text, n in Counter(texts).items() if n > 1] == []


def test_gold_names_known_pairs_once(questions: dict[str, str], gold: Gold) -> None:
    assert {label for *_, label in gold} == {"0", "1"}
    assert {i for a, b, _ in gold for i in (a, b)} <= questions.keys()
    assert all(a != b for a, b, _ in gold)
    assert len({frozenset((a, b)) for a, b, _ in gold}) == len(gold)


def test_groups_are_many_and_small(group_of: dict[str, str]) -> None:
    sizes = Counter(group_of.values()).values()
    assert sum(size > 1 for size in sizes) >= 200
    assert sum(size == 1 for size in sizes) >= 30
    assert max(sizes) <= 6


def test_look_alikes_are_many_and_never_in_one_group(gold: Gold, group_of: dict[str, str]) -> None:
    look_alikes = [(a, b) for a, b, label in gold if label == "0"]
    assert len(look_alikes) >= 400
    assert [(a, b) for a, b in look_alikes if group_of[a] == group_of[b]] == []


def test_known_pairs_leave_small_parts_to_split(questions: dict[str, str], gold: Gold) -> None:
    """The split keeps all known pairs of a component on one side: one large component would make it lopsided."""
    sizes = Counter(components(list(questions), [(a, b) for a, b, _ in gold]).values())
    assert max(sizes.values()) <= len(questions) / 10


def test_the_first_batch_has_a_third_of_negatives(group_of: dict[str, str]) -> None:
    """A model learns nothing from matches alone, and nobody sees from them what it has yet to learn."""
    assert SETTINGS.first / 3 <= negatives_of_first_batch(group_of) <= 2 * SETTINGS.first / 3


@pytest.mark.slow
def test_the_model_is_ahead_after_each_of_the_first_two_rounds(tmp_path: Path) -> None:
    corpus = load_corpus(DEMO / "questions.csv", None, DEMO / "gold.csv")
    rounds, _ = simulate_corpus(corpus, SETTINGS, 2, tmp_path)
    base = json.loads((tmp_path / "base.json").read_text(encoding="utf-8"))
    before, first, second = (row["average_precision"]["value"] for row in (base, *rounds))
    assert first > before + 0.03
    assert second > before + 0.06


def test_groups_are_not_adjacent(questions: dict[str, str], group_of: dict[str, str]) -> None:
    groups = [group_of[i] for i in questions]
    neighbours = sum(a == b for a, b in pairwise(groups))
    assert neighbours <= len(groups) / 50


def test_readme_states_the_counts(questions: dict[str, str], gold: Gold, group_of: dict[str, str]) -> None:
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    sizes = Counter(group_of.values()).values()
    grouped = sum(size for size in sizes if size > 1)
    labels = Counter(label for *_, label in gold)
    closure = sum(size * (size - 1) // 2 for size in sizes)
    negatives = negatives_of_first_batch(group_of)
    groups, single = sum(size > 1 for size in sizes), sum(size == 1 for size in sizes)
    for words in (
        f"{len(questions)} questions: {grouped} in {groups} groups",
        f"and {single} that have no duplicate",
        f"{labels['1']} pairs with label 1, {labels['0']} with label 0",
        f"gives all {closure}",
        f"all {len(questions) * (len(questions) - 1) // 2:,} pairs",
        f"the {SETTINGS.first} pairs of the first batch, {negatives} of them negatives",
    ):
        assert words in readme

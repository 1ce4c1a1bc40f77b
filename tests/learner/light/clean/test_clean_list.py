"""The clean list: no row is lost or doubled, and every cell is somebody's."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.db.errors import InputError
from allpairs.learner.light.clean.plan import CleanPlan, ListedRow, RowGroup, plan_clean_list
from allpairs.learner.light.clean.rules import (
    USUAL_RULES,
    CellRule,
    CleanRules,
    KeepRule,
    read_cell_rules,
    read_sources,
)
from allpairs.learner.light.clean.tables import added_columns, changed_rows, clean_rows, marked_rows
from tests.helpers.machine import examples

COLUMNS = ("name", "phone", "changed", "source")
CELLS = st.sampled_from(
    ["", "-", "Anna", "Anna Berg", "ANNA", "2024-05-01", "2023-01-31", "web", "shop", "=1+1", " x "]
)
LISTS = st.lists(st.tuples(*[CELLS] * len(COLUMNS)), max_size=12)
RULES = st.builds(
    CleanRules,
    keep=st.sampled_from(KeepRule),
    newest_by=st.just("changed"),
    source_column=st.just("source"),
    sources=st.just(("shop", "web")),
    stays=st.frozensets(st.integers(0, 11).map(str), max_size=3),
    cells=st.dictionaries(st.sampled_from((*COLUMNS, "*")), st.sampled_from(CellRule)),
)


def listed(table: Sequence[Sequence[str]]) -> list[ListedRow]:
    return [ListedRow(place, str(place), cells) for place, cells in enumerate(table)]


def planned(table: Sequence[Sequence[str]], groups: Sequence[str], rules: CleanRules = USUAL_RULES) -> CleanPlan:
    rows = listed(table)
    grouped = {place: RowGroup(group, 0.75) for place, group in enumerate(groups) if group}
    return plan_clean_list(lambda: iter(rows), COLUMNS[: len(table[0]) if table else None], grouped, rules)


@given(LISTS, st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=12, max_size=12), RULES)
@settings(max_examples=examples(300), deadline=None)
def test_rows_are_neither_lost_nor_doubled(table: list[tuple[str, ...]], groups: list[str], rules: CleanRules) -> None:
    groups = groups[: len(table)]
    plan = planned(table, groups, rules)
    rows = listed(table)
    marked = list(marked_rows(rows, plan))
    assert [row.cells for row in marked] == table  # the list as it came
    alone = [place for place, group in enumerate(groups) if not group]
    assert all(marked[place].keep and marked[place].group is None for place in alone)
    kept = [place for place, row in enumerate(marked) if row.keep]
    assert Counter(groups[place] for place in kept if groups[place]) == Counter(set(filter(None, groups)))
    clean = list(clean_rows(rows, plan))
    assert len(clean) == len(kept) == plan.clean_rows
    changes = list(changed_rows(plan))
    removed = {row[2]: row[3] for row in changes if row[0] == "row removed"}
    assert removed == {
        str(place): str(next(p for p in kept if groups[p] == groups[place]))
        for place in range(len(table))
        if place not in kept
    }
    told = {(row[2], row[4]): (row[5], row[6]) for row in changes if row[0] == "cell changed"}
    for place, cells in zip(kept, clean, strict=True):
        for column, old, new in zip(COLUMNS, table[place], cells, strict=True):
            change = told.pop((str(place), column), None)
            assert (change is None) == (old == new)
            if change and rules.rule_of(column) != CellRule.JOINED:
                value, origin = change
                assert value == new == table[int(origin)][COLUMNS.index(column)]
                assert groups[int(origin)] == groups[place]
    assert not told


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        (CleanRules(), 2),
        (CleanRules(KeepRule.FIRST), 0),
        (CleanRules(KeepRule.NEWEST, newest_by="changed"), 1),
        (CleanRules(KeepRule.SOURCE, source_column="source", sources=("shop", "web")), 1),
        (CleanRules(KeepRule.FIRST, stays={"3"}), 3),
    ],
)
def test_the_row_that_stays_is_the_rules(rules: CleanRules, kept: int) -> None:
    table = [
        ("Anna", "", "31.01.2023", ""),
        ("Anna", "", "01.05.2024", "shop"),
        ("Anna Berg", "123", "02.04.2024", "web"),
        ("A", "1", "01.01.1999", "crm"),
    ]
    assert list(planned(table, "aaaa", rules).new_cells) == [kept]


@pytest.mark.parametrize(
    ("rule", "value", "origin"),
    [
        (CellRule.KEPT, "", "0"),
        (CellRule.FIRST, "Anna", "1"),
        (CellRule.LONGEST, "Anna Berg", "2"),
        (CellRule.FREQUENT, "ANNA", "3"),
        (CellRule.NEWEST, "ANNA", "4"),
        (CellRule.JOINED, "Anna; Anna Berg; ANNA", "1; 2; 3"),
    ],
)
def test_a_cell_comes_from_its_rules_row(rule: CellRule, value: str, origin: str) -> None:
    names = ["", "Anna", "Anna Berg", "ANNA", "ANNA"]
    table = [(name, "", f"2024-01-0{day}", "") for day, name in enumerate(names, 1)]
    plan = planned(table, "aaaaa", CleanRules(stays={"0"}, newest_by="changed", cells={"*": rule}))
    (cells,) = clean_rows(listed(table), plan)
    assert cells[0] == value
    assert [(row[5], row[6]) for row in changed_rows(plan) if row[4] == "name"] == (
        [] if rule == CellRule.KEPT else [(value, origin)]
    )


def test_added_columns_are_unlike_those_of_the_list() -> None:
    assert added_columns(["name"]) == ("group", "keep", "sure")
    assert added_columns(["Group", "group_2", "keep"]) == ("group_3", "keep_2", "sure")


def test_rules_are_read_from_words() -> None:
    assert read_cell_rules(["a=b=joined", "*=first"]) == {"a=b": CellRule.JOINED, "*": CellRule.FIRST}
    assert read_sources("from=shop, web") == ("from", ("shop", "web"))
    assert read_sources("") == ("", ())


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        (CleanRules(KeepRule.NEWEST), "newest_by"),
        (CleanRules(KeepRule.SOURCE, source_column="source"), "source"),
        (CleanRules(cells={"name": CellRule.NEWEST}), "newest_by"),
        (CleanRules(cells={"nom": CellRule.FIRST}), "'nom'.*'name', 'phone'"),
    ],
)
def test_rules_that_lack_a_column_are_refused(rules: CleanRules, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        planned([("", "", "", "")], "a", rules)


@pytest.mark.parametrize("words", ["phone", "phone=loudest"])
def test_an_unknown_rule_is_refused(words: str) -> None:
    with pytest.raises(InputError, match=f"'{words}'.*longest"):
        read_cell_rules([words])

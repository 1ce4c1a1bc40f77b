"""A new version of a project's list: ids, groups and decisions stay with their rows; undo brings the old one back."""

import csv
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from allpairs.annotate.features.clean import new_version
from allpairs.annotate.features.clean.new_version import MissingColumns, NewRows, counts_in_words
from allpairs.annotate.features.clean.project_list import CleanRulesInput, reading_list, write_new_list
from allpairs.annotate.features.groups.decide import confirm_group
from allpairs.annotate.features.groups.open_groups import read_group_work
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.features.texts.change_texts import Outcome, undo_text_change
from allpairs.db.corpus.corpus import Columns, stage_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Clustering, Representative, Settings, Side
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import decided_pairs
from allpairs.db.projects.lists import current_list, rows_of_list
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import GroupedItem, GroupUpdate, Identifier
from tests.helpers.factories import make_project
from tests.helpers.machine import examples

COLUMNS = ("Nr", "Name", "Tel")
ROWS = [("c1", "Anna Berg", "1"), ("c2", "Anna Berk", "2"), ("c3", "Bea Stein", "3"), ("c4", "Carl Ott", "4")]
PEOPLE = [row[1:] for row in ROWS]


def write(path: Path, rows: Sequence[Sequence[str]], columns: Sequence[str] = COLUMNS) -> Path:
    path.write_text("\n".join(map(";".join, (columns, *rows))), encoding="cp1252")
    return path


def project_of(engine: Engine, path: Path, id_column: str) -> int:
    corpus = stage_corpus(path, Columns(id_column, ("Name",)), keeps_rows=True)
    settings = Settings(evaluation_share=0)
    return create_project(engine, path.stem, split_corpus(corpus, 0.0, np.random.default_rng(0)), settings)


@pytest.fixture
def project(engine: Engine, tmp_path: Path) -> int:
    """Return a project of a list with ids, whose first two rows are a group."""
    project_id = project_of(engine, write(tmp_path / "customers.csv", ROWS), "Nr")
    with writing(engine) as session:
        for name in ("c1", "c2"):
            session.add(GroupedItem(item_id=item_of(engine, project_id, name), project_id=project_id, number=7))
    return project_id


@pytest.fixture
def numbered(engine: Engine, tmp_path: Path) -> int:
    """Return a project of the same list without ids."""
    return project_of(engine, write(tmp_path / "numbered.csv", PEOPLE, COLUMNS[1:]), "")


def item_of(engine: Engine, project_id: int, name: str) -> int:
    query = select(Identifier.item_id).where(Identifier.project_id == project_id, Identifier.external_id == name)
    with reading(engine) as session:
        return session.scalars(query).one()


def take_over(engine: Engine, project_id: int, path: Path, **renamed: str) -> Outcome:
    file = new_version.version_file(engine, project_id, path, Side.LEFT, renamed)
    preview = new_version.preview_version(engine, project_id, file)
    outcome = new_version.replace_list_with(engine, project_id, file)
    assert (preview.counts, preview.examples) == (outcome.counts, outcome.examples)
    return outcome


def listed(engine: Engine, project_id: int) -> list[tuple[str, list[str]]]:
    with reading(engine) as session:
        return [(row.external_id, row.cells) for row in rows_of_list(session, project_id, Side.LEFT)]


def groups_of(engine: Engine, project_id: int) -> dict[str, str]:
    with reading_list(engine, project_id, CleanRulesInput()) as project_list:
        return {project_list.plan.ids[key]: group.name for key, group in project_list.plan.groups.items()}


def update_of(project_id: int) -> GroupUpdate:
    grouping = {"clustering": Clustering.CONNECTED, "representative": Representative.CENTRAL, "newest_by": ""}
    return GroupUpdate(project_id=project_id, matcher=0, threshold=0.5, groups=2, texts=4, **grouping)


NEXT = [("c3", "Bea Stein", "33"), ("c1", "Anna Berg", "1"), ("c2", "Ana Berk", "2"), ("c5", "Dora Alt", "5")]


def test_a_version_with_ids_is_taken_over_as_it_came(engine: Engine, project: int, tmp_path: Path) -> None:
    confirm_group(engine, project, "Ann", [item_of(engine, project, name) for name in ("c1", "c2")])
    outcome = take_over(engine, project, write(tmp_path / "next.csv", NEXT))
    assert counts_in_words(outcome) == "1 new, 2 changed, 1 gone, 1 the same"
    assert [cells for _, cells in listed(engine, project)] == list(map(list, NEXT))
    with reading(engine) as session:
        pair = item_of(engine, project, "c1"), item_of(engine, project, "c2")
        assert decided_pairs(session, project)[min(pair), max(pair)]
        version = current_list(session, project, Side.LEFT)
        assert version is not None
        assert version.file == "next.csv"
    assert take_over(engine, project, tmp_path / "next.csv").change is None  # twice changes nothing


def test_groups_keep_their_ids_and_undo_brings_all_back(engine: Engine, project: int, tmp_path: Path) -> None:
    before = listed(engine, project)
    take_over(engine, project, write(tmp_path / "next.csv", [*ROWS[:3], ("c5", "Dora Alt", "5")]))
    assert groups_of(engine, project) == {"c1": "g7", "c2": "g7"}
    take_over(engine, project, write(tmp_path / "reversed.csv", ROWS[2::-1]))
    assert [name for name, _ in listed(engine, project)] == ["c3", "c2", "c1"]
    assert groups_of(engine, project) == {"c2": "g7", "c1": "g7"}
    undo_text_change(engine, project)
    undo_text_change(engine, project)
    assert listed(engine, project) == before
    assert groups_of(engine, project) == {"c1": "g7", "c2": "g7"}


def test_columns_that_come_go_and_are_renamed(engine: Engine, project: int, tmp_path: Path) -> None:
    path = write(tmp_path / "next.csv", [("Rome", "c1", "Anna Berg"), ("", "c9", "Eva")], ("City", "Id", "Customer"))
    with pytest.raises(MissingColumns) as error:
        take_over(engine, project, path)
    assert error.value.missing == ["Nr", "Name"]
    outcome = take_over(engine, project, path, Nr="Id", Name="Customer")
    assert counts_in_words(outcome) == "1 new, 1 changed, 3 gone, 0 the same"
    with reading(engine) as session:
        version = current_list(session, project, Side.LEFT)
        assert version is not None
        assert version.columns == ["City", "Id", "Customer"]
    assert listed(engine, project) == [("c1", ["Rome", "c1", "Anna Berg"]), ("c9", ["", "c9", "Eva"])]
    assert take_over(engine, project, path).change is None  # the new names are remembered


def test_numbered_rows_keep_their_numbers(engine: Engine, numbered: int, tmp_path: Path) -> None:
    ids = {tuple(cells): name for name, cells in listed(engine, numbered)}
    rows = [PEOPLE[3], ("Dora Alt", "5"), PEOPLE[0], PEOPLE[0], ("Bea Stein", "33")]
    outcome = take_over(engine, numbered, write(tmp_path / "next.csv", rows, COLUMNS[1:]))
    names = [name for name, _ in listed(engine, numbered)]
    assert (names[0], names[2], names[4]) == (ids[PEOPLE[3]], ids[PEOPLE[0]], ids[PEOPLE[2]])
    assert len(set(names)) == 5
    assert not {names[1], names[3]} & set(ids.values())
    assert counts_in_words(outcome) == "2 new, 1 changed, 1 gone, 2 the same"
    undo_text_change(engine, numbered)
    take_over(engine, numbered, write(tmp_path / "other.csv", [*PEOPLE, ("Eva Neu", "6")], COLUMNS[1:]))
    after = dict(listed(engine, numbered))
    assert after.keys() - ids.values() and not (after.keys() - ids.values()) & {names[1], names[3]}


PERSON = st.tuples(st.sampled_from("abc"), st.sampled_from("12"))


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(versions=st.lists(st.lists(PERSON, min_size=1, max_size=8), min_size=1, max_size=3))
def test_no_number_is_ever_that_of_another_row(
    engine: Engine, tmp_path: Path, versions: list[list[tuple[str, str]]]
) -> None:
    first = [("a", "1"), ("b", "1"), ("b", "1"), ("x", "9"), ("y", "9")]
    name = f"numbered {uuid4().hex}"
    project_id = project_of(engine, write(tmp_path / f"{name}.csv", first, COLUMNS[1:]), "")
    person_of_number: dict[str, str] = {}
    for version in versions:
        rows = [*version, ("x", "9"), ("y", "9")]
        take_over(engine, project_id, write(tmp_path / "next.csv", rows, COLUMNS[1:]))
        now = listed(engine, project_id)
        assert [cells for _, cells in now] == list(map(list, rows))
        for number, (person, _) in now:
            assert person_of_number.setdefault(number, person) == person


def test_letters_are_read_as_before_unless_unicode(engine: Engine, project: int, tmp_path: Path) -> None:
    with writing(engine) as session:
        version = current_list(session, project, Side.LEFT)
        assert version is not None
        version.format = version.format | {"encoding": "iso8859-2"}
    (tmp_path / "next.csv").write_bytes("\n".join(map(";".join, (COLUMNS, ("c1", "Łukasz", "1")))).encode("iso8859-2"))
    with pytest.raises(InputError, match="too few"):
        take_over(engine, project, tmp_path / "next.csv")
    rows = [("c1", "Łukasz", "1"), ("c2", "Zoë", "2")]
    for encoding in ("iso8859-2", "utf-8"):
        text = "\n".join(map(";".join, (COLUMNS, *rows))).replace("ë", "ë" if encoding == "utf-8" else "e")
        (tmp_path / "next.csv").write_bytes(text.encode(encoding))
        take_over(engine, project, tmp_path / "next.csv")
        assert listed(engine, project)[0][1][1] == "Łukasz"


def test_new_rows_are_counted_shown_first_and_written(engine: Engine, project: int, tmp_path: Path) -> None:
    assert new_version.count_new_rows(engine, project, Side.LEFT) == NewRows(0, 0)
    rows = [*ROWS, ("c5", "Carla Ott", "5"), ("c6", "Dora Alt", "6"), ("c7", "Anna Berg", "7")]
    take_over(engine, project, write(tmp_path / "next.csv", rows))
    with writing(engine) as session:
        session.add(update_of(project))
        for name in ("c4", "c5"):
            session.add(GroupedItem(item_id=item_of(engine, project, name), project_id=project, number=8))
    counted = new_version.count_new_rows(engine, project, Side.LEFT)
    assert counted == NewRows(3, 1)  # nothing is known of how sure its group is; one has the text of an older row
    work = read_group_work(engine, project)
    assert work is not None
    assert [group.number for group in work.open] == [8, 7]
    write_new_list(engine, project, CleanRulesInput(), tmp_path / "new.csv")
    with (tmp_path / "new.csv").open(encoding="utf-8-sig", newline="") as stream:
        head, *written = csv.reader(stream, delimiter=";")
    assert head == [*COLUMNS, "group", "keep", "sure", "kept_id"]
    assert [(row[0], *row[3:5], row[6]) for row in written] == [
        ("c5", "g8", "yes", "c5"),
        ("c6", "", "yes", "c6"),
        ("c7", "g7", "no", "c1"),
    ]


def test_a_project_without_kept_rows_has_no_versions(engine: Engine, tmp_path: Path) -> None:
    project_id = make_project(engine, ["a", "b"])
    with pytest.raises(InputError, match="not kept"):
        new_version.version_file(engine, project_id, write(tmp_path / "next.csv", ROWS), Side.LEFT, {})

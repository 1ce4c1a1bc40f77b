"""Changes of a project's texts: previewed, stored as one act, undone; splits never move, and nothing is half-done."""

import csv
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select, update

from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.labels.export import export_labels
from allpairs.annotate.features.projects.lifecycle import duplicate_project
from allpairs.annotate.features.projects.projects import project_summary
from allpairs.annotate.features.review.disagreements import queue as to_review
from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.features.texts.change_texts import Act, Outcome, TextFile
from allpairs.annotate.kit.jobs import requests
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Side, Split
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import add_decisions, decided_pairs, known_by_decisions
from allpairs.db.identity import identity
from allpairs.db.labels.tasks import batch_progress
from allpairs.db.projects.events import events_of
from allpairs.db.projects.items import items_by_identifier
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Gold, Identifier, Item, Job, Lease, Project, StoredModel, Task, TextChange
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round
from tests.helpers.machine import examples
from tests.helpers.web import answer

NAME = "Questions"
TEXTS = [f"text {at}" for at in range(8)]


@pytest.fixture
def project(engine: Engine) -> int:
    return make_project(engine, TEXTS, evaluation=4, evaluation_share=0.5)


def change(
    engine: Engine, folder: Path, texts: dict[str, str] | list[str], side: Side = Side.LEFT, name: str = NAME
) -> Outcome:
    """Add and change these texts by id, or withdraw these ids."""
    path = folder / "texts.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = (
            [["id", "text"], *map(list, texts.items())] if isinstance(texts, dict) else [["id"], *([x] for x in texts)]
        )
        csv.writer(file).writerows(rows)
    source = TextFile(path, Act.ADD if isinstance(texts, dict) else Act.WITHDRAW, side)
    seen = change_texts.preview_change(engine, name, source)
    stored = change_texts.apply(engine, name, source)
    assert (seen.counts, seen.examples) == (stored.counts, stored.examples)  # a preview says what happens
    return stored


def named(engine: Engine, project_id: int, side: Side = Side.LEFT) -> dict[str, Item]:
    with reading(engine) as session:
        mine = (Identifier.project_id == project_id, Identifier.side == side)
        rows = session.execute(
            select(Identifier.external_id, Item).join(Item, Item.id == Identifier.item_id).where(*mine)
        )
        return dict(rows.tuples().all())


def texts_of(engine: Engine, project_id: int, side: Side = Side.LEFT) -> dict[str, str]:
    return {name: item.text for name, item in named(engine, project_id, side).items()}


def counted(outcome: Outcome) -> dict[str, int]:
    return {kind: count for kind, count in outcome.counts.items() if count}


def test_each_row_is_new_equal_changed_or_the_same(engine: Engine, project: int, tmp_path: Path) -> None:
    rows = {
        "a": "new one",
        "b": " new  one",
        "c": "text 1",
        "left-0": "changed",
        "left-1": "text 2",
        "left-3": "text 3",
    }
    outcome = change(engine, tmp_path, rows)
    assert counted(outcome) == {"new": 2, "equal": 1, "changed": 2, "same": 1}
    assert [(one.before, one.after) for one in outcome.examples["changed"]] == [
        ("text 0", "changed"), ("text 1", "text 2")
    ]  # fmt: skip
    there = named(engine, project)
    assert there["a"].id == there["b"].id and there["left-1"].id == there["left-2"].id
    with reading(engine) as session:
        gone = session.scalars(select(Item.text).where(Item.withdrawn_at.is_not(None))).all()
    assert gone == ["text 0"]  # another id still names "text 1"
    assert project_summary(engine, NAME).contents.count(Side.LEFT) == 9


def test_an_id_is_found_however_its_letters_are_composed(engine: Engine, project: int, tmp_path: Path) -> None:
    composed, decomposed = "Köln", unicodedata.normalize("NFD", "Köln")
    change(engine, tmp_path, {decomposed: "a city"})
    assert counted(change(engine, tmp_path, {composed: "another city"})) == {"changed": 1}
    assert texts_of(engine, project)[decomposed] == "another city"  # the id stays as it came in
    with reading(engine) as session:
        assert composed in items_by_identifier(session, project, Side.LEFT)
    assert counted(change(engine, tmp_path, [composed])) == {"withdrawn": 1}


def test_a_text_that_was_withdrawn_comes_back_as_it_was(engine: Engine, project: int, tmp_path: Path) -> None:
    before = named(engine, project)
    change(engine, tmp_path, ["left-0", "left-7", "nobody"])
    outcome = change(engine, tmp_path, {"x": "text 7", "left-0": "text 0"})
    assert counted(outcome) == {"equal": 2}
    after = named(engine, project)
    assert (after["x"].id, after["left-0"].id) == (before["left-7"].id, before["left-0"].id)
    assert after["x"].split == Split.EVALUATION and after["x"].withdrawn_at is None


def test_a_text_restored_by_undo_counts_from_its_first_arrival(engine: Engine, project: int, tmp_path: Path) -> None:
    change(engine, tmp_path, {"x": "new one"})
    change(engine, tmp_path, ["left-7", "x"])
    change(engine, tmp_path, {"left-7": "text 7", "x": "new one"})
    assert {named(engine, project)[name].added_in for name in ("left-7", "x")} == {3}
    for _ in range(2):
        change_texts.undo_text_change(engine, project)
    assert [named(engine, project)[name].added_in for name in ("left-7", "x")] == [None, 1]


def test_groups_follow_a_change_where_the_settings_say_so(
    engine: Engine, project: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[object, ...]] = []
    monkeypatch.setattr(requests, "enqueue_workflow", lambda engine, job_id, *asked: sent.append(asked))
    with writing(engine) as session:
        session.add(StoredModel(project_id=project, number=1, encoder="any", w=10.0, b=-5.0))
    change(engine, tmp_path, {"new": "a new text"})
    assert sent == []
    with writing(engine) as session:
        row = session.get_one(Project, project)
        row.settings = row.settings | {"keep_groups": True}
    change(engine, tmp_path, {"newer": "a newer text"})
    change(engine, tmp_path, {"newest": "the newest text"})  # the search that still waits will find it
    assert sent == [("matches", project, 1, 0.5, None, "average", "central", "")]
    with writing(engine) as session:
        session.execute(update(Job).values(state="running"))
    change_texts.undo_text_change(engine, project)
    assert len(sent) == 2


def test_unknown_ids_are_counted_and_nothing_is_stored_for_them(engine: Engine, project: int, tmp_path: Path) -> None:
    outcome = change(engine, tmp_path, ["nobody"])
    assert counted(outcome) == {"unknown": 1} and outcome.change is None
    assert change_texts.list_changes(engine, project) == []


def test_the_same_file_again_changes_nothing(engine: Engine, project: int, tmp_path: Path) -> None:
    change(engine, tmp_path, {"a": "one", "left-0": "two"})
    again = change(engine, tmp_path, {"a": "one", "left-0": "two"})
    assert counted(again) == {"same": 2} and again.change is None
    assert [one.number for one in change_texts.list_changes(engine, project)] == [1]


def test_a_changed_text_keeps_its_split_and_a_mixed_one_trains(engine: Engine, project: int, tmp_path: Path) -> None:
    change(
        engine, tmp_path, {"left-0": "was training", "left-7": "was evaluation", "left-1": "mixed", "left-6": "mixed"}
    )
    there = named(engine, project)
    splits = {name: there[name].split for name in ("left-0", "left-7", "left-1")}
    assert splits == {"left-0": Split.TRAIN, "left-7": Split.EVALUATION, "left-1": Split.TRAIN}


def test_new_texts_get_the_share_of_evaluation_also_one_by_one(engine: Engine, project: int, tmp_path: Path) -> None:
    change(engine, tmp_path, {f"a{at}": f"many {at}" for at in range(100)})
    for at in range(60):
        change(engine, tmp_path, {f"b{at}": f"single {at}"})
    there = named(engine, project)
    shares = [sum(item.split == Split.EVALUATION for name, item in there.items() if name[0] == of) for of in "ab"]
    assert shares[0] == 50 and 18 <= shares[1] <= 42


def test_right_texts_of_two_lists_are_in_both_splits(engine: Engine, tmp_path: Path) -> None:
    project = make_project(engine, TEXTS, ["right 0", "right 1"], evaluation=2)
    change(engine, tmp_path, {"left-0": "new", "x": "text 0"}, Side.RIGHT)  # sides have ids and texts of their own
    right = named(engine, project, Side.RIGHT)
    assert {name: item.split for name, item in right.items()} == dict.fromkeys(
        ("right-0", "right-1", "left-0", "x"), Split.SHARED
    )
    assert texts_of(engine, project)["left-0"] == "text 0"


def test_whole_numbers_with_a_point_name_texts_without_one(engine: Engine, tmp_path: Path) -> None:
    project = make_project(engine, TEXTS)
    with writing(engine) as session:
        for identifier in session.scalars(select(Identifier).where(Identifier.project_id == project)):
            identifier.external_id = identifier.external_id.removeprefix("left-")
    change(engine, tmp_path, {"0.0": "another", "99.0": "new"})
    assert {name: text for name, text in texts_of(engine, project).items() if name in ("0", "99", "0.0")} == {
        "0": "another",
        "99": "new",
    }
    assert counted(change(engine, tmp_path, ["1.0"])) == {"withdrawn": 1}
    assert counted(change(engine, tmp_path, {"a": "one", "2.0": "two"})) == {"new": 2}  # not all are numbers


def test_undo_goes_back_one_change_after_the_other(engine: Engine, project: int, tmp_path: Path) -> None:
    states = [texts_of(engine, project)]
    for texts in ({"a": "one", "left-0": "text 1"}, ["left-1", "left-2"], {"left-1": "text 2", "a": "text 0"}):
        change(engine, tmp_path, texts)  # type: ignore[arg-type]
        states.append(texts_of(engine, project))
    for state in reversed(states[:-1]):
        change_texts.undo_text_change(engine, project)
        assert texts_of(engine, project) == state
    with pytest.raises(InputError, match="left to undo"):
        change_texts.undo_text_change(engine, project)
    with reading(engine) as session:
        assert session.scalar(select(func.count()).where(Item.withdrawn_at.is_not(None))) == 1  # "one"
        kinds = [event.kind for event in events_of(session, project, 10)]
    assert kinds == ["change of texts undone"] * 3 + ["texts changed"] * 3


@pytest.mark.parametrize(("rows", "problem"), [
    ("id,text\na,\n", r"texts\.csv, row 2, column 'text': the text is empty"),
    ("id,text\na,b\na,c\n", r"row 3, column 'id': the id 'a' is already in row 2"),
    ("name,text\na,b\n", "column 'id': no such column"),
])  # fmt: skip
def test_a_bad_file_is_refused_with_its_row(
    engine: Engine, project: int, tmp_path: Path, rows: str, problem: str
) -> None:
    path = tmp_path / "texts.csv"
    path.write_text(rows)
    with pytest.raises(InputError, match=problem):
        change_texts.apply(engine, NAME, TextFile(path))
    assert change_texts.list_changes(engine, project) == []


def test_the_last_training_texts_cannot_be_withdrawn(engine: Engine, project: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too few for a pair"):
        change(engine, tmp_path, ["left-0", "left-1", "left-2"])
    assert len(texts_of(engine, project)) == 8  # all or nothing


def test_records_need_their_columns(engine: Engine, project: int, tmp_path: Path) -> None:
    with writing(engine) as session:
        session.get_one(Project, project).text_columns = {"left": ["name", "city"]}
    path = tmp_path / "texts.csv"
    path.write_text("id,name,city\na,Ada,London\n")
    change_texts.apply(engine, NAME, TextFile(path))
    assert named(engine, project)["a"].field_lengths == [3, 6]
    with pytest.raises(InputError, match="2 columns"):
        change_texts.apply(engine, NAME, TextFile(path, columns=Columns("id", ("name",))))


def test_pairs_of_withdrawn_texts_are_asked_no_more(engine: Engine, project: int, tmp_path: Path) -> None:
    make_design(engine, project)
    make_round(engine, project, 3, reserve=2)  # 01 02 03 | 12 13
    make_audit_batch(engine, project, 4)  # of texts 4 to 7
    pairs, _ = serve(engine, project, "ada", 5)
    record(engine, project, "ada", [answer("k", pairs[0].task_id, "positive")])
    change(engine, tmp_path, ["left-1", "left-4"])
    pairs, _ = serve(engine, project, "ada", 5)
    assert [(pair.left, pair.right) for pair in pairs] == [("text 0", "text 2"), ("text 0", "text 3")]
    audits, _ = serve(engine, project, "ada", 5, audit_batch=True)
    assert audits and all("text 4" not in (pair.left, pair.right) for pair in audits)
    with reading(engine) as session:
        progress = batch_progress(session, project)
        positions = session.scalars(select(Task.position).where(Task.round_id == progress.round_id)).all()
        held = session.scalars(select(Lease.task_id)).all()
    assert (progress.size, progress.answered, sorted(positions)) == (3, 1, [0, 1, 2])  # the answered one stays
    assert {pair.task_id for pair in [*pairs, *audits]} == set(held)


def test_answers_on_withdrawn_texts_stay_in_the_record_marked(engine: Engine, project: int, tmp_path: Path) -> None:
    make_round(engine, project, 2)
    pairs, _ = serve(engine, project, "ada", 2)
    record(engine, project, "ada", [answer(f"k{pair.task_id}", pair.task_id, "unsure") for pair in pairs])
    change(engine, tmp_path, ["left-1"])
    assert export_labels(engine, NAME, tmp_path / "labels.csv") == 2
    with (tmp_path / "labels.csv").open(newline="") as file:
        rows = [(row["id1"], row["id2"], row["withdrawn"]) for row in csv.DictReader(file)]
    assert rows == [("left-0", "left-1", "1"), ("left-0", "left-2", "0")]
    assert to_review(engine, project).unsure == 1


def test_a_changed_text_keeps_the_known_pairs_of_its_record(engine: Engine, project: int, tmp_path: Path) -> None:
    with writing(engine) as session:
        ids = items_by_identifier(session, project, Side.LEFT)
        session.add(Gold(project_id=project, left_id=ids["left-0"], right_id=ids["left-1"], positive=True))
    change(engine, tmp_path, {"left-0": "better", "left-1": "better still"})
    there = named(engine, project)
    with reading(engine) as session:
        gold = set(session.execute(select(Gold.left_id, Gold.right_id)).tuples())
    assert (there["left-0"].id, there["left-1"].id) in gold


def test_a_changed_text_keeps_the_decisions_of_its_record(engine: Engine, project: int, tmp_path: Path) -> None:
    with writing(engine) as session:
        ids = items_by_identifier(session, project, Side.LEFT)
        pairs = {(ids["left-0"], ids["left-1"]): True, (ids["left-1"], ids["left-2"]): False}
        add_decisions(session, project, "Ann", "split-1", pairs)
    change(engine, tmp_path, {"left-0": "better", "left-1": "better still"})
    there = {name: item.id for name, item in named(engine, project).items()}
    with reading(engine) as session:
        decisions = decided_pairs(session, project)
        assert decisions[there["left-0"], there["left-1"]] is True
        assert decisions[there["left-2"], there["left-1"]] is False
    change(engine, tmp_path, ["left-1"])  # what it connected stays as it is
    with reading(engine) as session:
        assert known_by_decisions(session, project)[there["left-2"], there["left-0"]] is False


def test_a_copy_has_the_texts_that_are_there(engine: Engine, project: int, tmp_path: Path) -> None:
    change(engine, tmp_path, {"a": "new", "left-0": "changed"})
    copy, _ = duplicate_project(engine, project, labels=True)
    assert texts_of(engine, copy) == texts_of(engine, project)
    with reading(engine) as session:
        assert session.scalar(select(func.count()).where(Item.project_id == copy)) == 9


IDS, WORDS = st.sampled_from("abcde"), st.sampled_from(["u", "v", "w", " w", "x", "y"])
ACTS = st.one_of(
    st.dictionaries(IDS, WORDS, min_size=1),
    st.lists(IDS, min_size=1, unique=True),
    st.just("undo"),
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(ACTS, max_size=8))
def test_ids_name_the_texts_that_a_dict_says(engine: Engine, tmp_path: Path, acts: list[Any]) -> None:
    with writing(engine) as session:
        name = f"P{session.scalar(select(func.count()).select_from(TextChange))}-{id(acts)}"
    project = make_project(engine, ["p", "q", "u", "v"], name=name, evaluation=1, evaluation_share=0.5)
    model = {f"left-{at}": text for at, text in enumerate(["p", "q", "u", "v"])}
    stack: list[dict[str, str]] = []
    splits: dict[int, Split] = {}
    for act in acts:
        if act == "undo":
            if stack:
                change_texts.undo_text_change(engine, project)
                model = stack.pop()
        else:
            wanted = model | act if isinstance(act, dict) else {k: v for k, v in model.items() if k not in act}
            if change(engine, tmp_path, act, name=name).change:
                stack.append(model)
                model = wanted
        there = named(engine, project)
        assert {key: identity(item.text) for key, item in there.items()} == {k: identity(v) for k, v in model.items()}
        with reading(engine) as session:
            items = session.scalars(select(Item).where(Item.project_id == project)).all()
        assert len({identity(item.text) for item in items}) == len(items)
        assert {item.id for item in items if item.withdrawn_at is None} == {item.id for item in there.values()}
        assert all(splits.setdefault(item.id, item.split) == item.split for item in items)

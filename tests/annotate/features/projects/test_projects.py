"""Projects: stored completely or not at all, counted, changed, deleted."""

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.projects.projects import (
    checked_settings,
    create_project,
    delete_project,
    list_projects,
    project_by_name,
    project_summary,
    update_settings,
)
from allpairs.db.corpus.corpus import Corpus, CorpusItem, GoldPair
from allpairs.db.domain import AnswerKind, Kind, Settings, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.projects.items import item_texts, items_by_identifier
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Gold, StoredModel, Task
from allpairs.db.schema.tables import Item as ItemRow
from tests.helpers.factories import first_ids, make_round, row_counts

SETTINGS = Settings(evaluation_share=0.5)


def corpus(n: int = 8, right: int = 0, gold: tuple[GoldPair, ...] = ()) -> Corpus:
    sides = [Side.LEFT] * n + [Side.RIGHT] * right
    items = [CorpusItem((f"{i}", f"{i} too"), side, f"text {i} 🎈 שלום") for i, side in enumerate(sides)]
    return Corpus(Kind.BIPARTITE if right else Kind.SYMMETRIC, items, list(gold))


def test_a_project_is_stored_as_it_was_read(engine: Engine) -> None:
    gold = (GoldPair(0, 1, True), GoldPair(2, 5, False), GoldPair(1, 3, True, True))
    project_id = create_project(engine, " Questions ", corpus(gold=gold), SETTINGS)
    summary = project_summary(engine, "Questions")
    assert (summary.project.id, summary.project.kind, summary.project.rounds) == (project_id, Kind.SYMMETRIC, 0)
    assert summary.contents.items == {(Side.LEFT, Split.TRAIN): 4, (Side.LEFT, Split.EVALUATION): 4}
    assert (summary.contents.gold_positives, summary.contents.gold_negatives) == (2, 1)
    with reading(engine) as session:
        ids = items_by_identifier(session, project_id, Side.LEFT)
        stored = {(pair.left_id, pair.right_id, pair.positive, pair.closure) for pair in session.scalars(select(Gold))}
        texts = item_texts(session, ids.values())
        names = first_ids(session, ids.values())
    assert stored == {(ids[str(pair.left)], ids[f"{pair.right} too"], *pair[2:]) for pair in gold}
    assert all(left < right for left, right, *_ in stored)
    assert [texts[ids[f"{i}"]] for i in range(8)] == [item.text for item in corpus().items]
    assert [names[ids[f"{i} too"]] for i in range(8)] == [f"{i}" for i in range(8)]


def test_a_bipartite_project_shares_its_right_side(engine: Engine) -> None:
    create_project(engine, "Products", corpus(4, 3), SETTINGS)
    contents = project_summary(engine, "Products").contents
    assert contents.items[Side.RIGHT, Split.SHARED] == 3
    assert (contents.count(Side.LEFT), contents.count(Side.RIGHT)) == (4, 3)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\nb", "a\u202eb"])
def test_names_that_cannot_be_shown_are_refused(engine: Engine, name: str) -> None:
    with pytest.raises(InputError, match="the project's name"):
        create_project(engine, name, corpus(), SETTINGS)
    assert row_counts(engine)["projects"] == 0


def test_a_name_that_is_taken_is_refused_and_nothing_stored(engine: Engine) -> None:
    create_project(engine, "Questions", corpus(), SETTINGS)
    before = row_counts(engine)
    with pytest.raises(InputError, match="'Questions' exists already"):
        create_project(engine, "Questions ", corpus(), SETTINGS)
    assert row_counts(engine) == before


def test_a_crash_in_the_middle_leaves_nothing(engine: Engine) -> None:
    items = [CorpusItem((f"{i}",), Side.LEFT, f"text {i}", Split.TRAIN) for i in range(8)]
    with pytest.raises(IndexError):
        create_project(engine, "Questions", Corpus(Kind.SYMMETRIC, items, [GoldPair(0, 99, True)]), SETTINGS)
    assert not any(count for table, count in row_counts(engine).items() if table != "alembic_version")


@pytest.mark.parametrize(("n", "right"), [(2, 0), (1, 0)])
def test_a_split_without_training_pairs_is_refused(engine: Engine, n: int, right: int) -> None:
    with pytest.raises(InputError, match="too few for a pair"):
        create_project(engine, "Small", corpus(n, right), Settings(evaluation_share=0.6))


def test_a_given_split_is_kept_and_its_share_stored(engine: Engine) -> None:
    items = [CorpusItem((str(i),), Side.LEFT, f"t{i}", Split.EVALUATION if i < 1 else Split.TRAIN) for i in range(4)]
    create_project(engine, "Split", Corpus(Kind.SYMMETRIC, items, []), Settings(evaluation_share=0.7))
    summary = project_summary(engine, "Split")
    assert summary.contents.items == {(Side.LEFT, Split.TRAIN): 3, (Side.LEFT, Split.EVALUATION): 1}
    assert summary.project.settings.evaluation_share == 0.25


def test_projects_are_listed_newest_first_with_their_labels(engine: Engine) -> None:
    first = create_project(engine, "First", corpus(), SETTINGS)
    create_project(engine, "Second", corpus(), SETTINGS)
    make_round(engine, first, 3)
    with writing(engine) as session:
        tasks = session.scalars(select(Task).order_by(Task.position)).all()
        for task, answer in zip(tasks, (AnswerKind.POSITIVE, AnswerKind.UNSURE, AnswerKind.SKIP), strict=True):
            ids = {"task_id": task.id, "left_id": task.left_id, "right_id": task.right_id}
            session.add(Answer(project_id=first, annotator="me", answer=answer, key=f"k{task.id}", **ids))
    listed = list_projects(engine)
    assert [found.name for found in listed] == ["Second", "First"]
    assert (listed[1].rounds, listed[1].answers) == (1, {AnswerKind.POSITIVE: 1, AnswerKind.UNSURE: 1})


def test_an_unknown_project_is_named_with_those_there_are(engine: Engine) -> None:
    with pytest.raises(InputError, match="named 'Nope'"):
        project_by_name(engine, "Nope")
    create_project(engine, "Questions", corpus(), SETTINGS)
    with pytest.raises(InputError, match="'Nope'; the projects are 'Questions'"):
        project_summary(engine, "Nope")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"first": 1, "growth": 0.5}, "first: .* not 1; growth: .* not 0.5"),
        ({"strategy": "guessing"}, "'guessing'.* choose uncertainty"),
        ({"strategy": "stratified-match"}, "'stratified-match'; choose uncertainty"),
        ({"strategy": "stated"}, "'stated'; choose uncertainty"),
        ({"distance": "l2", "pooling": "cls"}, "pooling, distance: only for simulations"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_settings_are_refused_in_one_line(values: dict[str, object], expected: str) -> None:
    with pytest.raises(InputError, match=expected) as caught:
        checked_settings(values)
    assert "\n" not in str(caught.value)


def test_settings_change_but_the_split_stays(engine: Engine) -> None:
    project_id = create_project(engine, "Questions", corpus(), SETTINGS)
    update_settings(engine, project_id, SETTINGS.model_copy(update={"first": 7}))
    assert project_by_name(engine, "Questions").settings.first == 7
    with pytest.raises(InputError, match=r"share must stay 0\.5"):
        update_settings(engine, project_id, SETTINGS.model_copy(update={"evaluation_share": 0.1}))
    with pytest.raises(InputError, match="no project number 99"):
        update_settings(engine, 99, SETTINGS)


def test_a_deleted_project_leaves_the_others_alone(engine: Engine) -> None:
    gold = (GoldPair(0, 1, True),)
    kept = create_project(engine, "Kept", corpus(gold=gold), SETTINGS)
    before = row_counts(engine)
    gone = create_project(engine, "Gone", corpus(gold=gold), SETTINGS)
    make_round(engine, gone, 2)
    with writing(engine) as session:
        session.add(StoredModel(project_id=gone, number=1, folder="m1", encoder="tiny", w=1.0, b=0.0))
    (artifacts() / "m1").mkdir(parents=True)
    delete_project(engine, gone)
    assert row_counts(engine) == before | {"events": before["events"] + 1}  # that it was removed stays
    assert not (artifacts() / "m1").exists()
    assert [found.id for found in list_projects(engine)] == [kept]


def test_a_corpus_larger_than_a_chunk_is_stored_in_order(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allpairs.db.projects.items.CHUNK", 3)
    project_id = create_project(engine, "Questions", corpus(10), SETTINGS)
    with reading(engine) as session:
        stored = session.scalars(select(ItemRow.text).order_by(ItemRow.id)).all()
        names = first_ids(session, items_by_identifier(session, project_id, Side.LEFT).values())
    assert stored == [item.text for item in corpus(10).items]
    assert len(names) == 10


@pytest.mark.slow
def test_a_million_items_can_be_stored(engine: Engine) -> None:
    items = [CorpusItem((str(i),), Side.LEFT, f"text {i}", Split.TRAIN) for i in range(1_000_000)]
    create_project(engine, "Million", Corpus(Kind.SYMMETRIC, items, []), Settings(evaluation_share=0))
    assert project_summary(engine, "Million").contents.count(Side.LEFT) == 1_000_000

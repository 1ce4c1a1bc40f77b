"""An imported project continues like the original: it trains, measures by audit labels, previews and matches."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.label.own_answers import correct, history
from allpairs.annotate.features.projects.projects import delete_project, list_projects, project_by_name, update_settings
from allpairs.db.domain import AnswerKind, DesignKind, Settings, version_of
from allpairs.db.labels.labels import history_rows
from allpairs.db.projects.events import events_of
from allpairs.db.projects.jobs import MATCHES, add_job
from allpairs.db.projects.matchers import matchers_of
from allpairs.db.results.matches import read_matches
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Design, Evaluation, Item, StoredModel
from allpairs.learner.jobs import matches
from allpairs.learner.jobs.audit.designs import read_designs
from allpairs.learner.jobs.data.project_data import read_labels, read_project, with_implied
from allpairs.learner.light.groups.grouping import USUAL
from tests.helpers.factories import make_design, make_project
from tests.helpers.projects.rounds import answer_batch, half, newest, run, texts
from tests.helpers.tiny import tiny_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("archive"), texts())


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    """Return a project without known pairs, after a trained round, with audit tasks in its batches."""
    make_project(engine, ["takes", "the first", "ids"], name="First")
    project_id = make_project(
        engine, texts(), name="Questions", evaluation=12, encoder=str(encoder),
        first=8, neighbours=10, epochs=1, audit_every=2, lexical=True, hubness=0.25,
    )  # fmt: skip
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    return project_id


def evaluations(engine: Engine, project_id: int) -> list[tuple[int, dict[str, object]]]:
    with reading(engine) as session:
        rows = select(StoredModel.number, Evaluation.audit).join(Evaluation).where(StoredModel.project_id == project_id)
        return [(number, dict(audit)) for number, audit in session.execute(rows.order_by(StoredModel.number))]


def moved(engine: Engine, project_id: int, archive: Path, models: bool = True) -> int:
    """Move the project to another installation, deleting the original with all files, and return the copy's id."""
    encoder = project_by_name(engine, "Questions").settings.encoder
    export_project(engine, "Questions", archive, models=models)
    delete_project(engine, project_id)
    return import_project(engine, archive, encoder=encoder).project_id


def test_an_imported_project_trains_measures_and_matches(engine: Engine, project: int, tmp_path: Path) -> None:
    before = evaluations(engine, project)
    with reading(engine) as session:
        order = read_designs(session, project, read_project(session, project))[0].order
    new = moved(engine, project, tmp_path / "one.zip")
    assert evaluations(engine, new) == before
    with reading(engine) as session:
        items = select(Item.id).where(Item.project_id == new)
        ids = np.array(session.scalars(items).all())
        kept = read_designs(session, new, read_project(session, new))[0].order
        assert len(kept.left) == len(order.left) and np.isin(kept.left, ids).all() and np.isin(kept.right, ids).all()
    run(engine, new)
    batch, tasks = newest(engine, new)
    assert batch.number == 3 and {task.project_id for task in tasks} == {new}
    assert [number for number, _ in evaluations(engine, new)] == [0, 1, 2]
    with reading(engine) as session:
        labels = {number: audit["labels"] for number, audit in evaluations(engine, new)}
        assert len(set(labels.values())) == 1 and next(iter(labels.values())) > 0  # every model, on every audit label
        assert session.scalars(select(Design).where(Design.project_id == new, Design.kind == DesignKind.AUDIT)).all()
    with writing(engine) as session:
        job_id = add_job(session, new, MATCHES).id
    matches.find_matches(job_id, new, 1, 0.3, None, *USUAL.words)  # under the model that came along
    assert read_matches(new) is not None


def test_an_entity_audit_names_the_new_items(engine: Engine, project: int, tmp_path: Path) -> None:
    with reading(engine) as session:
        one, other = session.scalars(select(Item).where(Item.project_id == project).limit(2)).all()
    make_design(engine, project, DesignKind.ENTITIES, sample=[[other.id, one.id, 0]], weights=[3.0])
    new = moved(engine, project, tmp_path / "one.zip")
    with reading(engine) as session:
        mine = Design.project_id == new, Design.kind == DesignKind.ENTITIES
        left, right, band = session.scalars(select(Design).where(*mine)).one().details["sample"][0]
        kept = [session.get_one(Item, item) for item in (left, right)]
    assert [item.text for item in kept] == [other.text, one.text] and band == 0
    assert {item.project_id for item in kept} == {new}


def test_a_project_without_its_models_trains_again(engine: Engine, project: int, tmp_path: Path) -> None:
    before = evaluations(engine, project)
    new = moved(engine, project, tmp_path / "one.zip", models=False)
    run(engine, new)
    after = evaluations(engine, new)
    assert [number for number, _ in after] == [0, 1, 2]
    assert after[1] == before[1]  # the figures that came along, of a model that did not
    assert newest(engine, new)[0].number == 3


def training_sets(engine: Engine, project_id: int) -> dict[int, list[list[int]]]:
    """Return each round's training data: rows of both texts (in item order), and the label."""
    with reading(engine) as session:
        data = read_project(session, project_id)
        found = {}
        for matcher in matchers_of(session, project_id):
            labelled = with_implied(read_labels(session, project_id, data, matcher.cutoff), data)
            found[matcher.number] = np.column_stack([labelled.left, labelled.right, labelled.label]).tolist()
    return found


def figures(engine: Engine, project_id: int) -> list[tuple[object, ...]]:
    """Return all figures of each round, and its training data, in numbers."""
    measured = (Evaluation.pairs, Evaluation.positives, Evaluation.estimates, Evaluation.curve, Evaluation.histogram)
    columns = (
        StoredModel.number,
        StoredModel.w,
        StoredModel.b,
        StoredModel.labels,
        StoredModel.positives,
        *measured,
        Evaluation.audit,
    )
    with reading(engine) as session:
        rows = session.execute(select(*columns).join(Evaluation).where(StoredModel.project_id == project_id))
        return sorted((tuple(row) for row in rows), key=lambda row: row[0])


def past(engine: Engine, project_id: int) -> list[tuple[object, ...]]:
    """Return every answer with all its columns, and every event."""
    with reading(engine) as session:
        rows = [
            (row.annotator, row.answer, row.created_at, row.note, row.guidelines, row.round, row.model, row.counts)
            for row in history_rows(session, project_id)
        ]
        events = [
            (one.who, one.kind, one.about, one.old, one.new, one.at) for one in events_of(session, project_id, 99)
        ]
    return [*rows, *events]


def test_a_restored_project_has_the_same_figures_and_history(engine: Engine, project: int, tmp_path: Path) -> None:
    run(engine, project)
    settings = Settings.model_validate(list_projects(engine)[0].settings.model_dump() | {"implied": True})
    update_settings(engine, project, settings.model_copy(update={"guidelines": "Dates count."}))
    newest_answer = history(engine, project, "ann", 1).answers[0].answer
    correct(engine, project, "ann", newest_answer.id, AnswerKind.UNSURE, "looked at again")
    correct(engine, project, "ann", newest_answer.id, AnswerKind.RETRACT)
    before = training_sets(engine, project), figures(engine, project), past(engine, project)
    assert [number for number, labels in before[0].items() if labels] == [2, 1]
    assert len(before[0][2]) > len(before[0][1])
    assert {row[4] for row in before[2][:-1]} >= {None, version_of("Dates count.")}
    new = moved(engine, project, tmp_path / "one.zip")
    arrived = past(engine, new)
    assert arrived.pop(-2)[4] == {"archive": "one.zip"}  # the newest event: that it came
    assert (training_sets(engine, new), figures(engine, new), arrived) == before

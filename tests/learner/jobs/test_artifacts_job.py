"""A round with its files on S3: one worker's results are used by an app and a second worker on other machines."""

from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine, update

from allpairs.annotate.features.archives.backups import back_up, bring_back
from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.label.pair_reason import read_score
from allpairs.annotate.features.projects.lifecycle import holdings
from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.features.publish.model_export import matcher_archive
from allpairs.annotate.kit.jobs.prepared import prepared_best_pairs, rounds_of
from allpairs.db.files.artifacts import publish_files, store
from allpairs.db.maintenance.integrity import problems
from allpairs.db.progress import no_progress
from allpairs.db.schema.engine import artifacts, database_url, writing
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs import next_round as steps
from allpairs.learner.jobs.explore import prepare
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import make_measured_project, write_model_folder
from tests.helpers.projects.rounds import answer_batch, half, matcher_of, newest, run, start, texts
from tests.helpers.tiny import tiny_encoder

Move = Callable[[str], None]


@pytest.fixture
def move(s3: dict[str, str], engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Move:
    """Return a function that moves to another machine: the same database and store, a new home."""
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ALLPAIRS_ARTIFACTS", f"s3://bucket/{tmp_path.name}")
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", database_url())
    return lambda machine: monkeypatch.setenv("ALLPAIRS_HOME", str(tmp_path / machine))


def test_a_round_goes_on_elsewhere_and_the_app_has_its_model(
    engine: Engine, move: Move, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = str(tiny_encoder(tmp_path, texts()))
    project_id = make_project(engine, texts(), evaluation=10, encoder=encoder, first=8, neighbours=10, epochs=1)
    run(engine, project_id)
    answer_batch(engine, project_id, half)

    job_id = start(engine, project_id)  # on the first machine, until it is lost
    plan = steps.make_plan(project_id)
    plan["training"] = steps.train_matcher(job_id, project_id, plan)
    plan |= steps.encode_items(job_id, project_id, plan)
    move("worker-2")
    matcher_id = steps.evaluate_matcher(job_id, project_id, plan)
    steps.audit_models(job_id, project_id, plan, matcher_id)
    steps.make_batch(job_id, project_id, plan, matcher_id)
    tasks = answer_batch(engine, project_id, half)
    prepare(start(engine, project_id), project_id, 1)

    move("app")
    first = matcher_of(engine, 1)
    with matcher_archive("p", first, "# Card") as path, ZipFile(path) as bundle:
        assert {"p-round-1/model.safetensors", "p-round-1/matcher.json"} <= set(bundle.namelist())
    known = newest(engine, project_id)[1][0]
    assert read_score(first, known.left_id, known.right_id) is None  # nobody had labelled it
    explored = next(one for one in rounds_of(engine, project_id) if one.exploration is not None)
    assert explored.exploration and len(prepared_best_pairs(explored)) == explored.exploration.kept
    assert holdings(engine, project_id).folder_bytes > 100_000
    assert list(problems(engine)) == []

    move("worker-3")
    run(engine, project_id)  # trains on from there, and scores what is labelled by then
    second = matcher_of(engine, 2)
    assert read_score(second, tasks[0].left_id, tasks[0].right_id) is not None
    there = store()
    assert there is not None
    assert not [name for name in there.names(f"project-{project_id}/{job_id}") if "vectors" in name]


def test_archives_and_back_ups_go_into_a_store_and_out_of_it(
    engine: Engine, move: Move, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: Callable[[str], Engine]
) -> None:
    project_id = make_measured_project(engine, "Questions", rounds=2)
    folder = f"project-{project_id}/job/model"
    with writing(engine) as session:
        session.execute(update(StoredModel).where(StoredModel.number == 1).values(folder=folder))
    publish_files(write_model_folder(artifacts().parent, folder))
    move("app")
    exported = export_project(engine, "Questions", tmp_path / "p.zip")
    assert (exported.models, exported.missing) == ([1], [])
    delete_project(engine, project_id)
    there = store()
    assert there is not None and there.names() == []
    copy_id = import_project(engine, tmp_path / "p.zip").project_id
    model = f"project-{copy_id}/round-1/model"
    assert there.names() == [model]

    move("app-2")
    back_up(engine, tmp_path / "kept", True, no_progress)
    monkeypatch.delenv("ALLPAIRS_ARTIFACTS")
    monkeypatch.delenv("ALLPAIRS_DATABASE_URL")
    other = elsewhere("other")
    bring_back(other, tmp_path / "kept", False, no_progress)
    assert list(problems(other)) == [] and (artifacts() / model / "matcher.json").is_file()
    monkeypatch.setenv("ALLPAIRS_ARTIFACTS", f"s3://bucket/{tmp_path.name}-anew")
    assert len(list(problems(other))) == 1  # the folder is not in this store
    publish_files(write_model_folder(artifacts().parent, "project-99/base-1/model"))  # what the back-up does not have
    bring_back(other, tmp_path / "kept", True, no_progress)
    move("app-3")
    assert list(problems(other)) == []
    assert (there := store()) is not None and there.names() == [model]

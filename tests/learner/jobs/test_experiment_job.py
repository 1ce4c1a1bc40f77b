"""The job `experiment`: the project's data as files, and the grid run on them."""

import itertools
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.experiments.experiments import compared_encoders
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.kit.uploads import Source, load
from allpairs.db.corpus.corpus import Columns, load_corpus
from allpairs.db.corpus.split import read_split
from allpairs.db.domain import AnswerKind, Kind, Settings, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import EXPERIMENT, add_job
from allpairs.db.results.experiments import experiment_folder, read_stored
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Gold, Item, Job, Task
from allpairs.learner.experiment.cell import load_split_corpus
from allpairs.learner.experiment.spec import Files, files_digest
from allpairs.learner.jobs import experiment as steps
from allpairs.learner.jobs.data.experiment_files import write_project_files
from allpairs.learner.jobs.data.project_data import read_project
from allpairs.learner.loop.corpus_dataset import dataset_of
from tests.helpers.factories import make_project, make_round
from tests.helpers.projects.rounds import answer
from tests.helpers.tiny import tiny_encoder

TEXTS = [f'topic{i % 6} "word{i % 7}", word{i % 5}\nline {i}' for i in range(30)]


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    return str(tiny_encoder(tmp_path, TEXTS))


@pytest.fixture
def project(engine: Engine) -> int:
    """Return 30 texts, the last 12 for evaluation; texts of one topic match, every third pair of them by closure."""
    project_id = make_project(engine, TEXTS, evaluation=12, name="Quora (2017): ä")
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)).all()
        for i, j in itertools.combinations(range(30), 2):
            same_part = (i < 18) == (j < 18)
            if same_part and (i - j) % 6 == 0:
                closed = j - i > 6
                session.add(
                    Gold(project_id=project_id, left_id=items[i], right_id=items[j], positive=True, closure=closed)
                )
        session.add(Gold(project_id=project_id, left_id=items[0], right_id=items[1], positive=False))
    return project_id


def gold_of(engine: Engine, project_id: int) -> set[tuple[str, str, bool]]:
    with reading(engine) as session:
        return {
            (str(gold.left_id), str(gold.right_id), gold.positive)
            for gold in session.scalars(select(Gold).where(Gold.project_id == project_id))
        }


def test_the_files_hold_what_the_project_holds(engine: Engine, project: int, tmp_path: Path) -> None:
    with reading(engine) as session:
        files = write_project_files(session, project, tmp_path / "data")
    corpus = read_split(Path(files["split"]), load_corpus(Path(files["left"]), None, Path(files["gold"])))
    assert (corpus.kind, [item.text for item in corpus.items]) == (Kind.SYMMETRIC, TEXTS)
    assert [item.split for item in corpus.items] == [Split.TRAIN] * 18 + [Split.EVALUATION] * 12
    ids = [item.ids[0] for item in corpus.items]
    assert {(ids[pair.left], ids[pair.right], pair.positive) for pair in corpus.gold} == gold_of(engine, project)


def test_two_lists_stay_two(engine: Engine, tmp_path: Path) -> None:
    project_id = make_project(engine, ["a", "b", "c"], right=["a", "x"], evaluation=1)
    with writing(engine) as session:
        items = session.scalars(select(Item).where(Item.project_id == project_id).order_by(Item.id)).all()
        session.add(Gold(project_id=project_id, left_id=items[2].id, right_id=items[3].id, positive=True))
        session.flush()
        files = write_project_files(session, project_id, tmp_path / "data")
    paths = {name: Path(path) for name, path in files.items()}
    corpus = read_split(paths["split"], load_corpus(paths["left"], paths["right"], paths["gold"]))
    assert [(item.text, item.side, item.split) for item in corpus.items] == [
        ("a", Side.LEFT, Split.TRAIN), ("b", Side.LEFT, Split.TRAIN), ("c", Side.LEFT, Split.EVALUATION),
        ("a", Side.RIGHT, Split.SHARED), ("x", Side.RIGHT, Split.SHARED),
    ]  # fmt: skip
    assert [(pair.left, pair.right) for pair in corpus.gold] == [(2, 3)]


def test_records_keep_their_columns(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("key,id,price\n" + "".join(f"k{i},part {i} of it,{i}.50\n" for i in range(6)))
    (tmp_path / "b.csv").write_text("key,name,price\n" + "".join(f"k{i},part {i},9\n" for i in range(3)))
    (tmp_path / "gold.csv").write_text("id1,id2,label\nk0,k0,1\n")
    source = Source(
        tmp_path / "a.csv", Columns("key", ("id", "price")), tmp_path / "b.csv", Columns("key", ("name", "price")),
        tmp_path / "gold.csv",
    )  # fmt: skip
    project_id = create_project(engine, "Parts", load(source), Settings(evaluation_share=0.3))
    with reading(engine) as session:
        files = Files(**write_project_files(session, project_id, tmp_path / "data"))
        wanted = read_project(session, project_id).dataset
    dataset = dataset_of(load_split_corpus(files))
    assert (dataset.texts, dataset.fields) == (wanted.texts, wanted.fields)
    assert dataset.fields[0].name == "id / name" and dataset.texts[0] == "part 0 of it"
    assert files_digest(files) != files_digest(files.model_copy(update={"columns": None}))


def start(engine: Engine, project_id: int) -> str:
    with writing(engine) as session:
        return add_job(session, project_id, EXPERIMENT).id


def definition(encoder: str, **changes: Any) -> dict[str, Any]:
    settings = {"encoder": encoder, "first": 8, "neighbours": 10, "epochs": 1}
    rows = [{"name": "uncertainty", "strategy": "uncertainty"}]
    return {"name": "Small", "seeds": [0], "rounds": 2, "settings": settings, "rows": rows} | changes


def test_the_job_leaves_results_and_says_how_far_it_is(engine: Engine, project: int, encoder: str) -> None:
    job_id = start(engine, project)
    datasets = steps.write_files(job_id, project)
    assert list(datasets) == ["Quora 2017"]
    whole = {**definition(encoder), "datasets": datasets}
    assert steps.run_experiment(job_id, whole) == "1 of 1 runs done"
    stored = read_stored(job_id)
    assert stored is not None
    assert (stored.name, [(run.row, run.state) for run in stored.runs]) == ("Small", [("uncertainty", "done")])
    assert "AP on Quora 2017 | 8 labels | 20 labels" in (experiment_folder(job_id) / "report.md").read_text()
    with reading(engine) as session:
        stage = session.get_one(Job, job_id).stage
    assert "uncertainty seed 0: round" in stage
    # Again, as after a crash between the steps: what is finished stays.
    mark = next(experiment_folder(job_id).rglob("done.json"))
    before = mark.stat().st_mtime_ns
    assert steps.write_files(job_id, project) == datasets
    assert steps.run_experiment(job_id, whole) == "1 of 1 runs done"
    assert mark.stat().st_mtime_ns == before


def test_encoders_are_compared_on_the_labels_that_train(engine: Engine, project: int, encoder: str) -> None:
    round_id = make_round(engine, project, 40)
    with reading(engine) as session:
        tasks = session.scalars(select(Task).where(Task.round_id == round_id).order_by(Task.id)).all()
    for at, task in enumerate(tasks):
        answer(engine, task, (AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE)[at % 3])
    rows = [{"name": name, "kind": "encoder", "backbone": encoder} for name in ("one", "same")]
    job_id = start(engine, project)
    datasets = steps.write_files(job_id, project, True)
    labels = pq.read_table(datasets["Quora 2017"]["labels"]).to_pylist()
    with reading(engine) as session:
        split = {item.id: item.split for item in session.scalars(select(Item))}
    trained = [
        task
        for at, task in enumerate(tasks)
        if at % 3 < 2 and split[task.left_id] == split[task.right_id] == Split.TRAIN
    ]
    assert {(row["id1"], row["id2"]) for row in labels} == {(str(task.left_id), str(task.right_id)) for task in trained}
    assert steps.run_experiment(job_id, {**definition(encoder, rows=rows), "datasets": datasets}) == "2 of 2 runs done"
    one, other = compared_encoders(job_id)
    assert one.labels_ap == other.labels_ap and {one.row, other.row} == {"one", "same"}
    assert "+0.000 (+0.000 to +0.000)" in (experiment_folder(job_id) / "report.md").read_text()


def test_a_job_without_a_finished_run_fails_with_the_reason(engine: Engine, project: int) -> None:
    job_id = start(engine, project)
    with pytest.raises(InputError, match=r"no run of Small .*\./gone"):
        steps.run_experiment(job_id, {**definition("./gone"), "datasets": steps.write_files(job_id, project)})
    stored = read_stored(job_id)
    assert stored is not None and stored.runs[0].state == "failed"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Quora", "Quora"), ("Fragen (ä) 2", "Fragen 2"), ("../up", "up"), ("問い", "project"), ("a" * 80, "a" * 60)],
)
def test_a_projects_name_becomes_a_data_sets(name: str, expected: str) -> None:
    assert steps.as_file_name(name) == expected

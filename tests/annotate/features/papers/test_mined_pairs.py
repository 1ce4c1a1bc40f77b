"""How a project uses a run's results: labels, a sample to label, an encoder, downloads."""

import json
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from itertools import combinations
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from sqlalchemy import Engine, select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from allpairs.annotate.features.download.routes import made_address, routes
from allpairs.annotate.features.experiments.adopt_encoder import plan_encoder, use_encoder
from allpairs.annotate.features.label.queue import ask_if_due, audit_batch_of, record, serve
from allpairs.annotate.features.papers.mined_pairs import plan_use, read_mined, take_back, use_as_training, used
from allpairs.annotate.features.papers.mined_sample import bands_of, put_up
from allpairs.annotate.features.papers.runs import delete_run, outputs_of, run_output
from allpairs.annotate.features.projects.lifecycle import BIN_TIME, bin_project, empty_bin
from allpairs.annotate.features.projects.projects import delete_project, update_settings
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import AnswerKind, DesignKind, Purpose, Settings
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import current_labels, own_answers
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.tasks import newest_audit_batch
from allpairs.db.results.pipelines import pipeline_folder, results_folder
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Design, Item, Job, Project, Task, now
from allpairs.learner.jobs.data.project_data import read_labels, read_project
from allpairs.learner.light.stats.precision_by_rank import precision
from tests.helpers.factories import make_audit_batch, make_design, make_project
from tests.helpers.figures.measured import add_job
from tests.helpers.projects.pipelines import NAME, finished_run

POSITIVE, NEGATIVE, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE
PAIRS, BIENCODER, CROSSENCODER = 0, 1, 2  # places among what a run made
BANDS = [(1, 100), (101, 250), (251, 300)]


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, [f"text {i}" for i in range(30)], evaluation=4, auto_train=False)


@pytest.fixture
def pairs(engine: Engine, project: int) -> list[Pair]:
    """Return the pairs that the run `r` of the project mined: 300 of training items, best first."""
    with reading(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
    found = list(combinations(items[:26], 2))[:300]
    finished_run(engine, project, "r", found)
    return found


def labels(engine: Engine, project_id: int) -> dict[Pair, tuple[AnswerKind, str]]:
    with reading(engine) as session:
        found = current_labels(session, project_id)
    return {(one.left_id, one.right_id): (one.answer, one.annotator) for one in found}


def sample(engine: Engine, project_id: int) -> list[Task]:
    """Return the tasks of the newest audit batch."""
    with reading(engine) as session:
        audit_batch = newest_audit_batch(session, project_id)
        assert audit_batch is not None
        return list(session.scalars(select(Task).where(Task.round_id == audit_batch.id).order_by(Task.position)))


def answer(engine: Engine, tasks: Sequence[Task], kind: AnswerKind) -> None:
    events = [{"key": f"k{task.id}-{kind}", "task_id": task.id, "answer": kind} for task in tasks]
    receipt = record(engine, tasks[0].project_id, "ann", events)
    assert not receipt.refused


def draw(engine: Engine, project: int, n: int, seed: int = 0) -> int:
    return put_up(engine, project, "r", PAIRS, n, np.random.default_rng(seed))


def test_the_best_pairs_become_labels_that_train(engine: Engine, project: int, pairs: list[Pair]) -> None:
    assert plan_use(engine, project, "r", PAIRS, 10).new == pairs[:10]
    assert use_as_training(engine, project, "r", PAIRS, 10) == 10
    assert labels(engine, project) == dict.fromkeys(pairs[:10], (POSITIVE, NAME))
    with reading(engine) as session:
        data = read_project(session, project)
        assert len(read_labels(session, project, data, 10**6).left) == 10
        assert len(own_answers(session, project, NAME, 50)) == 10  # what the page “My answers” lists
    assert plan_use(engine, project, "r", PAIRS, 12).new == pairs[10:12]
    with pytest.raises(InputError, match="already labelled"):
        use_as_training(engine, project, "r", PAIRS, 10)
    assert used(engine, project, "r") == 10
    assert take_back(engine, project, "r") == 10
    assert labels(engine, project) == {} and used(engine, project, "r") == 0
    assert use_as_training(engine, project, "r", PAIRS, 3) == 3  # and again


def test_a_sample_is_drawn_in_bands_and_labels_give_precision(engine: Engine, project: int, pairs: list[Pair]) -> None:
    assert bands_of(engine, project, "r", PAIRS) == []
    assert draw(engine, project, 60) == 60
    tasks = sample(engine, project)
    rank = {pair: place for place, pair in enumerate(pairs, start=1)}
    assert Counter(task.stratum for task in tasks) == {0: 20, 1: 20, 2: 20}
    for task in tasks:
        assert task.stratum is not None
        first, last = BANDS[task.stratum]
        assert first <= rank[task.left_id, task.right_id] <= last
        assert task.inclusion == pytest.approx(20 / (last - first + 1))
        assert (task.purpose, task.strategy) == (Purpose.TRAIN, DesignKind.MINED)
    assert [task.stratum for task in tasks] != sorted(task.stratum or 0 for task in tasks)  # in an order by chance
    for place, n in enumerate((19, 10, 4)):
        mine = [task for task in tasks if task.stratum == place]
        answer(engine, mine[:n], POSITIVE)
        answer(engine, mine[n:], NEGATIVE)
    bands = bands_of(engine, project, "r", PAIRS)
    assert [(band.first, band.last) for band in bands] == BANDS
    assert [(band.drawn, band.positives, band.negatives) for band in bands] == [(20, 19, 1), (20, 10, 10), (20, 4, 16)]
    whole = precision(bands)
    assert whole is not None and whole.value == pytest.approx((100 * 0.95 + 150 * 0.5 + 50 * 0.2) / 300)


def test_a_draw_goes_on_where_the_last_one_ended(engine: Engine, project: int, pairs: list[Pair]) -> None:
    draw(engine, project, 30)
    first = sample(engine, project)
    with pytest.raises(InputError, match="30 unlabelled pairs"):
        draw(engine, project, 30)
    answer(engine, first[:-1], POSITIVE)
    answer(engine, first[-1:], UNSURE)
    draw(engine, project, 30, seed=1)
    second = sample(engine, project)
    assert not {(t.left_id, t.right_id) for t in first} & {(t.left_id, t.right_id) for t in second}
    assert {task.stratum: task.inclusion for task in second} == pytest.approx({0: 20 / 100, 1: 20 / 150, 2: 20 / 50})
    bands = bands_of(engine, project, "r", PAIRS)
    assert [band.drawn for band in bands] == [20, 20, 20]
    assert sum(band.positives for band in bands) == 29 and sum(band.unsure for band in bands) == 1
    answer(engine, second, NEGATIVE)
    assert draw(engine, project, 1000) == 240
    answer(engine, sample(engine, project), NEGATIVE)
    with pytest.raises(InputError, match="already in a sample"):
        draw(engine, project, 10)


def test_labelled_pairs_count_and_are_not_asked_again(engine: Engine, project: int, pairs: list[Pair]) -> None:
    draw(engine, project, 300)
    tasks = sample(engine, project)
    answer(engine, tasks[:100], POSITIVE)
    with writing(engine) as session:  # as if the sample had never been drawn
        session.query(Design).filter(Design.project_id == project).delete()
    draw(engine, project, 300)
    assert sum(band.positives for band in bands_of(engine, project, "r", PAIRS)) == 100
    asked, _ = serve(engine, project, "ann", 500, audit_batch=True)
    assert len(asked) == 200


def test_a_pipelines_own_labels_tell_nothing_of_its_precision(engine: Engine, project: int, pairs: list[Pair]) -> None:
    use_as_training(engine, project, "r", PAIRS, 100)
    draw(engine, project, 60)
    bands = bands_of(engine, project, "r", PAIRS)
    assert sum(band.positives for band in bands) == 0
    assert used(engine, project, "r") == 80  # those of the sample are people's to give
    asked, _ = serve(engine, project, "ann", 100, audit_batch=True)
    assert len(asked) == 60
    plan = plan_use(engine, project, "r", PAIRS, 100)
    assert (len(plan.new), plan.labelled, plan.sampled) == (0, 80, 20)


def test_a_complete_sample_asks_for_no_job(
    engine: Engine, project: int, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueued: list[object] = []
    monkeypatch.setattr(jobs, "enqueue_workflow", lambda *arguments: enqueued.append(arguments))
    draw(engine, project, 3)
    audit_batch = audit_batch_of(engine, project)
    assert audit_batch is not None and (audit_batch.kind, audit_batch.left) == (DesignKind.MINED, 3)
    answer(engine, sample(engine, project), POSITIVE)
    ask_if_due(engine, project)
    assert enqueued == []


@pytest.mark.parametrize("kind", ["audit", "correction", "entities"])
def test_another_audit_batch_goes_before(engine: Engine, project: int, pairs: list[Pair], kind: str) -> None:
    make_design(engine, project)
    make_audit_batch(engine, project, 2)
    with pytest.raises(InputError, match="2 unlabelled pairs"):
        draw(engine, project, 10)
    with writing(engine) as session:
        session.query(Task).filter(Task.project_id == project).delete()
    add_job(engine, project, "job-1", kind=kind, state="running")
    with pytest.raises(InputError, match="running job may add"):
        draw(engine, project, 10)


def test_pairs_that_may_not_train_are_refused(engine: Engine, project: int) -> None:
    with reading(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
    finished_run(engine, project, "r", [(items[0], items[-1])])
    for act in (lambda: use_as_training(engine, project, "r", PAIRS, 1), lambda: draw(engine, project, 1)):
        with pytest.raises(InputError, match="in the evaluation set"):
            act()
    assert labels(engine, project) == {}
    other = make_project(engine, ["a", "b"], name="Other")
    finished_run(engine, other, "o", [(items[0], items[1])])
    with pytest.raises(InputError, match="has no pair"):
        use_as_training(engine, other, "o", PAIRS, 1)


def test_mined_pairs_are_read_once_each(tmp_path: Path) -> None:
    path = tmp_path / "mined.jsonl"
    rows = [("3", "1", 0.9), ("1", "3", 0.8), ("2", "2", 0.7), ("1", "2", 0.6)]
    path.write_text("".join(json.dumps({"x_id": x, "y_id": y, "cos": cos}) + "\n" for x, y, cos in rows))
    assert [(one.pair, one.score) for one in read_mined(path, symmetric=True)] == [((1, 3), 0.9), ((1, 2), 0.6)]
    assert [one.pair for one in read_mined(path, symmetric=False)] == [(3, 1), (1, 3), (1, 2)]
    path.write_text('{"x_id": "1"}\n')
    with pytest.raises(InputError, match=r"mined\.jsonl, line 1: not a mined pair"):
        read_mined(path, symmetric=True)


def test_the_bi_encoder_becomes_the_projects_encoder(engine: Engine, project: int, pairs: list[Pair]) -> None:
    _, lines = plan_encoder(engine, project, "r", BIENCODER)
    assert "All 30 texts are encoded" in lines[0]
    use_encoder(engine, project, "r", BIENCODER)
    with reading(engine) as session:
        settings = Settings.model_validate(session.get_one(Project, project).settings)
    assert Path(settings.encoder) == (results_folder("r") / "biencoder").resolve()
    assert plan_encoder(engine, project, "r", BIENCODER)[1] == []
    with pytest.raises(InputError, match="'Questions' uses the encoder"):
        delete_run(engine, project, "r")
    update_settings(engine, make_project(engine, ["a", "b"], name="Other"), settings)
    with pytest.raises(InputError, match="'Other' uses the encoder"):
        delete_project(engine, project)
    bin_project(engine, project)
    assert empty_bin(engine, now() + 2 * BIN_TIME) == []
    assert pipeline_folder("r").is_dir()


def test_of_two_towers_there_is_no_encoder_for_both_texts(engine: Engine, project: int, pairs: list[Pair]) -> None:
    folder = results_folder("r") / "biencoder"
    (folder / "query").mkdir()
    (folder / "config.json").rename(folder / "query" / "config.json")
    assert plan_encoder(engine, project, "r", BIENCODER)[0].encoder == str((folder / "query").resolve())
    (folder / "passage").mkdir()
    (folder / "passage" / "modules.json").write_text("[]")
    with pytest.raises(InputError, match="one encoder for both texts"):
        plan_encoder(engine, project, "r", BIENCODER)


def test_an_encoder_that_learned_by_inner_products_says_so(engine: Engine, project: int, pairs: list[Pair]) -> None:
    path = results_folder("r") / "artifacts.json"
    found = json.loads(path.read_text())
    found[BIENCODER]["about"]["similarity"] = "dot"
    path.write_text(json.dumps(found))
    assert "inner products" in plan_encoder(engine, project, "r", BIENCODER)[1][-1]


def test_what_is_no_encoder_is_refused(engine: Engine, project: int, pairs: list[Pair]) -> None:
    (results_folder("r") / "biencoder" / "config.json").rename(results_folder("r") / "elsewhere.json")
    for number in (BIENCODER, CROSSENCODER, PAIRS):
        with pytest.raises(InputError, match="a project cannot use"):
            use_encoder(engine, project, "r", number)
    with pytest.raises(InputError, match="not a list of pairs"):
        use_as_training(engine, project, "r", BIENCODER, 1)
    with pytest.raises(InputError, match="has no output number"):
        run_output(engine, project, "r", 7)


def test_what_a_run_made_lies_in_its_folder(engine: Engine, project: int, pairs: list[Pair]) -> None:
    path = results_folder("r") / "artifacts.json"
    found = json.loads(path.read_text())
    found[PAIRS]["path"] = "../../../allpairs.db"
    path.write_text(json.dumps(found))
    assert [one.number for one in outputs_of("r")] == [BIENCODER, CROSSENCODER]


def test_what_a_run_made_is_downloaded(engine: Engine, project: int, pairs: list[Pair]) -> None:
    client = TestClient(Starlette(routes=routes()))
    response = client.get(made_address(project, "r", PAIRS))
    assert response.text == (results_folder("r") / "mined.jsonl").read_text()
    assert "mined.jsonl" in response.headers["content-disposition"]
    bundle = ZipFile(BytesIO(client.get(made_address(project, "r", BIENCODER)).content))
    assert bundle.namelist() == ["biencoder/config.json"]
    assert client.get(made_address(project, "r", 9)).status_code == 404
    assert client.get(f"download/pipelines/{project}?run=r&number=x").status_code == 404
    other = make_project(engine, ["a", "b"], name="Other")
    assert client.get(made_address(other, "r", PAIRS)).status_code == 404
    assert (results_folder("r") / "mined.jsonl").exists()  # a download takes nothing away


def test_a_project_with_a_sample_is_deleted(engine: Engine, project: int, pairs: list[Pair]) -> None:
    draw(engine, project, 9)
    answer(engine, sample(engine, project)[:3], POSITIVE)
    delete_project(engine, project)
    with reading(engine) as session:
        assert session.scalars(select(Design)).all() == [] and session.get(Job, "r") is None

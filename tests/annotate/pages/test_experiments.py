"""The page “Experiments” and its service, without a browser and without a model."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.experiments import experiments
from allpairs.annotate.features.experiments.adopt_encoder import plan_change, use_compared
from allpairs.annotate.features.experiments.experiments import Wish, definition_of, list_experiments
from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import AnswerKind, Settings, Split
from allpairs.db.errors import InputError
from allpairs.db.files.report import ENCODERS, TABLES
from allpairs.db.results.experiments import STATE, experiment_folder
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job, PairLabel
from allpairs.learner.experiment.spec import make_experiment
from tests.helpers.every_page import finished_experiment
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import add_gold, add_job, answer_round
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.pages import said

PAGE = ROOT / "annotate" / "pages" / "experiments.py"
open_page = partial(opened, PAGE)
WISH = Wish("Mine", ["static-retrieval", "uncertainty"], seeds=3, rounds=2, first=25, growth=2.0)
DEFAULT: Settings = Settings.model_validate({})


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    """Return a project whose known pairs measure."""
    project_id = make_project(engine, [f"text {i}" for i in range(12)], evaluation=6, first=30, neighbours=7)
    add_gold(engine, project_id, 2)
    return project_id


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, dict[str, Any]]]:
    """Return the requests to the worker, in place of a queue."""
    found: list[tuple[int, dict[str, Any]]] = []

    def request(engine: Engine, project_id: int, definition: dict[str, Any]) -> str:
        found.append((project_id, definition))
        return add_job(engine, project_id, "experiment-1", kind="experiment")

    monkeypatch.setattr(jobs, "request_experiment", request)
    return found


def test_an_experiment_is_asked_for_with_the_projects_settings(
    engine: Engine, project: int, asked: list[tuple[int, dict[str, Any]]]
) -> None:
    page = open_page()
    key = f"experiment_{project}"
    assert page.number_input(key=f"{key}_first").value == 30
    page.multiselect(key=f"{key}_strategies").set_value(["random", "uncertainty"])
    page.number_input(key=f"{key}_seeds").set_value(2).run()
    assert "4 runs." in said(page)
    page.button(key=f"{key}_start").click().run()
    ((of, definition),) = asked
    assert of == project
    assert [row["strategy"] for row in definition["rows"]] == ["uncertainty", "random"]
    assert (definition["seeds"], definition["rounds"], definition["settings"]["neighbours"]) == ([0, 1], 4, 7)
    assert [bar.proto.text for bar in page.get("progress")] == ["waiting for a worker"]


def test_what_cannot_be_asked_for_is_said(
    engine: Engine, project: int, asked: list[tuple[int, dict[str, Any]]]
) -> None:
    page = open_page()
    page.multiselect(key=f"experiment_{project}_strategies").set_value(["stratified-match"])
    page.button(key=f"experiment_{project}_start").click().run()
    assert "choose “" in page.error[0].value
    assert not asked


def test_without_known_pairs_the_page_says_why(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, ["a", "b", "c", "d"], evaluation=0)
    assert "no known pairs" in open_page().info[0].value
    add_gold(engine, project_id, 1, split=Split.TRAIN)
    assert "pair of evaluation items" in open_page().info[0].value


def test_without_a_project_results_are_still_shown(engine: Engine, home: Path) -> None:
    finished_experiment(experiment_folder("by-hand"), name="By *hand*")
    page = open_page()
    assert "no project yet" in page.info[0].value
    assert page.selectbox[0].options[0].startswith("By *hand*, ")


def test_a_running_experiment_shows_progress_and_can_be_stopped(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "1 of 4 runs done · q uncertainty seed 0: round 1 of 2, train"
    add_job(engine, project, "e", kind="experiment", state="running", stage=words, fraction=0.3, seconds_left=600.0)
    cancelled: list[str] = []
    monkeypatch.setattr(open_jobs, "cancel", lambda engine, job_id: cancelled.append(job_id))
    page = open_page()
    assert page.get("progress")[0].proto.text == f"{words}, 30%, about 10 min left"
    page.button(key="cancel_e").click().run()
    assert cancelled == ["e"]


def test_a_finished_experiment_shows_its_curves_and_tables(engine: Engine, project: int) -> None:
    add_job(engine, project, "e", kind="experiment", state="done")
    finished_experiment(experiment_folder("e"))
    page = open_page()
    curves, figure = [head.value for head in page.subheader][:2]
    assert curves == "Curves: All rows, questions"
    assert figure.startswith("Figure 4:") and figure.endswith(", questions")
    charts = page.get("vega_lite_chart") or page.get("arrow_vega_lite_chart")
    assert len(charts) == 4
    shown = said(page)
    assert "4 of 4 runs" in shown
    assert "### Table 3: Strategies" in shown
    assert "| uncertainty | 0.405 ± 0.064 | 0.505 ± 0.064 |" in shown  # t of one degree is 12.706, its half 0.005 each
    assert [expander.label for expander in page.expander] == ["New experiment", "Compare encoders", "4 runs"]


def test_encoders_are_compared_on_labels(
    engine: Engine, project: int, asked: list[tuple[int, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Answer at least 10 pairs" in open_page().info[-1].value
    round_id = make_round(engine, project, 14)
    answer_round(engine, round_id, 0, 0)
    with writing(engine) as session:
        for at, label in enumerate(session.scalars(select(PairLabel).where(PairLabel.project_id == project))):
            label.answer = AnswerKind.POSITIVE if at % 2 else AnswerKind.NEGATIVE
    assert "Answer at least 10 pairs" in open_page().info[-1].value
    monkeypatch.setattr(experiments, "LEAST_LABELS", 5)
    page = open_page()
    page.multiselect(key=f"encoders_{project}").set_value(["all-MiniLM-L6-v2", "some/other", "a/b/other"]).run()
    page.button(key=f"encoders_{project}_start").click().run()
    ((of, definition),) = asked
    assert of == project and [row["name"] for row in definition["rows"]] == ["all-MiniLM-L6-v2", "other", "other 2"]
    files = {"left": "left.csv", "labels": "labels.csv"}
    for name in files.values():
        (experiment_folder("x") / name).parent.mkdir(parents=True, exist_ok=True)
        (experiment_folder("x") / name).write_text("")
    assert make_experiment(definition | {"datasets": {"mine": files}}, experiment_folder("x")).compares_encoders


def test_the_best_encoder_of_a_comparison_can_be_adopted(engine: Engine, project: int) -> None:
    add_job(engine, project, "e", kind="experiment", state="done")
    finished_experiment(experiment_folder("e"))
    rows = [{"row": name, "encoder": f"some/{name}", "labels_ap": ap} for name, ap in (("good", 0.9), ("bad", 0.5))]
    (experiment_folder("e") / TABLES / f"{ENCODERS}.json").write_text(json.dumps({"title": "Encoders", "rows": rows}))
    page = open_page()
    choice = page.selectbox(key="compared_e")
    assert choice.options == ["some/good", "some/bad"]
    settings, lines = plan_change(engine, project, "some/good")
    assert settings.encoder == "some/good" and lines
    use_compared(engine, project, "some/good")
    assert plan_change(engine, project, "some/good")[1] == []


def test_failed_runs_give_their_reasons(engine: Engine, project: int) -> None:
    add_job(engine, project, "e", kind="experiment", state="failed", error="No run could be finished")
    folder = experiment_folder("e")
    finished_experiment(folder, reported=False)
    state = json.loads((folder / STATE).read_text())
    state["cells"][0] |= {"state": "failed", "error": "the encoder is *gone*"}
    (folder / STATE).write_text(json.dumps(state))
    page = open_page()
    assert "No run could be finished" in page.error[0].value
    assert "seed 0: the encoder is \\*gone\\*" in page.warning[0].value
    assert "3 of 4 runs done" in said(page)


def test_an_experiment_can_be_deleted(engine: Engine, project: int) -> None:
    add_job(engine, project, "e", kind="experiment", state="done")
    finished_experiment(experiment_folder("e"), reported=False)
    page = open_page()
    page.button(key="delete_e").click().run()
    assert not experiment_folder("e").exists()
    assert list_experiments(engine) == []
    assert "no experiments yet" in page.caption[-1].value


def test_an_experiment_at_work_is_not_deleted(engine: Engine, project: int) -> None:
    add_job(engine, project, "e", kind="experiment", state="running")
    with pytest.raises(InputError, match="cancel it first"):
        experiments.delete_experiment(engine, "e")


def test_experiments_of_jobs_and_folders_are_listed_newest_first(engine: Engine, project: int) -> None:
    finished_experiment(experiment_folder("by-hand"), name="By hand", reported=False)
    add_job(engine, project, "e", kind="experiment", state="waiting")
    add_job(engine, project, "training", state="running")
    waiting, folder = list_experiments(engine)
    assert (waiting.id, waiting.name, waiting.state, waiting.runs) == ("e", "Experiment on Questions", "waiting", ())
    assert (folder.id, folder.name, folder.state, len(folder.runs)) == ("by-hand", "By hand", "done", 4)


def test_a_project_takes_its_experiments_along(engine: Engine, project: int) -> None:
    add_job(engine, project, "e", kind="experiment", state="done")
    finished_experiment(experiment_folder("e"), reported=False)
    finished_experiment(experiment_folder("by-hand"), reported=False)
    delete_project(engine, project)
    assert [row.id for row in list_experiments(engine)] == ["by-hand"]
    assert not experiment_folder("e").exists()  # it held the project's texts


def test_one_experiment_at_a_time_and_no_other_job_waits_for_it(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueued: list[tuple[Any, ...]] = []
    monkeypatch.setattr(jobs, "enqueue_workflow", lambda engine, *arguments: enqueued.append(arguments))
    first = experiments.request(engine, project, WISH)
    with pytest.raises(InputError, match="experiment on this project"):
        experiments.request(engine, project, WISH)
    training = jobs.request_round(engine, project)
    assert [arguments[:3] for arguments in enqueued] == [
        (first, "experiment", project),
        (training, "next_round", project),
    ]
    with reading(engine) as session:
        assert session.get_one(Job, first).state == "waiting"


def test_what_the_app_asks_for_the_learner_understands(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,text\n1,a\n")
    definition = definition_of(WISH, DEFAULT.model_copy(update={"warm_start": True}))
    files = {"left": "x.csv", "gold": "x.csv"}
    found = make_experiment({**definition, "datasets": {"d": files}}, tmp_path)
    assert ([row.strategy for row in found.rows], found.baseline) == (
        ["uncertainty", "static-retrieval"],
        "uncertainty",
    )
    assert (found.seeds, found.rounds, found.settings["first"], found.settings["warm_start"]) == (
        [0, 1, 2],
        2,
        25,
        True,
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda wish: Wish(wish.name, [], 1, 1, 2, 1.0), "no strategy is chosen"),
        (lambda wish: Wish(wish.name, ["stratified-match"], 1, 1, 2, 1.0), "“Stratified, matched .* too"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused(change: Callable[[Wish], Wish], message: str) -> None:
    with pytest.raises(InputError, match=message):
        definition_of(change(WISH), DEFAULT)

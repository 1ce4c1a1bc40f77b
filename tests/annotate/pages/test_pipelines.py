"""The page “Pipelines” and its service, without a browser and without a model."""

import inspect
import re
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select

from allpairs.annotate.features.label.queue import record
from allpairs.annotate.features.papers import runs as pipelines
from allpairs.annotate.features.papers.mined_pairs import used
from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.text.formatting import literal
from allpairs.db.domain import AnswerKind, Kind, Split
from allpairs.db.errors import InputError
from allpairs.db.results.pipelines import pipeline_folder
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, Job, Project, Task
from allpairs.learner.light.catalog import PIPELINES
from allpairs.learner.light.catalog.from_project import FROM_PROJECT
from allpairs.learner.light.catalog.mining import MiningConfig
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_gold, add_job
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.pages import said
from tests.helpers.projects.pipelines import NAME, finished_run, small  # noqa: F401  (a fixture)

open_page = partial(opened, ROOT / "annotate" / "pages" / "pipelines.py")
Asked = list[tuple[int, str, dict[str, Any], dict[str, Any]]]


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    """Return a project with three known pairs that train."""
    project_id = make_project(engine, [f"text {i}" for i in range(12)], evaluation=4)
    add_gold(engine, project_id, 3, split=Split.TRAIN)
    return project_id


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Return the requests to the worker, in place of a queue."""
    found: Asked = []

    def request(engine: Engine, project_id: int, *what: Any) -> str:
        found.append((project_id, *what))
        return add_job(engine, project_id, "run-1", kind="pipeline")

    monkeypatch.setattr(jobs, "request_pipeline", request)
    return found


def test_every_pipeline_for_projects_starts_with_its_defaults(engine: Engine, project: int, asked: Asked) -> None:
    with writing(engine) as session:
        session.get_one(Project, project).kind = Kind.BIPARTITE  # some need two lists
    for name in FROM_PROJECT:
        asked.clear()
        open_page().get_by_key(f"run_{project}_{name}_start").click().run()
        [(_, began, config, chosen)] = asked
        assert began == name and PIPELINES[name].config.model_validate(config) == PIPELINES[name].config()
        assert FROM_PROJECT[name].model_validate(chosen) == FROM_PROJECT[name]()
        with writing(engine) as session:
            session.execute(delete(Job))


def test_a_run_is_asked_for_with_what_the_form_says(project: int, asked: Asked) -> None:
    page = open_page()
    assert [head.value for head in page.subheader] == [literal(entry.title) for entry in PIPELINES.values()]
    key = f"run_{project}_{NAME}"
    assert page.get_by_key(f"{key}_biencoder_learning_rate").value == 2e-5
    page.get_by_key(f"{key}_wanted").set_value(50)
    page.get_by_key(f"{key}_biencoder_towers").set_value(2)
    page.get_by_key(f"{key}_filters_drop_verbatim").set_value(True)
    page.get_by_key(f"{key}_downstream_amounts").set_value("0, 20,40")
    page.get_by_key(f"{key}_from_source").set_value("known pairs")
    page.button(key=f"{key}_start").click().run()
    assert not page.exception
    ((of, name, config, chosen),) = asked
    expected = MiningConfig().model_dump()
    expected["wanted"], expected["biencoder"]["towers"] = 50, 2
    expected["filters"]["drop_verbatim"], expected["downstream"]["amounts"] = True, [0, 20, 40]
    assert (of, name, config, chosen) == (project, NAME, expected, {"source": "known pairs", "known": 100})
    assert [bar.proto.text for bar in page.get("progress")] == ["waiting for a worker"]


def test_the_form_says_what_fields_mean_and_what_is_wrong(project: int, asked: Asked) -> None:
    page = open_page()
    key = f"run_{project}_{NAME}"
    about = type(MiningConfig().biencoder).model_fields["steps"].description
    assert re.fullmatch(rf"{re.escape(about)} .*1,.* 100,000.*", page.get_by_key(f"{key}_biencoder_steps").help)
    assert {"Bi-encoder", "Margin", "Downstream"} <= {part.label for part in page.expander}
    assert "Reader" not in {part.label for part in page.expander}  # a project's pairs have no answers
    assert inspect.getdoc(type(MiningConfig().biencoder)) in said(page)
    page.get_by_key(f"{key}_biencoder_steps").set_value(0)
    page.get_by_key(f"{key}_downstream_amounts").set_value("0, many").run()
    steps, amounts = (error.value for error in page.error)
    assert re.match(r"Bi\\-encoder, Steps: .* 1, not 0", steps)
    assert re.match("Downstream, Amounts, value 2: .* integer, not 'many'", amounts)
    page.button(key=f"{key}_start").click().run()
    assert asked == []


def test_without_positive_pairs_the_page_says_why(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, ["a", "b", "c", "d"])
    page = open_page()
    assert "at least 2 positive" in page.info[0].value
    with pytest.raises(InputError, match="no labelled and no known"):
        pipelines.request_run(engine, project_id, NAME, {}, {})


def test_without_a_project_the_page_says_so(engine: Engine, home: Path) -> None:
    assert "no project yet" in open_page().info[0].value


@pytest.mark.parametrize(
    ("name", "config", "chosen", "message"),
    [
        ("none", {}, {}, "there is no pipeline 'none'"),
        (NAME, {"wanted": 0}, {}, "wanted: input should be greater"),
        (NAME, {}, {"source": "air"}, "source: input should be"),
        (NAME, {}, {"source": "labels"}, "there are no labelled and 2 known ones"),
    ],
)
def test_what_is_not_possible_is_refused(
    engine: Engine, project: int, asked: Asked, name: str, config: Any, chosen: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pipelines.request_run(engine, project, name, config, chosen)
    assert asked == []


def test_one_run_at_a_time_and_no_other_job_waits_for_it(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueued: list[tuple[Any, ...]] = []
    monkeypatch.setattr(jobs, "enqueue_workflow", lambda engine, *arguments: enqueued.append(arguments))
    first = pipelines.request_run(engine, project, NAME, {}, {})
    with pytest.raises(InputError, match="pipeline on this project"):
        pipelines.request_run(engine, project, NAME, {}, {})
    training = jobs.request_round(engine, project)
    assert [arguments[:3] for arguments in enqueued] == [
        (first, "pipeline", project),
        (training, "next_round", project),
    ]


def test_a_run_at_work_shows_how_far_it_is_and_can_be_cancelled(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "train: step 3 of 10"
    add_job(engine, project, "r", kind="pipeline", state="running", stage=words, fraction=0.3, seconds_left=600.0)
    cancelled: list[str] = []
    monkeypatch.setattr(open_jobs, "cancel", lambda engine, job_id: cancelled.append(job_id))
    page = open_page()
    assert page.get("progress")[0].proto.text == f"{words}, 30%, about 10 min left"
    page.button(key="cancel_r").click().run()
    assert cancelled == ["r"]
    with pytest.raises(InputError, match="cancel it first"):
        pipelines.delete_run(engine, project, "r")


def test_a_finished_run_shows_its_figures_and_tables(engine: Engine, project: int) -> None:
    finished_run(engine, project, "r")
    page = open_page()
    shown = said(page)
    assert "pairs are left" in shown and "| kept | 5 |" in shown
    assert "2 positive labels" in shown
    assert len(page.get("vega_lite_chart") or page.get("arrow_vega_lite_chart")) == 1
    assert page.selectbox(key="run_shown_r").options[0].startswith("Few-shot mining, ")


def test_a_failed_run_gives_its_reason(engine: Engine, project: int) -> None:
    add_job(engine, project, "r", kind="pipeline", state="failed", error="The disk is *full*")
    assert open_page().error[0].value == "The disk is \\*full\\*"


def test_a_run_can_be_deleted(engine: Engine, project: int) -> None:
    finished_run(engine, project, "r")
    page = open_page()
    page.button(key="delete_r").click().run()
    assert not pipeline_folder("r").exists()
    assert pipelines.list_runs(engine, project) == []
    with reading(engine) as session:
        assert session.get(Job, "r") is None


def test_a_run_of_another_project_is_not_there(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    finished_run(engine, project, "r")
    for act in (partial(pipelines.delete_run, run_id="r"), partial(pipelines.run_output, run_id="r", number=0)):
        with pytest.raises(InputError, match="project has no run r"):
            act(engine, other)
    assert pipelines.list_runs(engine, other) == []


def test_a_project_takes_its_runs_along(engine: Engine, project: int) -> None:
    finished_run(engine, project, "r")
    delete_project(engine, project)
    assert not pipeline_folder("r").exists()  # it held the project's texts


@pytest.fixture
def mined(engine: Engine, project: int) -> int:
    """Return the project with a run that mined 12 pairs of training items."""
    with reading(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
    finished_run(engine, project, "r", list(combinations(items[:8], 2))[:12])
    return project


def opened_popover(page: Any, key: str) -> Any:
    """Return the page, drawn again with this popover open."""
    page.session_state[key] = True
    return page.run()


def test_what_a_run_made_is_on_the_page(mined: int) -> None:
    page = open_page()
    shown = said(page)
    assert "Results of the run" in shown
    for title, figures in (
        ("Mined pairs", "pairs 12"),
        ("Bi-encoder", "steps 100"),
        ("Cross-encoder", "steps 200"),
    ):
        assert f"**{title}**" in shown and figures in shown
    assert len(page.get("link_button")) == 3


def test_a_sample_is_queued_and_its_precision_shown(engine: Engine, mined: int) -> None:
    page = open_page()
    page.number_input(key="sample_r_0_draw").set_value(12)
    page.button(key="sample_r_0_start").click().run()
    assert not page.exception
    assert "0 of 12 sampled" in said(page)
    with reading(engine) as session:
        tasks = session.scalars(select(Task).where(Task.project_id == mined)).all()
    for place, task in enumerate(tasks):
        answer = AnswerKind.POSITIVE if place < 9 else AnswerKind.NEGATIVE
        record(engine, mined, "ann", [{"key": f"k{place}", "task_id": task.id, "answer": answer}])
    page = open_page()
    assert "all 12 mined pairs, **75%** are right (95% interval 75% to 75%, 12 labels)" in said(page)
    row = page.dataframe[0].value.iloc[0]
    assert (row["Ranks"], row["Sampled"], row["Right"], row["Precision (95% interval)"]) == (
        "1 to 12", 12, 9, "75% (75% to 75%)",
    )  # fmt: skip
    page.button(key="sample_r_0_start").click().run()
    assert "already in a sample" in page.error[0].value


def test_the_best_pairs_become_labels_and_are_taken_back(engine: Engine, mined: int) -> None:
    page = opened_popover(open_page(), "training_r_0")
    page.number_input(key="training_r_0_best").set_value(5).run()
    assert "**5 pairs** will be" in said(page)
    page.button(key="training_r_0_use").click().run()
    assert used(engine, mined, "r") == 5
    page = opened_popover(page, "training_r_0")
    assert "5 already labelled" in said(page)
    page.button(key="training_r_0_back").click().run()
    assert used(engine, mined, "r") == 0


def test_the_encoder_is_changed_after_its_implications_are_read(engine: Engine, mined: int) -> None:
    page = opened_popover(open_page(), "encoder_r_1")
    assert "All 12 texts are encoded" in said(page)
    page.button(key="encoder_r_1_use").click().run()
    assert not page.exception
    with reading(engine) as session:
        assert session.get_one(Project, mined).settings["encoder"].endswith("/pipelines/r/results/biencoder")
    page.button(key="delete_r").click().run()
    assert "of the run" in page.error[0].value


def test_the_best_pairs_can_be_read(mined: int) -> None:
    page = open_page()
    assert len(page.dataframe) == 0
    page = opened_popover(page, "best_r_0")
    best = page.dataframe[0].value
    assert (len(best), best["rank"].tolist()[:2], best["cross_score"][0]) == (12, [1, 2], 0.5)

"""QuIP on a project: its inputs, its form, and its encoder as the project's."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.papers import runs as pipelines
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import Role
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import reading
from allpairs.learner.jobs.data.pipeline_files import PipelineFiles, write_data
from allpairs.learner.light.catalog.quip import QuipConfig
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.pipelines.pipeline import RESULTS, begin, read_artifacts, run_pipeline
from allpairs.learner.pipelines.spec import make_spec
from tests.helpers.factories import make_project
from tests.helpers.files.papers import NAME, PASSAGES, STUDENT
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page
from tests.helpers.people import make_member
from tests.helpers.tiny_backbones import tiny_backbone


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, PASSAGES, evaluation=2)


def begun(engine: Engine, project_id: int, folder: Path, **chosen: Any) -> PipelineFiles:
    with reading(engine) as session:
        return write_data(session, project_id, NAME, chosen, 0, folder / "data")


def test_a_projects_training_texts_are_the_passages(engine: Engine, project: int, tmp_path: Path) -> None:
    found = begun(engine, project, tmp_path)
    assert found.files["passages"] is not None
    rows = pyarrow.parquet.read_table(found.files["passages"]).to_pylist()
    assert [row["text"] for row in rows] == PASSAGES[:4] and "questions" not in found.files
    assert found.words.startswith("4 texts; ") and "noise" in found.words
    asked = begun(engine, project, tmp_path, questions="/data/squad.json")
    assert asked.files["questions"] == "/data/squad.json" and asked.words.endswith("learned from squad.json.")
    measured = {"reading": "/data/dev.json", "sentiment": "/data/opinions.csv"}
    assert begun(engine, project, tmp_path, **measured).files == {"passages": found.files["passages"], **measured}
    with pytest.raises(InputError, match="no training texts in its second list"):
        begun(engine, project, tmp_path, texts="second list")


def test_a_run_on_a_project_makes_an_encoder_for_projects(engine: Engine, project: int, tmp_path: Path) -> None:
    backbone = str(tiny_backbone(tmp_path, "bert", PASSAGES))
    config = {
        "student": {"backbone": backbone, **STUDENT},
        "teacher": {"question_length": 12},
        "generator": {"each": 2},
    }
    files = begun(engine, project, tmp_path).files
    run = begin(NAME, tmp_path / "out", *make_spec(NAME, {"inputs": files, **config}, tmp_path / "x.toml"))
    run_pipeline(NAME, run)
    (made,) = read_artifacts(run.of(RESULTS))
    assert made["kind"] == "biencoder" and made["about"] == {"questions": 8, "passages": 4}
    assert load_encoder(str(run.folder / made["path"]), "cpu").encode(PASSAGES).shape == (6, 32)
    assert json.loads((run.of("questions") / "speed.json").read_text())["done"] == 8


def test_the_form_asks_for_a_run(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def request(engine: Engine, project_id: int, *what: Any) -> str:
        asked.append(what)
        return "run-1"

    monkeypatch.setattr(jobs, "request_pipeline", request)
    assert pipelines.run_hindrance(engine, project, NAME) == ""
    page = open_page(ROOT / "annotate" / "pages" / "pipelines.py")
    key = f"run_{project}_{NAME}"
    page.get_by_key(f"{key}_passages").set_value(50)
    page.get_by_key(f"{key}_student_epochs").set_value(1)
    page.get_by_key(f"{key}_from_sentiment").set_value("/data/opinions.csv")
    page.get_by_key(f"{key}_variants").set_value("no teacher, teacher")
    page.get_by_key(f"{key}_sentiment_prompts").set_value("Is it good, really? | Is it bad?\n\n")
    page.get_by_key(f"{key}_entities_prompts").set_value("PER = Who is it ?\nGPE=Which state ?").run()
    assert not page.error
    page.button(key=f"{key}_start").click().run()
    assert not page.exception
    ((name, config, chosen),) = asked
    changed = {
        "passages": 50, "variants": ["no teacher", "teacher"], "student": {"epochs": 1},
        "sentiment": {"prompts": ["Is it good, really? | Is it bad?"]},
        "entities": {"prompts": {"PER": "Who is it ?", "GPE": "Which state ?"}},
    }  # fmt: skip
    assert (name, QuipConfig.model_validate(config)) == (NAME, QuipConfig.model_validate(changed))
    files = {"questions": None, "reading": None, "paraphrases": None, "entities": None}
    assert chosen == {"texts": "both", "sentiment": "/data/opinions.csv", **files}
    page.get_by_key(f"{key}_entities_prompts").set_value("who is it").run()
    (error,) = page.error
    assert error.value.startswith("Entities, Prompts, who is it:") and "not None" in error.value


def test_a_projects_administrator_names_no_files_of_the_worker(engine: Engine, project: int) -> None:
    _, anna = make_member(engine, project, Role.ADMINISTRATOR)
    with pytest.raises(InputError, match=r"administrators .* “File of opinions”"):
        pipelines.request_run(anna, project, NAME, {}, {"sentiment": "/etc/passwd"})
    pipelines.request_run(anna, project, NAME, {}, {})
    (run,) = pipelines.list_runs(engine, project)
    assert run.job.state == "waiting"

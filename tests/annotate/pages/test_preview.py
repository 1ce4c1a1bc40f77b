"""The preview of the next pairs on the settings page, without a browser and without a worker."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.settings import batch_preview
from allpairs.annotate.kit.jobs.open_jobs import newest_progress
from allpairs.db.domain import SEED_STRATEGY
from allpairs.db.errors import InputError
from allpairs.db.files.json_file import write_json
from allpairs.db.projects.jobs import PREVIEW
from allpairs.db.results.job_results import Preview, preview_path
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_job, add_worker
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.projects.results import ENTERED, make_preview

PAGE = ROOT / "annotate" / "pages" / "settings.py"
open_page = partial(opened, PAGE)


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, ["one *star*", "two " * 200, "three"])


def captions(page: AppTest) -> list[str]:
    return [text.value for text in page.caption]


def choose(page: AppTest, project: int, strategy: str) -> AppTest:
    page.get_by_key(f"settings_{project}_strategy").set_value(strategy).run()
    assert not page.exception
    return page


def keys(page: AppTest) -> list[str | None]:
    return [button.key for button in page.button]


def test_the_page_says_what_a_preview_is(project: int) -> None:
    page = open_page()
    assert page.button(key="preview").label == "Preview"
    assert any("ten pairs" in text for text in captions(page))


def test_what_is_entered_is_asked_for(engine: Engine, project: int) -> None:
    page = choose(open_page(), project, "random")
    page.get_by_key(f"settings_{project}_per_text").set_value(3).run()
    page.button(key="preview").click().run()
    job = newest_progress(engine, project, PREVIEW).job
    assert job is not None and (job.kind, job.state) == (PREVIEW, "waiting")
    assert "preview" not in keys(page) and f"cancel_{job.id}" in keys(page)
    assert captions(page).count("Not saved yet.") == 1


def test_what_is_entered_reaches_the_job(project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def request(engine: Engine, project_id: int, kind: str, settings: dict[str, Any], **options: Any) -> None:
        asked.append(settings)

    monkeypatch.setattr(batch_preview, "request_apart", request)
    page = choose(open_page(), project, "adaptive-retrieval")
    page.get_by_key(f"settings_{project}_per_text").set_value(3).run()
    page.button(key="preview").click().run()
    assert [(entered["strategy"], entered["per_text"]) for entered in asked] == [("adaptive-retrieval", 3)]


def test_impossible_values_preview_nothing(project: int) -> None:
    page = open_page()
    page.get_by_key(f"settings_{project}_first").set_value(1).run()
    assert page.button(key="preview").disabled
    assert "values are invalid" in "\n".join(captions(page))


def test_why_it_waits(engine: Engine, project: int) -> None:
    add_job(engine, project, "p", kind=PREVIEW)
    assert any("No worker is running" in text for text in captions(open_page()))
    add_worker(engine)
    add_job(engine, project, "train", state="running", stage="train", fraction=0.4)
    [bar] = open_page().get("progress")
    assert "(training, 40%)" in bar.proto.text


def test_how_far_it_is_and_why_it_failed(engine: Engine, project: int) -> None:
    add_worker(engine)
    add_job(engine, project, "p", kind=PREVIEW, state="running", stage="encode", fraction=0.25)
    page = open_page()
    assert [bar.proto.text for bar in page.get("progress")] == ["Preview: encoding texts, 25%"]
    page.button(key="cancel_p").click().run()
    assert "preview" in keys(page)
    add_job(engine, project, "q", kind=PREVIEW, state="failed", error="The *encoder* is gone")
    page = open_page()
    assert page.error[0].value == "The \\*encoder\\* is gone"
    assert not page.button(key="preview").disabled


def test_a_second_preview_is_refused_in_words(project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise InputError("a preview is being made")

    monkeypatch.setattr(batch_preview, "request_apart", refuse)
    page = open_page()
    page.button(key="preview").click().run()
    assert "preview is being made" in page.error[0].value


def test_the_pairs_with_their_figures(engine: Engine, project: int) -> None:
    make_preview(engine, project)
    page = open_page()
    shown = [text.value for text in page.markdown]
    assert "**Uncertainty sampling**, with the model of round 2" in shown
    assert "1\\. one \\*star\\*" in shown
    assert next(text for text in shown if text.startswith("two")).endswith(" …")
    assert "score 0.750, p 0.600" in captions(page)
    assert not page.info and not page.warning
    assert "score 0.750, p 0.600" not in captions(choose(page, project, "random"))


def test_other_values_than_those_of_the_preview_are_named(engine: Engine, project: int) -> None:
    make_preview(engine, project, neighbours=7)
    assert "Neighbours per text" in open_page().warning[0].value


def test_without_a_model_the_page_says_what_chooses(engine: Engine, project: int) -> None:
    result = Preview("p", ENTERED, SEED_STRATEGY, None, [])
    write_json(preview_path(project, result.strategy), result)
    page = open_page()
    assert [text.value.split(".")[0] for text in page.info] == [
        "No model is trained yet", "Every pair that the search finds has been answered"
    ]  # fmt: skip
    assert any("with the pre-trained encoder" in text.value for text in page.markdown)

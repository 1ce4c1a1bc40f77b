"""The page “Rate” and the way to it, without a browser."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.studies import rating_studies
from allpairs.annotate.features.studies.rating_studies import BEGUN
from allpairs.db.projects.studies import CRITERIA, ratings_of, units_of
from allpairs.db.schema.engine import reading
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.pages import said
from tests.helpers.projects.pipelines import finished_questions, make_study, rate_all

open_page = partial(opened, ROOT / "annotate" / "pages" / "rate.py")
open_app = partial(opened, ROOT / "annotate" / "shell" / "app.py")  # a link leads to other pages of the app alone


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, ["a", "b", "c", "d"])


def units(engine: Engine, study: int) -> list[int]:
    with reading(engine) as session:
        return [unit.id for unit in units_of(session, study)]


def say(page: Any, unit: int, *answers: bool) -> Any:
    """Return the page after these answers to the criteria in order."""
    for criterion, answer in zip(CRITERIA, answers, strict=False):
        page.button(key=f"rate_{unit}_{criterion}_{answer}").click().run()
        assert not page.exception
    return page


def progress(page: Any) -> str:
    return str(page.get("progress")[0].proto.text)


def test_a_study_is_started_on_the_page_pipelines(engine: Engine, project: int) -> None:
    finished_questions(engine, project, "r")
    page = open_app().switch_page("../pages/pipelines.py")
    page.session_state["study_r_0"] = True
    page.run()
    assert page.multiselect(key="study_r_0_models").value == list(BEGUN)
    page.number_input(key="study_r_0_passages").set_value(60)
    page.button(key="study_r_0_start").click().run()
    assert "choose 6 or fewer" in page.error[-1].value
    page.number_input(key="study_r_0_passages").set_value(6)
    page.number_input(key="study_r_0_seed").set_value(3)
    page.button(key="study_r_0_start").click().run()
    assert not page.exception
    [standing] = rating_studies.list_studies(engine, project)
    assert (standing.units, standing.study.seed, standing.study.per_model) == (16, 3, 6)
    assert progress(page) == "1 of 16" and page.query_params["study"] == str(standing.study.id)
    page.switch_page("../pages/pipelines.py").run()
    assert "**16 questions** about 6 passages" in said(page) and "Rated so far: none" in said(page)
    link = page.get("page_link")[0].proto
    assert f"study={standing.study.id}" in link.query_string and "annotator=me" in link.query_string
    page.button(key=f"study_delete_{standing.study.id}_yes").click().run()
    assert rating_studies.list_studies(engine, project) == [] and "Ratings by people" not in said(page)


def test_a_rater_answers_by_turns_and_continues_after_a_reload(engine: Engine, project: int) -> None:
    study = make_study(engine, project, passages=1)
    first, second, third = units(engine, study)
    page = open_page(annotator="ann")
    assert progress(page) == "1 of 3" and "Question 0 of model 0?" in said(page)
    assert not any(model in said(page) for model in BEGUN)  # raters do not see who asked
    say(page, first, True, False, True)
    assert progress(page) == "1 of 3"
    page.button(key=f"rate_{first}_answerability_True").click().run()
    assert progress(page) == "2 of 3"
    page.button(key="rating_back").click().run()
    assert progress(page) == "1 of 3"
    page.button(key=f"rate_{first}_coverage_True").click().run()  # another opinion; the question stays in view
    assert progress(page) == "1 of 3"
    page.button(key="rating_next").click().run()
    say(page, second, False, False, False, False)
    assert progress(open_page(annotator="ann")) == "3 of 3"
    assert progress(open_page(annotator="bob")) == "1 of 3"
    say(page, third, True, True, True, True)
    assert "rated all 3" in said(page)
    with reading(engine) as session:
        stored = [tuple(one.scores[name] for name in CRITERIA) for one in ratings_of(session, study)]
    assert stored == [(True, True, True, True), (False,) * 4, (True,) * 4]


def test_every_answer_has_a_key(engine: Engine, project: int) -> None:
    unit = units(engine, make_study(engine, project, passages=1))[0]
    page = open_page(annotator="ann")
    buttons = [
        page.button(key=f"rate_{unit}_{criterion}_{answer}") for criterion in CRITERIA for answer in (True, False)
    ]
    assert [(button.label, button.proto.shortcut) for button in buttons] == [
        ("Yes", "1"), ("No", "2"), ("Yes", "3"), ("No", "4"), ("Yes", "5"), ("No", "6"), ("Yes", "7"), ("No", "8"),
    ]  # fmt: skip


def test_hasty_answers_are_kept_and_stay_with_their_questions(engine: Engine, project: int) -> None:
    study = make_study(engine, project, passages=1)
    unit = units(engine, study)[0]
    page = open_page(annotator="ann")
    for criterion in CRITERIA:  # several keys in one redraw
        page.button(key=f"rate_{unit}_{criterion}_True").click()
    page.button(key=f"rate_{unit}_answerability_False").click()  # and one too many, after the fourth
    page.run()
    assert progress(page) == "2 of 3"
    with reading(engine) as session:
        assert [one.scores for one in ratings_of(session, study)] == [dict.fromkeys(CRITERIA, True)]


def test_results_stand_beside_the_papers(engine: Engine, project: int) -> None:
    study = make_study(engine, project)
    rate_all(engine, project, study, {"ann": [True, False] * 6, "bob": [True] * 11})
    page = open_page(annotator="bob", study=str(study))
    page.session_state["rate_shown"] = "Results"
    page.run()
    assert not page.exception
    text = said(page)
    scores, agreement = (table.value for table in page.dataframe)
    assert scores.iloc[0].tolist()[:2] == ["no adaptation", "4 of 4"] and scores["Coverage"][0].startswith("0.75 (0.")
    assert scores.iloc[5].tolist() == ["– the paper", "50", "0.70", "0.44", "0.62", "0.88"]
    assert scores.iloc[6].tolist()[:2] == ["back-training minus self-training", "4 of 4"]
    assert agreement["Coefficient"][0] == "Agreement" and agreement["Naturalness"][0].startswith("0.55 (0.")
    assert "11 questions rated by two or more of 2 raters" in text
    assert "ann: 12 of 12 · bob: 11 of 12" in text
    assert "results name the models" in page.warning[0].value  # bob is not through
    assert len(page.get("link_button")) == 2


def test_without_a_study_the_page_says_where_one_comes_from(engine: Engine, project: int) -> None:
    assert "people rate" in open_page().info[0].value
    make_study(engine, project)
    page = open_page(study="x")  # an address that names none leads to the newest
    assert progress(page) == "1 of 12"
    page.session_state["rate_shown"] = "Results"
    assert "Nobody has rated" in page.run().info[0].value

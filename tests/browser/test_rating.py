"""People rate the questions of a run's models."""

from collections.abc import Callable, Iterator
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.features.studies.rating_studies import BEGUN, store_rating
from allpairs.db.projects.studies import CRITERIA, Unit, add_study, ratings_of, studies_of, units_of
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Study
from tests.helpers.browser import App, Desk, Picture, drawn
from tests.helpers.projects.pipelines import finished_questions

NAME, RUN = "Machine learning (made-up figures)", "run-rated"
PASSAGE = (
    "Gradient descent changes the weights of a model step by step, each time against the gradient of the loss. Where "
    "the step is too long the loss grows instead of falling; where it is too short the training takes long. Many "
    "optimizers therefore change the length of the step while they train."
)
ASKED = ("What is it?", "What does the gradient do?", "Why do many optimizers change the length of the step?")


@pytest.fixture
def desk(app: App, make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """Yield a project with a finished run that generated questions about passages."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(app.home))
    desk = make_desk(5, name=NAME)
    finished_questions(desk.engine, desk.project_id, RUN)
    yield desk
    delete_project(desk.engine, desk.project_id)


def chosen(page: Page, criterion: str, said: str = "") -> Locator:
    """Return the highlighted answer to the criterion, if it says this.

    While a page changes, two are highlighted for a moment: the new answer and the old one.
    """
    return page.locator(f".st-key-row_{criterion} [data-testid=stBaseButton-primary]").filter(has_text=said)


def test_a_study_is_started_rated_by_keys_and_read(page: Page, app: App, desk: Desk) -> None:
    page.goto(f"{app.url}/pipelines?project={quote(NAME)}&annotator=ann")
    page.get_by_role("button", name="Have people rate").click(timeout=60_000)
    passages = page.get_by_role("spinbutton", name="Questions per model")
    passages.fill("2")
    passages.press("Enter")
    page.get_by_role("button", name="Start", exact=True).last.click()
    expect(page.get_by_text("Does the passage answer")).to_be_visible(timeout=15_000)
    with reading(desk.engine) as session:
        study = studies_of(session, desk.project_id)[0].id
        units = len(units_of(session, study))
    expect(page.get_by_role("button", name="No Shortcut 8")).to_be_visible(timeout=15_000)
    assert "/rate?" in page.url and f"study={study}" in page.url and "annotator=ann" in page.url
    expect(page.get_by_text(f"1 of {units}", exact=True)).to_be_visible(timeout=15_000)
    name = page.get_by_role("textbox", name="Your name")
    for key in ("End", "1", "Backspace"):  # what is typed there answers nothing
        name.press(key)
    name.blur()
    for key in "145":
        page.keyboard.press(key)
    for criterion, said in zip(CRITERIA[:3], ("Yes", "No", "Yes"), strict=True):
        expect(chosen(page, criterion, said)).to_be_visible(timeout=15_000)
    for _ in range(4):
        page.keyboard.down("8")  # held down, it answers this question alone
    page.keyboard.up("8")
    expect(page.get_by_text(f"2 of {units}", exact=True)).to_be_visible(timeout=15_000)
    drawn(page)
    expect(page.locator(".st-key-rating [data-testid=stBaseButton-primary]")).to_have_count(0)
    page.reload()  # nothing that was rated is lost
    expect(page.get_by_text(f"2 of {units}", exact=True)).to_be_visible(timeout=30_000)
    drawn(page)  # a key that comes before the shortcuts is lost
    page.keyboard.press("Backspace")
    expect(page.get_by_text(f"1 of {units}", exact=True)).to_be_visible(timeout=15_000)
    expect(chosen(page, "answerability", "No")).to_be_visible(timeout=15_000)
    page.locator(".st-key-row_answerability").get_by_role("button", name="Yes").click()
    expect(chosen(page, "answerability", "Yes")).to_be_visible(timeout=15_000)
    with reading(desk.engine) as session:
        found = ratings_of(session, study)
    assert [(one.rater, list(one.scores.values())) for one in found] == [("ann", [True, False, True, True])]
    page.get_by_role("link", name="Pipelines").click()
    page.get_by_role("link", name="Rate and see results").click(timeout=15_000)
    page.get_by_role("main").get_by_text("Results", exact=True).click(timeout=15_000)
    expect(page.get_by_text("Quality of the questions")).to_be_visible(timeout=15_000)
    with page.expect_download() as started:
        page.get_by_role("link", name="Ratings as CSV").click()
    assert started.value.suggested_filename.endswith(f"-study-{study}-ratings.csv")


def rated_study(desk: Desk) -> None:
    """Store a study rated by three people, one of them in part."""
    rng = np.random.default_rng(2)
    units = [Unit(PASSAGE + " " * at, ASKED[place], [model]) for at in range(50) for place, model in enumerate(BEGUN)]
    with writing(desk.engine) as session:
        study = Study(project_id=desk.project_id, run_id=RUN, models=list(BEGUN), per_model=50, seed=0)
        add_study(session, study, units)
        ids = [unit.id for unit in units_of(session, study.id)]
    good = np.array([(0.97, 0.3, 0.6, 0.65), (0.97, 0.35, 0.6, 0.7), (0.98, 0.45, 0.65, 0.9)])
    truth = rng.random((len(ids), 4)) < np.tile(good, (50, 1))
    for rater, count in (("ann", len(ids)), ("bob", len(ids)), ("me", 11)):
        said = truth == (rng.random(truth.shape) < (0.99, 0.9, 0.9, 0.9))
        for at in range(count):
            scores = dict(zip(CRITERIA, said[at].tolist(), strict=True))
            store_rating(desk.engine, desk.project_id, ids[at], rater, scores)


def test_how_a_study_looks(page: Page, app: App, desk: Desk, picture: Picture) -> None:
    rated_study(desk)
    page.goto(f"{app.url}/rate?project={quote(NAME)}")
    expect(page.get_by_text("12 of 150", exact=True)).to_be_visible(timeout=30_000)
    expect(page.get_by_role("button", name="No Shortcut 8")).to_be_visible(timeout=15_000)
    page.keyboard.press("1")
    expect(chosen(page, "naturalness")).to_be_visible(timeout=15_000)
    picture(page, "rate", 900)
    page.get_by_role("main").get_by_text("Results", exact=True).click()
    expect(page.get_by_role("link", name="Figures as CSV")).to_be_visible(timeout=30_000)
    picture(page, height=900)

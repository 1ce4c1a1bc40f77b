"""The results of a study: Table 7 by hand, interval coverage, agreement, and files."""

import csv
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient

from allpairs.annotate.features.download.routes import routes, study_address
from allpairs.annotate.features.studies.rating_scores import difference, results, share
from allpairs.annotate.features.studies.rating_studies import BEGUN, store_rating
from allpairs.db.errors import InputError
from allpairs.db.estimate import wilson
from allpairs.db.projects.studies import CRITERIA, units_of
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import StudyUnit
from tests.helpers.factories import make_project
from tests.helpers.projects.pipelines import make_study, rate_all

T, F = True, False


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, ["a", "b", "c", "d"])


def test_a_share_is_the_mean_of_the_questions_means() -> None:
    found = share([[T, T], [T, F], [F], [T]])
    assert found is not None and found.value == (1 + 0.5 + 0 + 1) / 4 and found.labels == 6
    assert 0 <= found.low < found.value < found.high <= 1
    assert share([]) is None


def test_one_rater_has_wilsons_interval_and_agreeing_ones_too() -> None:
    alone = share([[T]] * 34 + [[F]] * 16)
    assert alone is not None and (alone.low, alone.high) == pytest.approx(wilson(34, 50))
    copies = share([[T] * 3] * 34 + [[F] * 3] * 16)
    assert copies is not None and (copies.low, copies.high) == pytest.approx((alone.low, alone.high))
    every = share([[T] * 3] * 50)
    assert every is not None and (every.low, every.high) == pytest.approx(wilson(50, 50))
    split = share([[T, F]] * 50)  # raters who never agree tell of the mean, not of single questions
    assert split is not None and (split.low, split.high) == pytest.approx(wilson(50, 100))


@pytest.mark.parametrize("good", [0.68, 0.9])
def test_intervals_of_three_raters_cover_as_often_as_they_say(good: float) -> None:
    rng, held = np.random.default_rng(5), []
    for _ in range(400):
        truth = rng.random(50) < good
        said = truth[:, None] == (rng.random((50, 3)) < 0.85)  # each rater errs in 15 of 100 cases
        found = share(said.tolist())
        held.append(found is not None and found.low <= good * 0.85 + (1 - good) * 0.15 <= found.high)
    assert 0.92 <= np.mean(held) <= 0.99


def test_a_difference_of_one_rater_is_agresti_and_mins() -> None:
    # 5 passages worse, 12 better, 33 alike; with half a passage more of each kind 12.5 - 5.5 of 52.
    found = difference([0.0] * 33 + [-1.0] * 5 + [1.0] * 12)
    centre = (12.5 - 5.5) / 52
    half = 1.96 * ((12.5 + 5.5) / 52 - centre**2) ** 0.5 / 52**0.5
    assert (found.value, found.low, found.high) == pytest.approx((7 / 50, centre - half, centre + half))
    alike = difference([0.0] * 50)
    assert alike.value == 0 and -0.1 < alike.low < 0 < alike.high < 0.1
    assert difference([1.0] * 3).high == 1


def test_differences_hold_the_truth_about_as_often_as_they_say() -> None:
    rng, held = np.random.default_rng(6), []
    for _ in range(500):
        hard = rng.random((50, 1)) < 0.5  # the same passages are hard for both models
        good = rng.random((50, 2)) < np.where(hard, (0.3, 0.5), (0.8, 0.9))
        said = good[:, :, None] == (rng.random((50, 2, 3)) < 0.9)
        found = difference((said.mean(axis=2)[:, 1] - said.mean(axis=2)[:, 0]).tolist())
        held.append(found.low <= 0.8 * 0.15 <= found.high)
    assert 0.92 <= np.mean(held) <= 0.99


def test_table_7_by_hand(engine: Engine, project: int) -> None:
    study = make_study(engine, project, passages=2)  # unit 3i + m: what model m asks about passage i
    rate_all(engine, project, study, {"ann": [F, T, T, F, F, T], "bob": [T, T, T]})
    found = results(engine, project, study)
    assert found.raters == ["ann", "bob"] and found.common == 3
    shares = [scores.shares["coverage"] for scores in found.scores]
    assert [scores.model for scores in found.scores] == list(BEGUN) and [s.rated for s in found.scores] == [2, 2, 2]
    assert [(one.value, one.labels) for one in shares if one] == [(0.25, 3), (0.5, 3), (1.0, 3)]
    assert found.gain is not None and (found.gain.better, found.gain.than) == (BEGUN[2], BEGUN[1])
    # Passage 0: both raters say yes to both models; passage 1: ann says no to self-training, and yes to back-training.
    assert found.gain.passages == 2 and found.gain.differences["coverage"].value == 0.5
    agreement = {one.criterion: one for one in found.agreement}
    assert set(agreement) == set(CRITERIA)
    figures = agreement["naturalness"].figures
    assert figures["Agreement"] is not None and figures["Agreement"].value == pytest.approx(2 / 3)
    assert figures["Kappa"] is not None and figures["Kappa"].value == 0  # Cohen's: bob always says yes
    assert figures["Alpha"] is not None and figures["Alpha"].value == pytest.approx(1 - (1 / 3) / (1 - 20 / 30))
    assert figures["On yes"] is not None and figures["On yes"].value == pytest.approx(4 / 5)
    assert [one.figures for one in results(engine, project, study).agreement] == [a.figures for a in found.agreement]


def test_what_several_models_ask_counts_for_each(engine: Engine, project: int) -> None:
    study = make_study(engine, project, passages=1, models=BEGUN[:2])
    with writing(engine) as session:
        first, second = session.query(StudyUnit).order_by(StudyUnit.position)
        first.models = list(BEGUN[:2])
        session.delete(second)
    rate_all(engine, project, study, {"ann": [True]})
    shares = [scores.shares["coverage"] for scores in results(engine, project, study).scores]
    assert [one.value for one in shares if one] == [1, 1]


def test_constant_ratings_say_so_and_one_rater_has_no_agreement(engine: Engine, project: int) -> None:
    study = make_study(engine, project)
    rate_all(engine, project, study, {"ann": [True] * 12})
    alone = results(engine, project, study)
    assert alone.agreement == [] and alone.common == 0
    rate_all(engine, project, study, {"bob": [True] * 12, "cyd": [True] * 12})
    agreement = results(engine, project, study).agreement[0]
    assert agreement.figures["Kappa"] is None and agreement.figures["On no"] is None
    assert agreement.figures["Agreement"] is not None and agreement.figures["Agreement"].value == 1
    assert agreement.kappa_note.startswith("All ratings are “yes”")
    with pytest.raises(InputError, match="no study number 99"):
        results(engine, project, 99)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text.removeprefix("\ufeff"))))


def test_files_have_every_rating_and_every_figure(engine: Engine, project: int) -> None:
    study = make_study(engine, project, passages=2)
    with writing(engine) as session:
        units_of(session, study)[0].question = "=cmd|' /C calc'!A0"
    with reading(engine) as session:
        unit = units_of(session, study)[0].id
    store_rating(engine, project, unit, "@ann", dict(zip(CRITERIA, (T, F, T, F), strict=True)))
    rate_all(engine, project, study, {"bob": [True] * 6})
    client = TestClient(Starlette(routes=routes()))
    got = client.get(f"/{study_address(project, study, 'ratings')}")
    assert got.headers["content-disposition"].endswith(f'study-{study}-ratings.csv"')
    rows = read(got.text)
    assert len(rows) == 7 and rows[0]["question"].startswith("'=cmd") and rows[0]["rater"] == "'@ann"
    assert [rows[0][name] for name in ("number", "models", *CRITERIA)] == ["1", BEGUN[0], "1", "0", "1", "0"]
    figures = read(client.get(f"/{study_address(project, study, 'figures')}").text)
    one = next(row for row in figures if (row["of"], row["criterion"]) == (BEGUN[2], "answerability"))
    assert (one["value"], one["ratings"], one["paper"]) == ("1.0", "2", "0.88")
    gains = [row for row in figures if row["figure"] == f"gain over {BEGUN[1]}"]
    assert [(row["of"], row["value"]) for row in gains] == [(BEGUN[2], "0.0")] * 4
    kappas = {row["criterion"]: row["value"] for row in figures if row["figure"] == "Kappa"}
    # One question was rated twice: where both say yes, kappa is not defined.
    assert kappas == dict(zip(CRITERIA, ("", "0.0", "", "0.0"), strict=True))


@pytest.mark.parametrize(("query", "said"), [("study=x&what=ratings", "no study number 'x'"),
                                             ("study=99&what=ratings", "no study number 99"),
                                             ("study=1&what=all", "a study has no file 'all'")])  # fmt: skip
def test_what_there_is_not_cannot_be_downloaded(engine: Engine, project: int, query: str, said: str) -> None:
    make_study(engine, project)
    got = TestClient(Starlette(routes=routes())).get(f"/download/studies/{project}?{query}")
    assert got.status_code == 404 and said in got.text

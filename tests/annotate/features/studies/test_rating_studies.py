"""Studies: what is sampled, what raters see, and which rating counts."""

from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.features.studies import rating_studies
from allpairs.annotate.features.studies.rating_studies import BEGUN, REFERENCE
from allpairs.db.errors import InputError
from allpairs.db.projects.studies import CRITERIA, ratings_of, units_of
from allpairs.db.results.pipelines import results_folder
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Rating, StudyUnit
from tests.helpers.factories import make_project
from tests.helpers.projects.pipelines import finished_questions, make_study, rate_all

RUN = "run-1"
GOOD, BAD = dict.fromkeys(CRITERIA, True), dict.fromkeys(CRITERIA, False)


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, ["a", "b", "c", "d"])


def test_a_study_is_drawn_from_a_run_and_repeated_by_its_seed(engine: Engine, project: int) -> None:
    finished_questions(engine, project, RUN)
    ids = [rating_studies.start_study(engine, project, RUN, 0, BEGUN, 6, seed) for seed in (3, 3, 4)]
    with reading(engine) as session:
        one, two, other = ([(u.passage, u.question, u.models) for u in units_of(session, id_)] for id_ in ids)
    assert one == two != other and sorted(map(str, one)) == sorted(map(str, other))
    assert len(one) == 3 * 6 - 2  # the first two models ask the same of passages 0 and 3
    assert Counter(model for *_, models in one for model in models) == dict.fromkeys(BEGUN, 6)
    shared = [(passage, models) for passage, _, models in one if len(models) > 1]
    assert [models for _, models in shared] == [list(BEGUN[:2])] * 2
    assert one != sorted(one)  # by chance
    standing = rating_studies.list_studies(engine, project)
    assert [(found.study.id, found.units, found.rated) for found in standing] == [(id_, 16, {}) for id_ in ids[::-1]]


rows = st.lists(st.tuples(st.integers(0, 5), *[st.sampled_from("xyz")] * 2), min_size=1, max_size=12)


@given(rows, st.integers(0, 3))
def test_every_model_asks_about_each_drawn_passage_once(texts: list[tuple[int, str, str]], seed: int) -> None:
    given = [{"passage": f"p{at}", "a": one, "b": other} for at, one, other in texts]
    distinct = {row["passage"] for row in given}
    n = max(1, len(distinct) - 1)
    units = rating_studies.draw_units(given, ["a", "b"], n, np.random.default_rng(seed))
    asked = [(unit.passage, model) for unit in units for model in unit.models]
    assert len(asked) == len(set(asked)) == 2 * n and {passage for passage, _ in asked} <= distinct
    first = {row["passage"]: row for row in reversed(given)}
    assert all(first[unit.passage][model] == unit.question for unit in units for model in unit.models)
    with pytest.raises(InputError, match=f"choose {len(distinct)} or fewer"):
        rating_studies.draw_units(given, ["a", "b"], len(distinct) + 1, np.random.default_rng(seed))


def test_what_cannot_be_drawn_is_refused(engine: Engine, project: int) -> None:
    finished_questions(engine, project, RUN)
    start = partial(rating_studies.start_study, engine, project, RUN, 0)
    for models, passages, said in (
        ([], 2, "choose at least one model"), (["x"], 2, "no model 'x' in this run"),
        (BEGUN, 7, "has 6 test passages"), (BEGUN, 0, "not 0"), (BEGUN, 2_000, "choose 1 to 1,666 passages"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=said):
            start(models, passages, 0)
    (results_folder(RUN) / "test-questions.jsonl").write_text('{"questions": {"x": 1}}\n')
    with pytest.raises(InputError, match="run the pipeline again"):
        start(["x"], 1, 0)
    assert rating_studies.list_studies(engine, project) == []


def test_questions_by_people_can_be_rated_beside_the_models(engine: Engine, project: int) -> None:
    finished_questions(engine, project, RUN)
    study = rating_studies.start_study(engine, project, RUN, 0, [BEGUN[0], REFERENCE], 6, 0)
    with reading(engine) as session:
        by_people = [unit.question for unit in units_of(session, study) if unit.models == [REFERENCE]]
    assert sorted(by_people) == [f"Why gradient {i}?" for i in range(6)]


def test_each_rater_goes_on_where_they_were_and_can_go_back(engine: Engine, project: int) -> None:
    study = make_study(engine, project, passages=1)
    desk = partial(rating_studies.desk, engine, project, study, "ann")
    first = desk()
    assert first.unit is not None and (first.unit.position, first.rated, first.units) == (0, 0, 3)
    assert (first.scores, first.before, first.after) == ({}, None, None)
    rating_studies.store_rating(engine, project, first.unit.id, "ann", GOOD)
    second = desk()
    assert second.unit is not None and (second.unit.position, second.before, second.rated) == (1, 0, 1)
    back = desk(second.before)
    assert back.unit is not None and (back.unit.id, back.scores, back.after) == (first.unit.id, GOOD, 1)
    rating_studies.store_rating(engine, project, first.unit.id, "ann", BAD)  # another opinion, no other question
    assert desk(0).scores == BAD and desk().rated == 1
    ahead = desk(9)
    assert ahead.unit is not None and ahead.unit.position == 1  # nobody leaves one out
    rate_all(engine, project, study, {"ann": [True] * 3})
    done = desk()
    assert (done.unit, done.rated, done.before) == (None, 3, 2)
    other = rating_studies.desk(engine, project, study, "bob")
    assert other.unit is not None and (other.unit.position, other.rated, other.scores) == (0, 0, {})


def test_the_last_rating_of_each_rater_counts(engine: Engine, project: int) -> None:
    study = make_study(engine, project, passages=1)
    rate_all(engine, project, study, {"ann": [True, True], "bob": [True]})
    rate_all(engine, project, study, {"ann": [False]})
    with reading(engine) as session:
        found = ratings_of(session, study)
        assert [(one.position, one.rater, one.scores["coverage"]) for one in found] == [
            (0, "ann", False), (0, "bob", True), (1, "ann", True),
        ]  # fmt: skip
        assert session.scalar(select(func.count(Rating.id))) == 4  # nothing is overwritten
    assert rating_studies.list_studies(engine, project)[0].rated == {"ann": 2, "bob": 1}


def test_what_is_no_rating_is_refused(engine: Engine, project: int) -> None:
    study = make_study(engine, project)
    other = make_project(engine, ["e", "f"], name="Other")
    with reading(engine) as session:
        unit = units_of(session, study)[0].id
    with pytest.raises(InputError, match="naturalness, coverage"):
        rating_studies.store_rating(engine, project, unit, "ann", {"coverage": True})
    with pytest.raises(InputError, match="no question number"):
        rating_studies.store_rating(engine, other, unit, "ann", GOOD)
    with pytest.raises(InputError, match="no study number"):
        rating_studies.desk(engine, other, study, "ann")


def test_a_study_is_deleted_with_its_ratings_and_its_project(engine: Engine, project: int) -> None:
    one, two = make_study(engine, project), make_study(engine, project)
    for study in (one, two):
        rate_all(engine, project, study, {"ann": [True] * 3})
    rating_studies.remove_study(engine, project, one)

    def left() -> tuple[int | None, ...]:
        with reading(engine) as session:
            return tuple(session.scalar(select(func.count(table.id))) for table in (StudyUnit, Rating))

    assert left() == (12, 3)
    with pytest.raises(InputError, match="no study number"):
        rating_studies.remove_study(engine, project, one)
    delete_project(engine, project)
    assert left() == (0, 0)

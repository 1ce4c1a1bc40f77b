"""A round with a second stage: the same score wherever the round shows one, and in the model that it leaves."""

import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, select

from allpairs import Matcher
from allpairs.annotate.kit.jobs.prepared import prepared_best_pairs, rounds_of
from allpairs.db.projects.jobs import EXPLORE, MATCHES, SEARCH, add_job
from allpairs.db.results.job_results import Search, search_path
from allpairs.db.results.matches import PAIRS, folder_of_matches
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Evaluation, Gold, Item
from allpairs.learner.jobs import explore, matches, search
from allpairs.learner.jobs.data import stored_rescored
from allpairs.learner.light.groups.grouping import USUAL
from allpairs.learner.metrics.average_precision import average_precision, curve_from_scores
from allpairs.learner.second_stage.second_stage import SEAM
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import answer_batch, half, matcher_of, run, texts
from tests.helpers.tiny import tiny_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("second_stage"), texts(60))


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    """Return 60 texts, 20 of them for evaluation with three gold pairs, and a round with a second stage."""
    project_id = make_project(
        engine, texts(60), evaluation=20, encoder=str(encoder), first=20, neighbours=10, epochs=1, learning_rate=1e-3,
        audit_every=0, hubness=0.25, lexical=True, second_stage="on",
    )  # fmt: skip
    with writing(engine) as session:
        items = session.scalars(select(Item.id).order_by(Item.id)).all()
        session.add_all(
            Gold(project_id=project_id, left_id=items[at], right_id=items[at + 6], positive=True) for at in (40, 43, 47)
        )
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    return project_id


def model_of(engine: Engine) -> Matcher:
    return Matcher.load(artifacts() / str(matcher_of(engine, 1).folder))


def all_texts(engine: Engine) -> dict[int, str]:
    with reading(engine) as session:
        return dict(session.execute(select(Item.id, Item.text).order_by(Item.id)).tuples().all())


@pytest.mark.parametrize("kept", [True, False])
def test_every_page_shows_the_models_own_score(
    engine: Engine, project: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kept:  # as for a round before the last one
        monkeypatch.setattr(stored_rescored, "FILE", "gone.npz")
    model, of = model_of(engine), all_texts(engine)
    assert "features" in matcher_of(engine, 1).details["second_stage"]
    with writing(engine) as session:
        jobs = [add_job(session, project, kind).id for kind in (EXPLORE, MATCHES, SEARCH)]
    explore.prepare(jobs[0], project, 1)
    found = prepared_best_pairs(next(one for one in rounds_of(engine, project) if one.matcher.number == 1))
    left, right = zip(*found.pairs, strict=True)
    scores = model.score([of[item] for item in left], [of[item] for item in right])
    assert len(found.pairs) == 60 * 59 / 2 and found.score == pytest.approx(scores, abs=1e-5)
    threshold = float(np.quantile(scores, 0.9))
    matches.find_matches(jobs[1], project, 1, threshold, None, *USUAL.words)
    table = pq.read_table(folder_of_matches(project) / PAIRS).to_pylist()
    assert [row["score"] for row in table] == pytest.approx(
        model.score([row["text1"] for row in table], [row["text2"] for row in table]), abs=1e-5
    )
    item = list(of)[50]
    search.find_nearest(jobs[2], project, 1, "", item, True)
    asked = read_result(search_path(project, jobs[2]), Search)
    assert asked is not None and len(asked.hits) == 59
    wanted = [float(model.score([of[min(item, hit.item_id)]], [of[max(item, hit.item_id)]])[0]) for hit in asked.hits]
    assert [hit.score for hit in asked.hits] == pytest.approx(wanted, abs=1e-5)
    assert wanted == pytest.approx(sorted(wanted, reverse=True), abs=1e-5)


def test_a_search_says_what_each_part_adds(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        job_id = add_job(session, project, SEARCH).id
    search.find_nearest(job_id, project, 1, "", list(all_texts(engine))[50], True)
    asked = read_result(search_path(project, job_id), Search)
    assert asked is not None and [bool(hit.why) for hit in asked.hits] == [True] * 20 + [False] * 39
    layer = matcher_of(engine, 1)
    assert layer.w is not None and layer.b is not None
    for hit in asked.hits[:20]:
        parts = [float(amount) for amount in re.findall(r" ([+-][0-9.]+)", hit.why)]
        rounding = 0.006 * len(parts) + layer.w * SEAM  # two decimals each, and the seam at the floor
        assert sum(parts) == pytest.approx(layer.w * hit.score + layer.b, abs=rounding)
    assert "competition" in asked.hits[0].why and "meaning" in asked.hits[0].why


def test_the_figures_are_of_the_models_own_score(engine: Engine, project: int) -> None:
    model, of = model_of(engine), all_texts(engine)
    items = list(of)[40:]
    pairs = [(one, other) for at, one in enumerate(items) for other in items[at + 1 :]]
    scores = model.score([of[one] for one, _ in pairs], [of[other] for _, other in pairs])
    gold = {(items[at - 40], items[at - 34]) for at in (40, 43, 47)}
    wanted = average_precision(curve_from_scores(scores, np.array([pair in gold for pair in pairs])))
    with reading(engine) as session:
        found = session.scalars(select(Evaluation).where(Evaluation.matcher_id == matcher_of(engine, 1).id)).one()
    assert found.estimates["average_precision"]["value"] == pytest.approx(wanted, abs=1e-6)

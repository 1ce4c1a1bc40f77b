"""Jobs after texts have come and gone: only new ones are encoded, and withdrawn ones are in nothing any more."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, select

from allpairs import Matcher
from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.kit.jobs.prepared import known_pairs, prepared_best_pairs, rounds_of
from allpairs.db.errors import InputError
from allpairs.db.progress import no_progress
from allpairs.db.projects.jobs import EXPLORE, MATCHES, SEARCH, add_job
from allpairs.db.results.job_results import Search, search_path
from allpairs.db.results.matches import PAIRS, folder_of_matches
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Identifier, Item, StoredModel
from allpairs.learner.jobs import explore, matches, search
from allpairs.learner.jobs import next_round as steps
from allpairs.learner.jobs.audit.designs import read_designs
from allpairs.learner.jobs.data import extended_vectors
from allpairs.learner.jobs.data.project_data import ProjectData, read_labels, read_project
from allpairs.learner.jobs.data.stored_rescored import rescored_of
from allpairs.learner.jobs.data.stored_vectors import vectors_of
from allpairs.learner.light.groups.grouping import USUAL
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.scoring.hubness import hubness_among
from allpairs.learner.search.inner_product import BLENDED, scores
from tests.helpers.factories import make_project
from tests.helpers.figures.audits import (
    add_model,
    designs_of,
    draw_and_label,
    evaluation_of,
    exact,
    label,
    make_audited,
    run_audit,
    tasks_of,
    texts,
    truth,
)
from tests.helpers.projects.lists import change
from tests.helpers.projects.rounds import answer_batch, half, matcher_of, newest, run
from tests.helpers.tiny import tiny_encoder

NEW = {f"new-{at}": f"word{at % 6}0 word{at % 6}1 of the new {at}" for at in range(6)}
GONE = ["left-0", "left-1", "left-40"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("changes"), [*texts(), *NEW.values()])


@pytest.fixture(
    params=[{"hubness": 0.0}, {"hubness": 0.25, "lexical": True, "second_stage": "on"}], ids=["plain", "all"]
)
def project(engine: Engine, encoder: Path, request: pytest.FixtureRequest) -> int:
    """Return 80 texts, 60 of them for evaluation, with a trained round."""
    settings: dict[str, Any] = {"first": 20, "neighbours": 10, "epochs": 1, "learning_rate": 1e-3, "audit_every": 0}
    project_id = make_project(
        engine, texts(), evaluation=40, encoder=str(encoder), evaluation_share=0.5, **(settings | request.param)
    )
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    return project_id


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets each text that is encoded."""
    seen: list[str] = []
    parts = Encoder.encode_parts

    def noted(self: Encoder, texts: Sequence[str], *more: Any) -> Any:
        seen.extend(texts)
        return parts(self, texts, *more)

    monkeypatch.setattr(Encoder, "encode_parts", noted)
    return seen


def data_of(engine: Engine, project_id: int) -> ProjectData:
    with reading(engine) as session:
        return read_project(session, project_id)


def items_of(engine: Engine, names: Sequence[str]) -> set[int]:
    """Return the items that these ids name, or named before they were withdrawn."""
    with reading(engine) as session:
        by_id = dict(session.execute(select(Identifier.external_id, Identifier.item_id)).tuples().all())
        first = session.scalars(select(Item.id).order_by(Item.id)).all()
    return {by_id.get(name) or first[int(name.split("-")[1])] for name in names}


def job(engine: Engine, project_id: int, kind: str) -> str:
    with writing(engine) as session:
        return add_job(session, project_id, kind).id


def test_only_added_texts_are_encoded_and_others_keep_scores(
    engine: Engine, project: int, tmp_path: Path, encoded: list[str]
) -> None:
    matcher, before = matcher_of(engine, 1), data_of(engine, project)
    old = vectors_of(project, matcher, before, before.settings, no_progress)
    again = rescored_of(matcher, before, old, no_progress)
    change(engine, tmp_path, NEW)
    data = data_of(engine, project)
    encoded.clear()
    vectors = vectors_of(project, matcher, data, data.settings, no_progress)
    rescored = rescored_of(matcher, data, vectors, no_progress)
    assert set(encoded) <= {*NEW.values(), data.dataset.texts[80]}
    assert np.array_equal(vectors[:80], old) and len(vectors) == 86
    left, right = np.triu_indices(86, 1)
    whole = rescored.replace(left, right, scores(vectors, left, right, BLENDED))
    there = right < 80
    assert whole[there] == pytest.approx(
        again.replace(left[there], right[there], scores(old, left[there], right[there], BLENDED)), abs=1e-6
    )
    of = data.dataset.texts
    own = Matcher.load(artifacts() / str(matcher.folder)).score([of[at] for at in left], [of[at] for at in right])
    assert whole == pytest.approx(own, abs=2e-3)  # as any program scores these texts
    encoded.clear()
    vectors_of(project, matcher, data, data.settings, no_progress)
    assert encoded == []  # they are stored
    earlier = vectors_of(project, matcher, before, before.settings, no_progress)  # a job that began before the change
    pairs, pairs_before = rescored_of(matcher, before, earlier, no_progress).pairs, again.pairs
    assert encoded == [] and np.array_equal(earlier, old)
    for column in ("left", "right", "score"):
        assert np.array_equal(getattr(pairs, column), getattr(pairs_before, column))


def test_the_next_round_has_new_texts_and_no_withdrawn_ones(engine: Engine, project: int, tmp_path: Path) -> None:
    change(engine, tmp_path, NEW)
    change(engine, tmp_path, GONE)
    with reading(engine) as session:
        labelled = read_labels(session, project, read_project(session, project), 10**9)
    gone = items_of(engine, GONE)
    answer_batch(engine, project, half)
    run(engine, project)
    _, tasks = newest(engine, project)
    items = {item for task in tasks for item in (task.left_id, task.right_id)}
    assert not items & gone
    trained = {item for item in items_of(engine, list(NEW)) if item in items}
    assert trained  # some of them are for training
    ids = data_of(engine, project).item_ids
    assert not set(ids[np.concatenate([labelled.left, labelled.right])].tolist()) & gone


def test_withdrawn_texts_are_in_no_match_exploration_or_search(engine: Engine, project: int, tmp_path: Path) -> None:
    change(engine, tmp_path, GONE)
    change(engine, tmp_path, NEW)
    gone = items_of(engine, GONE)
    explore.prepare(job(engine, project, EXPLORE), project, 1)
    found = next(one for one in rounds_of(engine, project) if one.matcher.number == 1)
    listed = {item for pair in prepared_best_pairs(found).pairs for item in pair}
    assert not listed & gone and items_of(engine, list(NEW)) <= listed
    known = known_pairs(found)
    assert len(known.label) and not {item for pair in known.scored.pairs for item in pair} & gone
    matches.find_matches(job(engine, project, MATCHES), project, 1, -10.0, None, *USUAL.words)
    rows = pq.read_table(folder_of_matches(project) / PAIRS).to_pylist()
    names = {name for row in rows for name in (row["id1"], row["id2"])}
    assert not names & set(GONE) and set(NEW) <= names
    asked = job(engine, project, SEARCH)
    search.find_nearest(asked, project, 1, "word00 of the", None, True)
    hits = read_result(search_path(project, asked), Search)
    assert hits is not None and not {hit.item_id for hit in hits.hits} & gone
    with pytest.raises(InputError, match=r"no text with number .* any more"):
        search.find_nearest(asked, project, 1, "", min(gone), True)


def test_a_round_goes_on_with_the_texts_that_it_began_with(engine: Engine, project: int, tmp_path: Path) -> None:
    answer_batch(engine, project, half)
    job_id = job(engine, project, steps.NAME)
    plan = steps.make_plan(project)
    plan["training"] = steps.train_matcher(job_id, project, plan)
    change(engine, tmp_path, NEW)
    plan |= steps.encode_items(job_id, project, plan)
    matcher_id = steps.evaluate_matcher(job_id, project, plan)
    change(engine, tmp_path, GONE)
    steps.audit_models(job_id, project, plan, matcher_id)
    steps.make_batch(job_id, project, plan, matcher_id)
    _, tasks = newest(engine, project)
    items = {item for task in tasks for item in (task.left_id, task.right_id)}
    assert items and not items & (items_of(engine, GONE) | items_of(engine, list(NEW)))
    with reading(engine) as session:
        stored = session.get_one(StoredModel, matcher_id)
    data = data_of(engine, project)
    assert len(vectors_of(project, stored, data, data.settings, no_progress)) == 86


def test_a_text_that_comes_back_is_scored_as_before(engine: Engine, project: int, tmp_path: Path) -> None:
    matcher = matcher_of(engine, 1)

    def every() -> np.ndarray:
        data = data_of(engine, project)
        vectors = vectors_of(project, matcher, data, data.settings, no_progress)
        left, right = np.triu_indices(80, 1)
        found = rescored_of(matcher, data, vectors, no_progress)
        return found.replace(left, right, scores(vectors, left, right, BLENDED))

    before = every()
    change(engine, tmp_path, GONE)
    every()
    change_texts.undo_text_change(engine, project)
    assert every() == pytest.approx(before, abs=1e-6)


@pytest.mark.usefixtures("small")
def test_audit_figures_are_of_its_texts_until_a_tenth_changes(
    engine: Engine, encoders: list[Path], tmp_path: Path
) -> None:
    project = make_audited(engine, encoders[0], evaluation_share=0.9)
    add_model(engine, project, 0, encoders[0])
    draw_and_label(engine, project, 60)
    before = evaluation_of(engine, 0).estimates
    change(engine, tmp_path, {"new-0": "80 word00 word01 the", "left-79": "79 of word50 word51 changed"})
    gone = items_of(engine, ["left-79"])
    run_audit(engine, project)
    (design,) = designs_of(engine)
    figures = evaluation_of(engine, 0)
    assert design.details["texts"] == 0 and figures.estimates.keys() == before.keys()
    assert figures.pairs == 59 * 58 // 2  # of the texts that the design is of and that are there
    run_audit(engine, project, 20)
    assert len(designs_of(engine)) == 1 and not gone & in_tasks(engine)
    label(engine, tasks_of(engine))
    change(engine, tmp_path, {f"more-{at}": f"{at} word{at % 6}0 word{at % 6}1" for at in range(81, 101)})
    run_audit(engine, project, 40)
    first, second = designs_of(engine)
    assert second.details["texts"] == 2 and second.pairs > first.pairs
    data = data_of(engine, project)
    with reading(engine) as session:
        old, new = read_designs(session, project, data)
    added = set(data.item_ids[np.setdiff1d(new.rows, old.rows)].tolist())
    assert len(old.rows) == 59 and np.isin(old.rows, new.rows).all() and added & in_tasks(engine)
    assert evaluation_of(engine, 0).audit["design"] == 1  # too few of the new one's pairs are labelled
    label(engine, tasks_of(engine))
    draw_and_label(engine, project, 60)
    figures = evaluation_of(engine, 0)
    assert figures.audit["design"] == 2 and figures.pairs == len(new.rows) * (len(new.rows) - 1) // 2
    right = exact(engine, project, 0, truth(engine)).estimates["average_precision"].value
    found = figures.estimates["average_precision"]
    assert found["low"] <= right <= found["high"]


def in_tasks(engine: Engine) -> set[int]:
    return {item for task in tasks_of(engine) for item in (task.left_id, task.right_id)}


def test_a_sample_of_many_texts_stands_for_all_in_hubness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extended_vectors, "SAMPLE", 500)
    rng = np.random.default_rng(0)
    near = rng.standard_normal((60, 32))[rng.integers(60, size=5100)] + 0.6 * rng.standard_normal((5100, 32))
    vectors = np.hstack([near / np.linalg.norm(near, axis=1, keepdims=True), np.zeros((5100, 1))]).astype(np.float32)
    left, right, new = np.arange(1000), np.arange(1000, 5000), np.arange(5000, 5100)
    own, wanted = (0.25 * hubness_among(vectors, rows, right, BLENDED) for rows in (left, new))
    found = extended_vectors.extended_hubness(vectors, new, left, own, right, 0.25)
    assert np.abs(found - wanted).mean() < 0.01 and np.abs((found - wanted).mean()) < 0.003
    plain = 0.25 * hubness_among(vectors, new, rng.choice(right, 500, replace=False), BLENDED)
    assert np.abs((plain - wanted).mean()) > 0.01  # without the line

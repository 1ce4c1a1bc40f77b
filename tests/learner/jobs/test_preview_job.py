"""The job `preview`: what it chooses under which settings, what it reuses, and that the project does not change."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.kit.jobs.open_jobs import cancel
from allpairs.db.domain import HALF_SPREAD_STRATEGY, Settings
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.projects.jobs import PREVIEW, add_job
from allpairs.db.results.job_results import Preview, preview_path
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Project, StoredModel
from allpairs.learner.jobs import preview as steps
from allpairs.learner.jobs.data import stored_vectors
from allpairs.learner.jobs.queue import progress
from allpairs.learner.light.catalog import STRATEGIES
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import answer_batch, half, newest, pairs, rows, run, texts

LIVE = [name for name, entry in STRATEGIES.items() if entry.live]


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    """Return 30 texts without known pairs, the last 10 for evaluation; no job has run."""
    return make_quick(engine, encoder)


def make_quick(engine: Engine, encoder: Path, name: str = "Questions", **settings: Any) -> int:
    quick: dict[str, Any] = {"first": 6, "neighbours": 10, "epochs": 1, "learning_rate": 1e-3, "audit_every": 0}
    return make_project(engine, texts(), name=name, evaluation=10, encoder=str(encoder), **(quick | settings))


@pytest.fixture
def trained(engine: Engine, project: int) -> int:
    """Return the project after a first trained round."""
    run(engine, project)
    answer_batch(engine, project, half)
    run(engine, project)
    return project


def preview(engine: Engine, project_id: int, **entered: Any) -> Preview:
    """Run the job's step under the project's settings with these values replaced, and return its result."""
    with writing(engine) as session:
        job_id = add_job(session, project_id, PREVIEW).id
        settings = session.get_one(Project, project_id).settings | entered
    steps.choose_pairs(job_id, project_id, settings)
    found = read_result(preview_path(project_id, settings["strategy"]), Preview)
    assert found is not None
    assert (found.job_id, found.settings) == (job_id, settings)
    return found


def as_pairs(found: Preview) -> list[tuple[int, int]]:
    return [(pair.left_id, pair.right_id) for pair in found.pairs]


@pytest.mark.parametrize("strategy", LIVE)
def test_every_live_strategy_previews_ten_unanswered_pairs(engine: Engine, trained: int, strategy: str) -> None:
    before = rows(engine)
    found = preview(engine, trained, strategy=strategy)
    assert rows(engine) == before
    assert (found.chosen_by, found.matcher, len(found.pairs)) == (strategy, 1, 10)
    assert len(set(as_pairs(found))) == 10
    with reading(engine) as session:
        answered = set(session.execute(select(Answer.left_id, Answer.right_id)).tuples())
        matcher = session.scalars(select(StoredModel).where(StoredModel.number == 1)).one()
    assert answered and not answered & set(as_pairs(found))
    assert all(left < right for left, right in as_pairs(found))
    for pair in found.pairs:
        assert pair.p == pytest.approx(1 / (1 + np.exp(-(matcher.w * pair.score + matcher.b))))  # type: ignore[operator]


def test_the_pairs_are_those_of_the_same_models_batch(engine: Engine, trained: int) -> None:
    _, tasks = newest(engine, trained)
    assert as_pairs(preview(engine, trained)) == [(task.left_id, task.right_id) for task in tasks][:10]
    similar = preview(engine, trained, strategy="adaptive-retrieval")
    assert [pair.score for pair in similar.pairs] == sorted((pair.score for pair in similar.pairs), reverse=True)


def test_before_there_is_a_model_the_seed_strategy_chooses(engine: Engine, project: int) -> None:
    found = preview(engine, project)
    assert (found.chosen_by, found.matcher, {pair.p for pair in found.pairs}) == (HALF_SPREAD_STRATEGY, None, {None})
    run(engine, project)
    assert as_pairs(found) == [(task.left_id, task.right_id) for task in newest(engine, project)[1]][:10]
    again = preview(engine, project)
    assert (again.chosen_by, again.matcher, as_pairs(again)) == (HALF_SPREAD_STRATEGY, 0, as_pairs(found))
    assert preview(engine, project, strategy="random").chosen_by == "random"


def test_the_vectors_of_the_last_round_are_used_again(
    engine: Engine, trained: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise AssertionError(name)

    expected = as_pairs(preview(engine, trained))
    monkeypatch.setattr(stored_vectors, "load_encoder", fail)
    assert as_pairs(preview(engine, trained)) == expected


def test_vectors_that_are_gone_are_made_again_and_kept(
    engine: Engine, trained: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = as_pairs(preview(engine, trained))
    for file in artifacts().rglob("vectors.npy"):
        file.unlink()
    loaded: list[str] = []
    load = stored_vectors.load_encoder

    def watched(name: str) -> Any:
        loaded.append(name)
        return load(name)

    monkeypatch.setattr(stored_vectors, "load_encoder", watched)
    assert [as_pairs(preview(engine, trained)) for _ in range(2)] == [expected] * 2
    assert len(loaded) == 1 and loaded[0].endswith("/model")
    assert not list(artifacts().rglob("*.tmp"))


def test_what_is_entered_counts_though_it_is_not_saved(engine: Engine, trained: int) -> None:
    plain = as_pairs(preview(engine, trained))
    assert len(np.unique(as_pairs(preview(engine, trained, per_text=1)))) > len(np.unique(plain))
    assert set(as_pairs(preview(engine, trained, control_share=1.0))) != set(plain)
    assert set(as_pairs(preview(engine, trained, strategy="adaptive-retrieval", neighbours=1))) != set(
        as_pairs(preview(engine, trained, strategy="adaptive-retrieval"))
    )
    with reading(engine) as session:
        stored = Settings.model_validate(session.get_one(Project, trained).settings)
    assert (stored.per_text, stored.control_share, stored.neighbours, stored.strategy) == (0, 0, 10, "uncertainty")


def test_previews_are_gone_when_the_next_round_is_made(engine: Engine, trained: int) -> None:
    preview(engine, trained)
    answer_batch(engine, trained, half)
    run(engine, trained)
    assert read_result(preview_path(trained, "uncertainty"), Preview) is None


def test_few_pairs_make_a_short_preview_and_none_an_empty_one(engine: Engine, encoder: Path) -> None:
    few = make_project(engine, texts(4), encoder=str(encoder), first=6)
    assert len(preview(engine, few).pairs) == 6
    run(engine, few)
    answer_batch(engine, few, half)
    assert preview(engine, few).pairs == []


def test_a_preview_obeys_a_cancel(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with writing(engine) as session:
        job_id = add_job(session, project, PREVIEW).id
        settings = session.get_one(Project, project).settings
    cancel(engine, job_id)
    with pytest.raises(Cancelled):
        steps.choose_pairs(job_id, project, settings)
    assert read_result(preview_path(project, "uncertainty"), Preview) is None


def test_an_encoder_that_cannot_be_had_is_said(engine: Engine, project: int) -> None:
    with pytest.raises(InputError, match="no folder /none"):
        preview(engine, project, encoder="/none")


def test_live_strategies_choose_batches_too(engine: Engine, encoder: Path) -> None:
    chosen = {}
    for strategy in LIVE:
        project_id = make_quick(engine, encoder, name=strategy, strategy=strategy)
        run(engine, project_id)
        answer_batch(engine, project_id, half)
        run(engine, project_id)
        batch, tasks = newest(engine, project_id)
        assert (batch.number, batch.strategy, batch.size) == (2, strategy, 9)
        chosen[strategy] = pairs(tasks)
    assert all(one != other for one, other in itertools.combinations(chosen.values(), 2))

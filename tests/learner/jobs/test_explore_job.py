"""The jobs `explore` and `search`: what they find, by whose scores, and that the project does not change."""

import itertools
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.kit.jobs.open_jobs import cancel
from allpairs.annotate.kit.jobs.prepared import (
    ExploredRound,
    Known,
    Scored,
    known_pairs,
    prepared_best_pairs,
    probability,
    rounds_of,
)
from allpairs.db.domain import AnswerKind
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.projects.jobs import EXPLORE, SEARCH, add_job
from allpairs.db.results.explorations import exploration_folder
from allpairs.db.results.job_results import Search, search_path
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Gold, Item
from allpairs.learner.jobs import explore as steps
from allpairs.learner.jobs import search
from allpairs.learner.jobs.data import stored_vectors as vectors
from allpairs.learner.jobs.queue import progress
from allpairs.learner.models.encoder import load_encoder
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import answer, answer_batch, half, matcher_of, newest, rows, run, texts


def make_quick(engine: Engine, encoder: Path, **settings: Any) -> int:
    """Make 30 texts, the last 10 for evaluation, two gold pairs of these, and a trained round; return the id."""
    quick: dict[str, Any] = {"first": 6, "neighbours": 10, "epochs": 1, "learning_rate": 1e-3, "audit_every": 0}
    project_id = make_project(engine, texts(), evaluation=10, encoder=str(encoder), **(quick | settings))
    with writing(engine) as session:
        items = session.scalars(select(Item.id).order_by(Item.id)).all()
        session.add(Gold(project_id=project_id, left_id=items[20], right_id=items[26], positive=True))
        session.add(Gold(project_id=project_id, left_id=items[21], right_id=items[22], positive=False))
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    return project_id


@pytest.fixture
def trained(engine: Engine, encoder: Path) -> int:
    return make_quick(engine, encoder)


def prepare(engine: Engine, project_id: int, number: int = 1) -> ExploredRound:
    with writing(engine) as session:
        job_id = add_job(session, project_id, EXPLORE).id
    steps.prepare(job_id, project_id, number)
    found = next(one for one in rounds_of(engine, project_id) if one.matcher.number == number)
    assert found.exploration is not None
    return found


def find(engine: Engine, project_id: int, text: str, item_id: int | None = None, number: int = 1) -> Search:
    with writing(engine) as session:
        job_id = add_job(session, project_id, SEARCH).id
    search.find_nearest(job_id, project_id, number, text, item_id, True)
    found = read_result(search_path(project_id, job_id), Search)
    assert found is not None
    return found


def item_ids(engine: Engine) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).order_by(Item.id)))


def cosines(engine: Engine, number: int = 1) -> dict[tuple[int, int], float]:
    """Return the score of every pair of items, from the stored model itself."""
    matcher = matcher_of(engine, number)
    name = str(artifacts() / matcher.folder) if matcher.folder else matcher.encoder
    vectors = load_encoder(name).encode(texts())
    ids = item_ids(engine)
    pairs = itertools.combinations(range(30), 2)
    return {(ids[i], ids[j]): float(vectors[i] @ vectors[j]) for i, j in pairs}


def as_dict(scored: Scored) -> dict[tuple[int, int], float]:
    return dict(zip(scored.pairs, scored.score.tolist(), strict=True))


@pytest.mark.parametrize("number", [0, 1])
def test_all_pairs_of_all_items_by_the_models_scores(engine: Engine, trained: int, number: int) -> None:
    before = rows(engine)
    found = prepare(engine, trained, number)
    assert rows(engine) == before
    expected, scored = cosines(engine, number), prepared_best_pairs(found)
    assert as_dict(scored) == pytest.approx(expected, abs=1e-5)
    assert scored.score.tolist() == sorted(scored.score.tolist(), reverse=True)
    assert found.exploration is not None
    assert (found.exploration.pairs, found.exploration.kept, found.exploration.number) == (435, 435, number)
    assert found.exploration.times == 30 / 10


def test_only_the_best_are_kept(engine: Engine, trained: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST_PAIRS", 50)
    found = prepare(engine, trained)
    expected = sorted(cosines(engine).values(), reverse=True)[:50]
    np.testing.assert_allclose(prepared_best_pairs(found).score, expected, atol=1e-5)
    assert found.exploration is not None and (found.exploration.kept, found.exploration.pairs) == (50, 435)


def test_two_lists_make_pairs_of_left_and_right(engine: Engine, encoder: Path) -> None:
    project_id = make_project(engine, texts(8), texts()[8:12], evaluation=3, encoder=str(encoder), first=4)
    run(engine, project_id)
    found = prepare(engine, project_id, 0)
    ids = item_ids(engine)
    assert set(prepared_best_pairs(found).pairs) == set(itertools.product(ids[:8], ids[8:]))
    assert found.exploration is not None and found.exploration.times == 1


def by_pair(known: Known) -> dict[tuple[int, int], tuple[int, int, int]]:
    columns = zip(known.label.tolist(), known.gold.tolist(), known.truth.tolist(), strict=True)
    return dict(zip(known.scored.pairs, columns, strict=True))


def test_known_pairs_are_labels_and_gold(engine: Engine, trained: int) -> None:
    _, tasks = newest(engine, trained)
    answer(engine, tasks[0], AnswerKind.UNSURE)
    ids, found = item_ids(engine), prepare(engine, trained)
    known = known_pairs(found)
    expected = cosines(engine)
    assert as_dict(known.scored) == pytest.approx({pair: expected[pair] for pair in known.scored.pairs}, abs=1e-5)
    columns = by_pair(known)
    assert columns.pop((ids[20], ids[26])) == (-1, 1, 1)
    assert columns.pop((ids[21], ids[22])) == (-1, 0, 0)
    assert sorted(columns.values()) == [(0, -1, 0)] * 3 + [(1, -1, 1)] * 3
    assert found.exploration is not None and found.exploration.known == 8


def test_a_label_goes_before_gold(engine: Engine, trained: int) -> None:
    _, tasks = newest(engine, trained)
    with writing(engine) as session:
        session.add(Gold(project_id=trained, left_id=tasks[0].left_id, right_id=tasks[0].right_id, positive=True))
    answer(engine, tasks[0], AnswerKind.NEGATIVE)
    known = by_pair(known_pairs(prepare(engine, trained)))
    assert known[tasks[0].left_id, tasks[0].right_id] == (0, 1, 0)


def test_an_older_round_is_encoded_again_once(engine: Engine, trained: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_batch(engine, trained, half)
    run(engine, trained)
    loaded: list[str] = []
    load = vectors.load_encoder

    def watched(name: str) -> Any:
        loaded.append(name)
        return load(name)

    monkeypatch.setattr(vectors, "load_encoder", watched)
    newest_one, older = prepare(engine, trained, 2), prepare(engine, trained, 1)
    prepare(engine, trained, 1)
    assert loaded == [str(artifacts() / str(older.matcher.folder))]
    assert as_dict(prepared_best_pairs(newest_one)) == pytest.approx(cosines(engine, 2), abs=1e-5)
    assert as_dict(prepared_best_pairs(older)) == pytest.approx(cosines(engine, 1), abs=1e-5)


def test_explorations_stay_with_their_matcher(engine: Engine, trained: int) -> None:
    first = prepare(engine, trained)
    answer_batch(engine, trained, half)
    run(engine, trained)
    assert [one.exploration is not None for one in rounds_of(engine, trained)] == [False, True, False]
    with writing(engine) as session:  # a job that was cancelled left a matcher whose number another one has now
        session.merge(first.matcher).created_at += timedelta(seconds=1)
    prepare(engine, trained, 2)
    assert not exploration_folder(first.matcher).exists()


def test_a_round_that_is_gone_is_said(engine: Engine, trained: int) -> None:
    with pytest.raises(InputError, match="round 7 has no model"):
        prepare(engine, trained, 7)


def test_preparing_obeys_a_cancel(engine: Engine, trained: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with writing(engine) as session:
        job_id = add_job(session, trained, EXPLORE).id
    cancel(engine, job_id)
    with pytest.raises(Cancelled):
        steps.prepare(job_id, trained, 1)
    assert rounds_of(engine, trained)[0].exploration is None


@pytest.mark.parametrize("number", [0, 1])
def test_a_typed_text_finds_what_its_item_finds(engine: Engine, encoder: Path, number: int) -> None:
    project_id = make_quick(engine, encoder, hubness=0.25, lexical=True)
    scored = as_dict(prepared_best_pairs(prepare(engine, project_id, number)))
    ids = item_ids(engine)
    own = find(engine, project_id, "", ids[4], number)
    expected = {(pair[0] + pair[1] - ids[4]): score for pair, score in scored.items() if ids[4] in pair}
    assert {hit.item_id: hit.score for hit in own.hits} == pytest.approx(expected, abs=1e-5)
    assert [hit.score for hit in own.hits] == sorted((hit.score for hit in own.hits), reverse=True)
    typed = find(engine, project_id, texts()[4], None, number)
    assert {hit.item_id: hit.score for hit in typed.hits if hit.item_id != ids[4]} == pytest.approx(expected, abs=1e-4)
    assert len(typed.hits) == 30 and len(own.hits) == 29
    p = probability(matcher_of(engine, number), np.array([hit.score for hit in own.hits]))
    assert [hit.p for hit in own.hits] == ([None] * 29 if p is None else pytest.approx(p.tolist(), abs=1e-6))


def test_an_item_of_nowhere_is_said(engine: Engine, trained: int) -> None:
    with pytest.raises(InputError, match=r"no text .*999999"):
        find(engine, trained, "", 999_999)

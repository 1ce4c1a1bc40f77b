"""Results of jobs, written directly without a model: explored rounds, previews and published models."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.publish import matching
from allpairs.annotate.features.publish.publications import publish_round
from allpairs.annotate.kit.jobs.prepared import ExploredRound, rounds_of
from allpairs.db.domain import Settings
from allpairs.db.files.json_file import write_json
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.results.explorations import KNOWN, PAIRS, Exploration, exploration_folder, write_exploration
from allpairs.db.results.job_results import Preview, PreviewPair, preview_path
from allpairs.db.results.matches import Matches
from allpairs.db.schema.engine import as_system, reading, writing
from allpairs.db.schema.tables import Item, MatchServer, StoredModel
from allpairs.learner.light.groups.grouping import USUAL

Row = tuple[int, int, float]  # positions of two items of the project, and their score
KnownRow = tuple[int, int, float, int, int]  # and the pair's label and gold answer


def explore(
    engine: Engine, project_id: int, number: int, pairs: Sequence[Row], known: Sequence[KnownRow] = (),
    all_pairs: int | None = None, cutoff: int = 0,
) -> ExploredRound:  # fmt: skip
    """Make a round with these pairs, best first, and these known ones, and return it."""
    ids = np.array(item_ids(engine, project_id))
    with reading(engine) as session:
        matcher = session.scalars(
            select(StoredModel).where(StoredModel.project_id == project_id, StoredModel.number == number)
        ).one()
    folder = exploration_folder(matcher)
    folder.mkdir(parents=True, exist_ok=True)
    left, right, score = _columns(pairs, 3)
    np.savez(folder / PAIRS, left=ids[left.astype(int)], right=ids[right.astype(int)], score=score.astype(np.float32))
    left, right, score, label, gold = _columns(known, 5)
    np.savez(
        folder / KNOWN, left=ids[left.astype(int)], right=ids[right.astype(int)], score=score.astype(np.float32),
        label=label.astype(np.int8), gold=gold.astype(np.int8), equal=np.zeros(len(left), dtype=bool),
    )  # fmt: skip
    counts = (len(pairs) if all_pairs is None else all_pairs, len(pairs), len(known))
    write_exploration(folder, Exploration(number, *counts, cutoff=cutoff, times=4.0, seconds=3.2, texts=0))
    return next(one for one in rounds_of(engine, project_id) if one.matcher.number == number)


def _columns(rows: Sequence[Sequence[float]], n: int) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, n).T


def item_ids(engine: Engine, project_id: int) -> list[int]:
    """Return the items of the project in the order of its texts."""
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)))


CURVE = {"recall": [0.25, 0.5, 1.0], "precision": [1.0, 0.8, 0.5], "score": [0.8, 0.6, 0.3]}

FIGURES = {"pairs": 1000, "positives": 4, "estimates": {}, "curve": CURVE, "histogram": {}}

SCORED = [(0, 1, 0.9), (0, 2, 0.8), (3, 4, 0.7), (0, 6, 0.65), (6, 7, 0.6), (4, 5, 0.2), (1, 2, 0.1)]


ENTERED: dict[str, Any] = Settings.model_validate({}).model_dump()


def make_matches(
    round_number: int, threshold: float, pairs: int, groups: int, texts: int, reranker: str | None = None
) -> Matches:
    """Return the description of connected matches that are not the project's groups."""
    counts: dict[str, Any] = {"changed": None, "texts": 0, "below": 0, "rows": 0, "left_out": 0, "alike": 0}
    numbers = round_number, threshold, pairs, groups, texts
    return Matches("job", *numbers, reranker, *USUAL.words, note="", **counts)


def make_preview(
    engine: Engine, project_id: int, matcher: int | None = 2, p: float | None = 0.6, **entered: Any
) -> Preview:
    """Store a preview of one pair and return it."""
    with reading(engine) as session:
        left, right = session.scalars(select(Item.id).order_by(Item.id).limit(2)).all()
    made = Preview("preview-1", ENTERED | entered, "uncertainty", matcher, [PreviewPair(left, right, 0.75, p)])
    write_json(preview_path(project_id, made.strategy), made)
    return made


ANSWER = {
    "round": 1, "publication": 1, "recall": None,
    "results": [[{"item": 1, "ids": ["left-0"], "group": None, "text": "text 0", "fields": None,
                  "score": 0.9, "p": 0.75, "reason": "model",
                  "why": [{"part": "meaning", "amount": 1.1, "words": []}]}]],
}  # fmt: skip


def make_trained(engine: Engine, project_id: int, number: int = 1) -> None:
    """Give this round a model, of which there is nothing but its row."""
    with writing(as_system(engine)) as session:
        row = matcher_of(session, project_id, number) or StoredModel(
            project_id=project_id, number=number, encoder="tiny"
        )
        row.folder, row.w, row.b = f"project-{project_id}/job-{number}/model", 20.0, -12.0
        session.add(row)


def make_published(engine: Engine, project_id: int, number: int = 1) -> None:
    """Publish the model of this round, of which there is nothing but its row."""
    make_trained(engine, project_id, number)
    publish_round(as_system(engine), project_id, number)


def answering(patch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """Let a process answer; return what it is asked, as it comes."""
    asked: list[Mapping[str, Any]] = []

    def ask(servers: Sequence[MatchServer], body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        asked.append(body)
        return 200, ANSWER

    patch.setattr(matching, "ask_servers", ask)
    return asked

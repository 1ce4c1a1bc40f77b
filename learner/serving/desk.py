"""Requests answered with the published model, and compared with its shadow's answers."""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from threadpoolctl import ThreadpoolController

from allpairs.db.corpus.equal_texts import EQUAL, MODEL
from allpairs.db.corpus.fields import joined_values
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.db.projects.publications import add_counts
from allpairs.db.projects.stable_groups import group_ids_of
from allpairs.db.schema.engine import reading, writing
from allpairs.learner.scoring.any_pairs import Seen
from allpairs.learner.scoring.explanation import Part
from allpairs.learner.serving.agreement import FIRST, Compared, counts
from allpairs.learner.serving.loaded import Loaded, Served
from allpairs.learner.serving.project_texts import Asked
from allpairs.learner.serving.served_model import Ranked, Scored

LONGEST_ANSWER = 4_000_000  # characters of all candidates
COMPARISONS = 4  # that wait or run
FEW = 4  # texts for which a core alone is faster: PyTorch's threads, BLAS's and FAISS's wait for work by spinning


@dataclass(frozen=True)
class Question:
    """What is asked of a model: the k best candidates of texts or records of a side; why: with their parts."""

    project_id: int
    asked: Sequence[Asked]
    k: int = 10
    side: Side = Side.LEFT
    why: bool = True


@dataclass(frozen=True)
class Answered:
    """A question with its answer: the candidates under the published model, the first ten at least."""

    question: Question
    served: Served
    seen: Seen
    ranked: list[Ranked]


class Desk:
    """Answers one question at a time: with one core where there are few texts, else with all."""

    def __init__(self, engine: Engine, loaded: Loaded) -> None:
        self._engine = engine
        self.loaded = loaded
        self._turn = threading.Lock()
        self._comparisons = threading.BoundedSemaphore(COMPARISONS)
        self._threads = ThreadpoolController()

    def match(self, question: Question) -> tuple[dict[str, Any], Answered]:
        """Return the answer as JSON, and what `compare` needs.

        Raises InputError for a question that does not fit the project, and as `Loaded.model`.
        """
        served = self.loaded.model(question.project_id)
        of_left = _of_left(question, served)
        records = served.texts.records(question.asked, of_left)
        most = max(question.k, FIRST)
        with self._turn, self._cores(question.asked), reading(self._engine) as session:
            seen = served.model.see(records, of_left)
            read = partial(served.texts.read, session, of_left=not of_left)
            found = served.model.best(records.texts, seen, most, read, question.k if question.why else 0)
            results = _as_json(session, served, found, question, not of_left)
        recall = served.model.indexes[of_left].recall
        answer = {
            "round": served.key.number,
            "publication": served.key.publication_id,
            "recall": None if recall is None else recall.as_dict(),
            "results": results,
        }
        return answer, Answered(question, served, seen, found.ranked)

    def compare(self, answered: Answered) -> None:
        """Score the same texts with the project's shadow, if it has one, and count how far the two agree.

        Where several comparisons wait already, this one is left out: requests go first.
        """
        if self._comparisons.acquire(blocking=False):
            try:
                self._compare(answered)
            finally:
                self._comparisons.release()

    def _compare(self, answered: Answered) -> None:
        question = answered.question
        one = answered.served
        other = self.loaded.shadow(question.project_id)
        if other is None:
            return
        of_left = _of_left(question, one)
        with self._turn, self._cores(question.asked), reading(self._engine) as session:
            read = [partial(each.texts.read, session, of_left=not of_left) for each in (one, other)]
            records = other.texts.records(question.asked, of_left)
            seen = other.model.see(records, of_left)
            ranked = other.model.best(records.texts, seen, FIRST, read[1]).ranked
            firsts = [
                (_items(one, mine), _items(other, theirs)) for mine, theirs in zip(answered.ranked, ranked, strict=True)
            ]
            unions = [np.union1d(*each) for each in firsts]
            text = np.repeat(np.arange(len(unions)), list(map(len, unions)))
            items = np.concatenate([*unions, np.empty(0, dtype=np.int64)]).astype(np.int64)
            p = [
                each.model.probability(each.model.scores(of, text, np.searchsorted(each.texts.item_ids, items), rows))
                for each, of, rows in zip((one, other), (answered.seen, seen), read, strict=True)
            ]
        ends = np.cumsum(list(map(len, unions)))[:-1]
        parts = zip(firsts, np.split(p[0], ends), np.split(p[1], ends), strict=True)
        more = counts([Compared(*first, *both) for first, *both in parts])
        with writing(self._engine) as session:
            add_counts(session, question.project_id, one.key.publication_id, other.key.publication_id, more)

    def _cores(self, asked: Sequence[Asked]) -> AbstractContextManager[object]:
        return self._threads.limit(limits=1) if len(asked) <= FEW else nullcontext()


def _of_left(question: Question, served: Served) -> bool:
    return question.side == Side.LEFT or served.texts.one_list


def _items(served: Served, ranked: Ranked) -> np.ndarray:
    """Return the items of the first candidates, best first."""
    items: np.ndarray = served.texts.item_ids[ranked.rows[:FIRST]]
    return items


def _as_json(
    session: Session, served: Served, found: Scored, question: Question, of_left: bool
) -> list[list[dict[str, Any]]]:
    """Return the candidates of each text; of_left: their side."""
    rows = np.unique(np.concatenate([*(one.rows[: question.k] for one in found.ranked), np.empty(0, np.int64)]))
    rows = rows.astype(np.int64)
    records = served.texts.read(session, rows, of_left)
    ids = served.texts.ids(session, rows)
    groups = group_ids_of(session, question.project_id, served.texts.item_ids[rows].tolist())
    shown = {
        row: (text, lengths) for row, text, lengths in zip(rows.tolist(), records.texts, records.lengths, strict=True)
    }
    size = sum(len(shown[row][0]) for one in found.ranked for row in one.rows[: question.k].tolist())
    if size > LONGEST_ANSWER:
        raise InputError(f"the candidates have {size:,} characters, and the limit is {LONGEST_ANSWER:,}: ask for fewer")
    names = served.texts.names(of_left)
    results = []
    for one, parts in zip(found.ranked, found.why, strict=True):
        near, score, equal = (column[: question.k] for column in one)
        p = np.where(equal, 1.0, served.model.probability(score))
        listed = zip(near.tolist(), score.tolist(), p.tolist(), equal.tolist(), strict=True)
        results.append(
            [
                {
                    "item": int(served.texts.item_ids[row]),
                    "ids": ids.get(row, []),
                    "text": shown[row][0],
                    "group": groups.get(int(served.texts.item_ids[row])),
                    "fields": dict(zip(names, joined_values(*shown[row]), strict=False)) if shown[row][1] else None,
                    "score": value,
                    "p": chance,
                    "reason": EQUAL if same else MODEL,
                    "why": [_part(part) for part in parts[place]] if parts else None,
                }
                for place, (row, value, chance, same) in enumerate(listed)
            ]
        )
    return results


def _part(part: Part) -> dict[str, Any]:
    return {"part": part.title, "amount": part.amount, "words": list(part.words)}

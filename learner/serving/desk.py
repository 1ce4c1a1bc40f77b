"""Requests answered with the published model, and compared with its shadow's answers."""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

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
from allpairs.learner.scoring.any_pairs import EncodedTexts
from allpairs.learner.scoring.explanation import Part
from allpairs.learner.serving.loaded import Loaded, Served
from allpairs.learner.serving.project_texts import Query
from allpairs.learner.serving.served_model import Ranked, ScoredTexts

LONGEST_ANSWER = 4_000_000  # characters of all candidates
COMPARISONS = 4  # that wait or run
FEW = 4  # texts for which a core alone is faster: PyTorch's threads, BLAS's and FAISS's wait for work by spinning
FIRST = 10  # candidates of a text that are compared
MATCH = 0.5  # the p at which a candidate is a match


@dataclass(frozen=True)
class MatchQuestion:
    """What a model is asked for: the k best candidates of texts or records of a side; with_parts: of their scores."""

    project_id: int
    queries: Sequence[Query]
    k: int = 10
    side: Side = Side.LEFT
    with_parts: bool = True


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with its answer: the candidates under the published model, the first ten at least."""

    question: MatchQuestion
    served: Served
    encoded: EncodedTexts
    ranked: list[Ranked]


class Compared(NamedTuple):
    """One text under two models: the first candidates of each, best first, and both p of all of these (n,)."""

    published: np.ndarray
    shadow: np.ndarray
    p_published: np.ndarray
    p_shadow: np.ndarray


class Desk:
    """Answers one question at a time: with one core where there are few texts, else with all."""

    def __init__(self, engine: Engine, loaded: Loaded) -> None:
        self._engine = engine
        self.loaded = loaded
        self._turn = threading.Lock()
        self._comparisons = threading.BoundedSemaphore(COMPARISONS)
        self._threads = ThreadpoolController()

    def match(self, question: MatchQuestion) -> tuple[dict[str, Any], AnsweredQuestion]:
        """Return the answer as JSON, and what `compare` needs.

        Raises InputError for a question that does not fit the project, and as `Loaded.model`.
        """
        served = self.loaded.model(question.project_id)
        of_left = _of_left(question, served)
        records = served.texts.records(question.queries, of_left)
        most = max(question.k, FIRST)
        with self._turn, self._cores(question.queries), reading(self._engine) as session:
            encoded = served.model.see(records, of_left)
            read = partial(served.texts.read, session, of_left=not of_left)
            candidates = served.model.best(records.texts, encoded, most, read, question.k if question.with_parts else 0)
            results = _as_json(session, served, candidates, question, not of_left)
        recall = served.model.indexes[of_left].recall
        answer = {
            "round": served.key.number,
            "publication": served.key.publication_id,
            "recall": None if recall is None else recall.as_dict(),
            "results": results,
        }
        return answer, AnsweredQuestion(question, served, encoded, candidates.ranked)

    def compare(self, answered: AnsweredQuestion) -> None:
        """Score the same texts with the project's shadow, if it has one, and count how far the two agree.

        Where several comparisons wait already, this one is left out: requests go first.
        """
        if self._comparisons.acquire(blocking=False):
            try:
                self._compare(answered)
            finally:
                self._comparisons.release()

    def _compare(self, answered: AnsweredQuestion) -> None:
        question = answered.question
        published = answered.served
        shadow = self.loaded.shadow(question.project_id)
        if shadow is None:
            return
        of_left = _of_left(question, published)
        with self._turn, self._cores(question.queries), reading(self._engine) as session:
            read = [partial(served.texts.read, session, of_left=not of_left) for served in (published, shadow)]
            records = shadow.texts.records(question.queries, of_left)
            encoded = shadow.model.see(records, of_left)
            ranked = shadow.model.best(records.texts, encoded, FIRST, read[1]).ranked
            firsts = [
                (_items(published, first), _items(shadow, second))
                for first, second in zip(answered.ranked, ranked, strict=True)
            ]
            unions = [np.union1d(*items) for items in firsts]
            text = np.repeat(np.arange(len(unions)), list(map(len, unions)))
            items = np.concatenate([*unions, np.empty(0, dtype=np.int64)]).astype(np.int64)
            p = [
                served.model.probability(
                    served.model.scores(texts, text, np.searchsorted(served.texts.item_ids, items), rows)
                )
                for served, texts, rows in zip((published, shadow), (answered.encoded, encoded), read, strict=True)
            ]
        ends = np.cumsum(list(map(len, unions)))[:-1]
        parts = zip(firsts, np.split(p[0], ends), np.split(p[1], ends), strict=True)
        more = counts([Compared(*first, *p_of_both) for first, *p_of_both in parts])
        with writing(self._engine) as session:
            add_counts(session, question.project_id, published.key.publication_id, shadow.key.publication_id, more)

    def _cores(self, queries: Sequence[Query]) -> AbstractContextManager[object]:
        return self._threads.limit(limits=1) if len(queries) <= FEW else nullcontext()


def _of_left(question: MatchQuestion, served: Served) -> bool:
    return question.side == Side.LEFT or served.texts.one_list


def _items(served: Served, ranked: Ranked) -> np.ndarray:
    """Return the items of the first candidates, best first."""
    items: np.ndarray = served.texts.item_ids[ranked.rows[:FIRST]]
    return items


def _as_json(
    session: Session, served: Served, candidates: ScoredTexts, question: MatchQuestion, of_left: bool
) -> list[list[dict[str, Any]]]:
    """Return the candidates of each text; of_left: their side."""
    rows = np.unique(
        np.concatenate([*(ranked.rows[: question.k] for ranked in candidates.ranked), np.empty(0, np.int64)])
    )
    rows = rows.astype(np.int64)
    records = served.texts.read(session, rows, of_left)
    ids = served.texts.ids(session, rows)
    groups = group_ids_of(session, question.project_id, served.texts.item_ids[rows].tolist())
    texts = {
        row: (text, lengths) for row, text, lengths in zip(rows.tolist(), records.texts, records.lengths, strict=True)
    }
    size = sum(len(texts[row][0]) for ranked in candidates.ranked for row in ranked.rows[: question.k].tolist())
    if size > LONGEST_ANSWER:
        raise InputError(f"the candidates have {size:,} characters, and the limit is {LONGEST_ANSWER:,}: ask for fewer")
    names = served.texts.names(of_left)
    results = []
    for ranked, parts in zip(candidates.ranked, candidates.parts, strict=True):
        near, score, equal = (column[: question.k] for column in ranked)
        p = np.where(equal, 1.0, served.model.probability(score))
        listed = zip(near.tolist(), score.tolist(), p.tolist(), equal.tolist(), strict=True)
        results.append(
            [
                {
                    "item": int(served.texts.item_ids[row]),
                    "ids": ids.get(row, []),
                    "text": texts[row][0],
                    "group": groups.get(int(served.texts.item_ids[row])),
                    "fields": dict(zip(names, joined_values(*texts[row]), strict=False)) if texts[row][1] else None,
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


def counts(compared: Sequence[Compared]) -> dict[str, float]:
    """Return the sums that `db.projects.publications.add_counts` adds."""
    sums: dict[str, float] = dict.fromkeys(("same_best", "shared", "pairs", "more", "away", "gained", "lost"), 0)
    for text in compared:
        difference = text.p_shadow - text.p_published
        sums["same_best"] += int(np.array_equal(text.published[:1], text.shadow[:1]))
        sums["shared"] += _shared(text)
        sums["pairs"] += len(difference)
        sums["more"] += float(difference.sum())
        sums["away"] += float(np.abs(difference).sum())
        sums["gained"] += int(((text.p_published < MATCH) & (text.p_shadow >= MATCH)).sum())
        sums["lost"] += int(((text.p_published >= MATCH) & (text.p_shadow < MATCH)).sum())
    return {"texts": len(compared), **sums}


def _shared(text: Compared) -> float:
    """Return the share of the first candidates that both models have; 1 where neither has any."""
    most = max(len(text.published), len(text.shadow))
    return len(np.intersect1d(text.published, text.shadow)) / most if most else 1.0

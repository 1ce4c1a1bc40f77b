"""What the labels of one list imply, and where they contradict each other: A = B, B = C, but A ≠ C."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.review.disagreements import Case, case_of
from allpairs.db.corpus.implied import Contradiction, LabelLinks, links_of
from allpairs.db.domain import AnswerKind, Kind
from allpairs.db.labels.answers import Label, labels_among, opinions_of_pairs
from allpairs.db.labels.reviews import open_pairs
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.records import Records, records_of_items
from allpairs.db.schema.engine import reading

MOST_EXAMPLES = 20  # contradictions to show


@dataclass(frozen=True)
class ContradictionStep:
    """A labelled pair of a contradiction, with its label and annotator."""

    case: Case
    answer: AnswerKind
    annotator: str


@dataclass(frozen=True)
class Algebra:
    """What labels imply: the number of groups and of implied pairs, and the first contradictions.

    Each contradiction is a path of matches from one text to another, and last the pair of both, labelled a non-match.
    problem: why implied pairs cannot be used for training; empty if they can.
    """

    groups: int
    matches: int
    non_matches: int
    contradictions: int
    examples: list[list[ContradictionStep]]
    problem: str


def algebra(engine: Engine, project_id: int) -> Algebra | None:
    """Return what the project's labels imply; None for two lists, where nothing follows by transitivity."""
    with reading(engine) as session:
        if project_of(session, project_id).kind != Kind.SYMMETRIC:
            return None
        label_links = links(session, project_id)
        first = label_links.contradictions(MOST_EXAMPLES)
        items = {item for contradiction in first for item in contradiction.path}
        by_pair = {(label.left_id, label.right_id): label for label in labels_among(session, project_id, items)}
        records = records_of_items(session, project_id, items)
    examples = [_steps(contradiction, by_pair, records) for contradiction in first]
    counts = label_links.groups, label_links.matches, label_links.others, int(label_links.clashes.sum())
    return Algebra(*counts, examples, label_links.trouble())


def links(session: Session, project_id: int) -> LabelLinks:
    """Return the links between the labelled items of a project of one list."""
    left, right, match = np.array(opinions_of_pairs(session, project_id), dtype=np.int64).reshape(-1, 3).T
    return links_of(np.column_stack([left, right]), match == 1)


def _steps(
    contradiction: Contradiction, by_pair: dict[tuple[int, int], Label], records: Records
) -> list[ContradictionStep]:
    pairs = [(min(step), max(step)) for step in pairwise(contradiction.path)]
    pairs.append((contradiction.left, contradiction.right))
    labels = [by_pair[pair] for pair in pairs]
    return [ContradictionStep(case_of(label, records), label.answer, label.annotator) for label in labels]


def count_waiting(engine: Engine, project_id: int) -> int:
    """Return how many pairs have different answers or are unsure, plus how many labels contradict others."""
    with reading(engine) as session:
        one_list = project_of(session, project_id).kind == Kind.SYMMETRIC
        clashes = int(links(session, project_id).clashes.sum()) if one_list else 0
        return len(open_pairs(session, project_id)) + clashes

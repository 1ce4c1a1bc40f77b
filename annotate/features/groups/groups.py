"""Groups of the matches above a threshold and of people's answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.kit.jobs.prepared import ExploredRound, Scored, known_pairs, probability
from allpairs.db.domain import AnswerKind, Clustering, Kind
from allpairs.db.groups.decisions import known_by_decisions
from allpairs.db.groups.regroup import present_texts
from allpairs.db.labels.answers import labelled_pairs
from allpairs.db.labels.pairs import Pair
from allpairs.db.projects.items import id_counts
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.description import Changes, Groups, changes_of_groups, described, with_equal_texts
from allpairs.learner.light.groups.links import Links


@dataclass(frozen=True)
class ItemGroups:
    """Groups of the texts with these ids, (n,) int64, ascending: a project's items.

    changes: what becomes of the groups that a chain of matches makes.
    """

    ids: np.ndarray
    groups: Groups
    changes: Changes

    def items(self, group: int) -> list[int]:
        """Return the items of the group: the most central first, then ascending."""
        texts = self.groups.texts(group)
        central = self.groups.central[group]
        item_ids: list[int] = self.ids[np.concatenate([[central], texts[texts != central]])].tolist()
        return item_ids

    def weakest(self, groups: np.ndarray) -> Scored:
        """Return the weakest link of each of these groups that has one, in their order."""
        groups = groups[self.groups.joined[groups, 0] >= 0]
        left, right = self.ids[self.groups.joined[groups]].T
        return Scored(left, right, self.groups.weakest[groups])


@dataclass(frozen=True)
class Answered:
    """Pairs that people, or else gold, answered with yes and with no, (k, 2) int64 item ids, and scores of the yes.

    Equal texts of two lists are a yes where nobody says no. several: how many ids a text has, if not one.
    """

    yes: np.ndarray
    no: np.ndarray
    score: np.ndarray  # NaN where the round does not have the pair
    equal: np.ndarray  # the pairs of equal texts, (k, 2), whatever people say
    several: Mapping[int, int] = field(default_factory=dict)

    @property
    def texts(self) -> np.ndarray:
        """The texts with several ids, (k,) int64."""
        return np.array(list(self.several), dtype=np.int64)


def answered_pairs(engine: Engine, answered_round: ExploredRound, best: Scored) -> Answered:
    """Return what people say of pairs and of groups now, and gold where nobody does. best: the round's best pairs."""
    known = known_pairs(answered_round)
    scores = dict(zip(known.scored.pairs, known.scored.score.tolist(), strict=True))
    named = np.flatnonzero(known.gold >= 0)
    gold = zip(known.scored.take(named).pairs, (known.gold[named] == 1).tolist(), strict=True)
    equal = known.scored.take(known.equal).pairs
    labels = dict.fromkeys(equal, AnswerKind.POSITIVE)
    labels |= {pair: (AnswerKind.NEGATIVE, AnswerKind.POSITIVE)[positive] for pair, positive in gold}
    with reading(engine) as session:
        labels |= labelled_pairs(session, answered_round.matcher.project_id)
        labels |= _decided(session, answered_round.matcher.project_id)
        several = id_counts(session, answered_round.matcher.project_id)
    yes = [pair for pair, answer in labels.items() if answer == AnswerKind.POSITIVE]
    no = [pair for pair, answer in labels.items() if answer == AnswerKind.NEGATIVE]
    yes_scores = np.array([scores.get(pair, np.nan) for pair in yes], dtype=np.float64)
    return Answered(_rows(yes), _rows(no), _scored(_rows(yes), yes_scores, best), _rows(equal), several)


def _decided(session: Session, project_id: int) -> dict[Pair, AnswerKind]:
    """Return what follows from people's decisions on groups, without withdrawn texts."""
    decided = known_by_decisions(session, project_id)
    items = present_texts(session, project_id, {item for pair in decided for item in pair})
    answers = AnswerKind.NEGATIVE, AnswerKind.POSITIVE
    return {pair: answers[same] for pair, same in decided.items() if items.issuperset(pair)}


def _scored(pairs: np.ndarray, score: np.ndarray, best: Scored) -> np.ndarray:
    """Return the scores (k,), those that are NaN from the best pairs where these have the pair."""
    lacking = np.flatnonzero(np.isnan(score))
    later = best.take(_among(best, pairs[lacking]))
    known = dict(zip(later.pairs, later.score.tolist(), strict=True))
    score[lacking] = [known.get((left, right), np.nan) for left, right in pairs[lacking].tolist()]
    return score


def matches_at(scored: Scored, threshold: float, answered: Answered) -> Scored:
    """Return the matches, best first: pairs that score at least the threshold, minus each no, plus each scored yes."""
    pairs = _with_answers(scored.take(slice(count_above(scored, threshold))), answered)
    return pairs.take(np.argsort(-pairs.score, kind="stable"))


def count_above(scored: Scored, threshold: float) -> int:
    """Return how many of the pairs, the best first, score at least `threshold`."""
    return int(np.searchsorted(-scored.score, -np.float32(threshold), side="right"))


def _rows(pairs: list[Pair]) -> np.ndarray:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def groups_of_matches(
    matcher: StoredModel,
    matches: Scored,
    threshold: float,
    kind: Kind,
    answered: Answered,
    clustering: Clustering = Clustering.CONNECTED,
) -> ItemGroups:
    """Return the groups that the matches of `matches_at` and the answers make."""
    sides = [matches.left, matches.right, *answered.yes.T]
    ids = np.unique(np.concatenate([*sides, answered.texts]))
    left, right, *yes = (np.searchsorted(ids, items) for items in sides)
    no = answered.no[np.isin(answered.no, ids).all(axis=1)]
    second = np.isin(ids, np.concatenate([matches.right, answered.yes[:, 1]])) if kind == Kind.BIPARTITE else None
    probabilities = probability(matcher, np.append(matches.score, threshold))
    p = np.append(matches.score.astype(np.float64), threshold) if probabilities is None else probabilities
    links = Links(len(ids), left, right, p[:-1], np.column_stack(yes), np.searchsorted(ids, no), second)
    # Rounding may put the last match below the threshold, but a yes stands for itself.
    unsaid = np.append(~_among(matches, answered.yes), True)
    least = float(p[unsaid].min())
    group = clustered(links, clustering, least)
    before = group if clustering == Clustering.CONNECTED else clustered(links, Clustering.CONNECTED, least)
    counts = np.array([answered.several.get(item, 1) for item in ids.tolist()], dtype=np.int64)
    return ItemGroups(
        ids, with_equal_texts(described(links, matches.score, group), counts), changes_of_groups(before, group)
    )


def _with_answers(matches: Scored, answered: Answered) -> Scored:
    """Return the matches without what people said no to, and with each yes that has a score."""
    unrefuted = matches.take(~_among(matches, answered.no))
    scored = ~np.isnan(answered.score)
    more = Scored(answered.yes[scored, 0], answered.yes[scored, 1], answered.score[scored].astype(np.float32))
    more = more.take(~_among(more, np.column_stack([unrefuted.left, unrefuted.right])))
    return Scored(
        *(np.concatenate([getattr(part, name) for part in (unrefuted, more)]) for name in ("left", "right", "score"))
    )


def _among(scored: Scored, pairs: np.ndarray) -> np.ndarray:
    """Return which of the scored pairs are among these, (n,) bool."""
    wide = 1 + max(scored.right.max(initial=0), pairs[:, 1].max(initial=0))
    return np.isin(scored.left * wide + scored.right, pairs[:, 0] * wide + pairs[:, 1])

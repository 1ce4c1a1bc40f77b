"""The alternative annotator test: whether a machine rater may stand in for one of several people.

Source: Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

PEOPLE = 3  # the fewest people
PAIRS = 30  # the fewest pairs that each of them shares with another
EPSILON = 0.2  # the paper's, where people are experts: what a person may be ahead, because a machine costs less
FALSE = 0.05  # the rate of false discoveries among the people whom the rater is said to match
PASSED = 0.5  # winning rate from which the rater passes


@dataclass(frozen=True)
class Against:
    """The rater against one person, on the pairs that this one shares with other people.

    rater, person: how often the one agrees with the others at least as well as the other; p: of the test that the
    rater is less than epsilon behind; wins: whether that is so at the rate of false discoveries.
    """

    name: str
    pairs: int
    rater: float
    person: float
    p: float
    wins: bool


@dataclass(frozen=True)
class AlternativeAnnotator:
    """Result of the test (Calderon, Reichart and Dror 2025).

    advantage: how often, on average, the rater does at least as well as a person; passes: whether it wins against at
    least half of the people.
    """

    against: list[Against]
    winning_rate: float
    advantage: float
    epsilon: float
    passes: bool


def alternative_annotator(
    answers: Sequence[Mapping[str, bool]], verdicts: Sequence[bool | None], epsilon: float = EPSILON
) -> AlternativeAnnotator | None:
    """Return the result; None with fewer than three people who share 30 pairs each with others.

    answers: for each pair what each person answered; verdicts: what the rater said, None if it abstained, which agrees
    with nobody. The test for each person is a one-sided paired t-test, corrected as by Benjamini and Yekutieli (2001).
    """
    names = sorted({person for people in answers for person in people})
    tables = {name: _compared(name, answers, verdicts) for name in names}
    tables = {name: table for name, table in tables.items() if len(table) >= PAIRS}
    if len(tables) < PEOPLE:
        return None
    rater = {name: float(np.mean(table[:, 0] >= table[:, 1])) for name, table in tables.items()}
    person = {name: float(np.mean(table[:, 1] >= table[:, 0])) for name, table in tables.items()}
    p = [_less(table, epsilon) for table in tables.values()]
    wins = benjamini_yekutieli(p, FALSE)
    against = [
        Against(name, len(tables[name]), rater[name], person[name], chance, win)
        for name, chance, win in zip(tables, p, wins, strict=True)
    ]
    winning_rate = float(np.mean(wins))
    advantage = float(np.mean(list(rater.values())))
    return AlternativeAnnotator(against, winning_rate, advantage, epsilon, winning_rate >= PASSED)


def _compared(name: str, answers: Sequence[Mapping[str, bool]], verdicts: Sequence[bool | None]) -> np.ndarray:
    """Return (pairs, 2): the shares of the other people with whom the rater and this person agree."""
    rows = []
    for people, verdict in zip(answers, verdicts, strict=True):
        other_answers = [answer for person, answer in people.items() if person != name]
        if name in people and other_answers:
            rows.append([np.mean([match == answer for answer in other_answers]) for match in (verdict, people[name])])
    return np.array(rows, dtype=float).reshape(-1, 2)


def _less(table: np.ndarray, epsilon: float) -> float:
    """Return the p of the hypothesis that the person is ahead by epsilon or more, against that they are not."""
    from scipy.special import stdtr  # slow to import: see db/corpus/graph.py

    ahead = (table[:, 1] >= table[:, 0]).astype(float) - (table[:, 0] >= table[:, 1])
    n = len(ahead)
    off = ahead.mean() - epsilon
    spread = ahead.std(ddof=1)
    if spread == 0:
        return 0.0 if off < 0 else 1.0
    return float(stdtr(n - 1, off / (spread / np.sqrt(n))))


def benjamini_yekutieli(p: Sequence[float], rate: float) -> list[bool]:
    """Return which hypotheses are rejected at this rate of false discoveries, however the tests depend on each other.

    Source: Benjamini and Yekutieli (2001), theorem 1.3.
    """
    order = np.argsort(p, kind="stable")
    m = len(p)
    bounds = rate * np.arange(1, m + 1) / (m * np.sum(1 / np.arange(1, m + 1)))
    below = np.flatnonzero(np.asarray(p)[order] <= bounds)
    rejected = np.zeros(m, dtype=bool)
    rejected[order[: below[-1] + 1 if len(below) else 0]] = True
    return [bool(one) for one in rejected]

"""The rank at which each query finds its gold passage, among all passages."""

from typing import Literal

import numpy as np
import torch

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.search.exact import COLUMNS, ROWS, as_tensor

Ties = Literal["optimistic", "average", "pessimistic"]


def ranks_of_gold(
    queries: np.ndarray,
    passages: np.ndarray,
    gold: np.ndarray,
    ties: Ties = "average",
    counts: np.ndarray | None = None,
    device: str | torch.device | None = None,
    progress: Progress = no_progress,
) -> np.ndarray:
    """Return the rank (n,) float64, from 1, of row gold[i] among all passages for query i; in blocks of scores.

    queries: (n, d), passages: (m, d) vectors, gold: (n,) int64. Among passages with the same score the gold one comes
    first, in the middle, or last. counts: (m,) the number of copies of each passage: the rank is that of the gold one's
    first copy, and other passages take one rank for each copy.
    """
    left = as_tensor(queries, device)
    right = as_tensor(passages, device)
    copies = as_tensor(np.ones(len(passages)) if counts is None else counts, device)
    gold_rows = torch.from_numpy(gold).to(right.device)
    ranks = np.empty(len(left))
    for row in range(0, len(left), ROWS):
        block = left[row : row + ROWS]
        gold_scores = (block * right[gold_rows[row : row + ROWS]]).sum(1)
        ranks[row : row + ROWS] = _ranks(block, right, copies, gold_scores, gold_rows[row : row + ROWS], ties)
        progress("measure", min(1.0, (row + ROWS) / len(left)))
    return ranks


def _ranks(
    block: torch.Tensor,
    right: torch.Tensor,
    copies: torch.Tensor,
    gold_scores: torch.Tensor,
    gold: torch.Tensor,
    ties: Ties,
) -> np.ndarray:
    above = torch.zeros_like(gold_scores)
    equal = torch.zeros_like(gold_scores)
    for column in range(0, len(right), COLUMNS):
        scores = block @ right[column : column + COLUMNS].T
        inside = (gold >= column) & (gold < column + scores.shape[1])
        positions = inside.nonzero()[:, 0]
        scores[positions, gold[positions] - column] = -torch.inf  # rounding must not rank it against itself
        weights = copies[column : column + COLUMNS]
        above += (scores > gold_scores[:, None]).float() @ weights
        equal += (scores == gold_scores[:, None]).float() @ weights
    share = {"optimistic": 0.0, "average": 0.5, "pessimistic": 1.0}[ties]
    return (1 + above + share * equal).cpu().double().numpy()

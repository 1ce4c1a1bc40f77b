"""BERTScore: the similarity of two texts, token by token.

Sources: Zhang et al. (2020); Jia, Lewis and Zettlemoyer (2022), section 3.1. Tokens are not weighted by rarity, and
special tokens count like others.
"""

import torch
from torch import Tensor

TINY = 1e-12


def bertscore(x: Tensor, y: Tensor, x_mask: Tensor, y_mask: Tensor) -> Tensor:
    """Return F of each pair, (n,): the harmonic mean of both directions, each the mean of a token's highest cosine.

    x: (n, s, d), y: (n, t, d) vectors of tokens; masks (n, s), (n, t) bool are false for padding. Keeps gradients.
    """
    forward, backward = directions(x, y, x_mask, y_mask)
    total = forward + backward
    return 2 * forward * backward / torch.where(total.abs() < TINY, TINY, total)


def directions(x: Tensor, y: Tensor, x_mask: Tensor, y_mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean of a token's highest cosine, (n,) each: from x to y, and from y to x. Keeps gradients."""
    x, y = (torch.nn.functional.normalize(vectors, dim=-1) for vectors in (x, y))
    cosines = x @ y.transpose(1, 2)
    return _mean_best(cosines, x_mask, y_mask), _mean_best(cosines.transpose(1, 2), y_mask, x_mask)


def _mean_best(cosines: Tensor, mask: Tensor, other_mask: Tensor) -> Tensor:
    best = cosines.masked_fill(~other_mask[:, None, :], -torch.inf).max(dim=2).values
    return best.masked_fill(~mask, 0).sum(dim=1) / mask.sum(dim=1)

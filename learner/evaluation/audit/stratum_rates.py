"""The share of positives in each stratum, from few labels: falling from stratum to stratum, slowly or steeply.

Deep strata are large and hold few positives, so that a sample of one usually shows none. An estimate of each stratum by
itself then knows nothing, and its interval is absurd: half a pseudo-count in a stratum of 500,000 pairs outweighs all
positives there are. But shares are known to fall with the score.

The model: from one stratum to the next, whose middle lies twice as deep, the log-odds of a positive fall by a uniform
step, of 0 to 1 in a slow fall and of 0.7 to 4 in a steep one; with probability 0.2 the fall changes its kind. (Where
log-odds fall by 0.7, each stratum holds as many positives as the one above it.) That is a hidden Markov model on a grid
of log-odds, solved exactly. `docs/log.md` has the simulations that led to it.
"""

import numpy as np

FALLS = ((0.0, 1.0), (0.7, 4.0))  # log-odds lost where the depth doubles: slowly, steeply
STAY = 0.8  # probability that the next step is of the same kind
STEPS, SMOOTH = 9, 0.3  # points that represent the steps of a kind, and their width
START = 4.0  # standard deviation of the first stratum's log-odds around 0
HIGHEST, WIDTH = 7.0, 0.25  # of the grid of log-odds
DEEPEST = 8.0  # doublings of depth from one stratum to the next: more than old designs have below their last band
LEAST = 0.1  # a share at which the largest stratum has fewer positives than this counts as zero


def draw_rates(
    positives: np.ndarray, labels: np.ndarray, sizes: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw (draws, h) the strata's shares of positives from their posterior, the highest stratum first.

    positives, labels: (h,) how many of the labelled pairs are positives, and how many are labelled (whole numbers, or
    effective ones where weights differ); sizes: (h,) pairs in each stratum.
    """
    grid = np.arange(HIGHEST, np.log(LEAST / sizes.max()), -WIDTH)[::-1]
    share = 1 / (1 + np.exp(-grid))
    seen = positives[:, None] * np.log(share) + (labels - positives)[:, None] * np.log1p(-share)
    likelihood = np.tile(np.exp(seen - seen.max(1, keepdims=True)), len(FALLS))  # (h, states): kind by log-odds
    steps = _steps(grid, _deepening(sizes))
    ahead = _backward(likelihood, steps)
    start = np.tile(np.exp(-0.5 * (grid / START) ** 2), len(FALLS)) * likelihood[0] * ahead[0]
    path = np.empty((draws, len(sizes)), dtype=np.int64)
    path[:, 0] = rng.choice(len(start), size=draws, p=start / start.sum())
    for h, step in enumerate(steps, start=1):
        path[:, h] = _draw(step[path[:, h - 1]] * likelihood[h] * ahead[h], rng)
    return share[path % len(grid)]


def _deepening(sizes: np.ndarray) -> np.ndarray:
    """Return how many times the depth doubles from the middle of one stratum to that of the next, (h - 1,)."""
    middle = np.cumsum(sizes) - sizes / 2
    return np.clip(np.log2(middle[1:] / middle[:-1]), 0.25, DEEPEST).round(2)


def _steps(grid: np.ndarray, deepening: np.ndarray) -> list[np.ndarray]:
    """Return for each step the probabilities (states, states) of the next stratum's kind and log-odds."""
    made = {ratio: _transitions(grid, ratio) for ratio in set(deepening.tolist())}
    return [made[ratio] for ratio in deepening.tolist()]


def _transitions(grid: np.ndarray, ratio: float) -> np.ndarray:
    switch = np.full((len(FALLS), len(FALLS)), (1 - STAY) / (len(FALLS) - 1))
    np.fill_diagonal(switch, STAY)
    kinds = []
    for low, high in FALLS:
        falls = np.linspace(low, high, STEPS)[:, None, None] * ratio
        near = np.exp(-0.5 * ((grid[None, :] - grid[:, None] + falls) / SMOOTH) ** 2).sum(0)
        near[:, 0] += 1e-9  # a step below the grid stays at its bottom
        kinds.append(near / near.sum(1, keepdims=True))
    states = len(FALLS) * len(grid)
    return np.einsum("jk,kgh->jgkh", switch, np.array(kinds)).reshape(states, states)


def _backward(likelihood: np.ndarray, steps: list[np.ndarray]) -> np.ndarray:
    """Return for each stratum the likelihood of all deeper labels by state, (h, states), each row up to a factor."""
    ahead = np.ones_like(likelihood)
    for h in range(len(steps) - 1, -1, -1):
        following = steps[h] @ (ahead[h + 1] * likelihood[h + 1])
        ahead[h] = following / following.max()
    return ahead


def _draw(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one position (n,) for each row of weights (n, states)."""
    below = np.cumsum(weights, axis=1)
    wanted = rng.random(len(weights)) * below[:, -1]
    return np.minimum((below < wanted[:, None]).sum(1), weights.shape[1] - 1)

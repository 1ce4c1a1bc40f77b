"""Check our OASIS over rank intervals against the published package, on a pool small enough for both.

    pip install --no-deps oasis==0.1.3 && pip install tables
    python -m benchmarks.quality.oasis_check [--repeats 200] [--labels 1000]

(`--no-deps`, because the package names a dependency, `sklearn`, that can no longer be installed.) Both have the same
200,000 pairs, strata and scores. First the package follows our draws, and at each reports its own distribution and
its F1. Then both run alone, and their errors of F1 are compared.
"""

import argparse
from typing import Any

import numpy as np
from oasis import OASISSampler
from oasis.stratification import Strata as Allocation

from benchmarks.data.pools import Pool
from benchmarks.quality.oasis_peer import Sampler, Strata, f_interval, sample
from benchmarks.quality.oasis_strata import calibrate, csf_strata

PAIRS = 200_000
POSITIVES = 200
MOST = 20  # at most this many draws with replacement for each label


class Follower(OASISSampler):  # type: ignore[misc]
    """The package's sampler, made to draw what ours draws."""

    gap = 0.0  # the largest difference so far between the two distributions
    ours: Sampler

    def _sample_item(self, **_: Any) -> tuple[int, float, dict[str, int]]:
        self._calc_inst_pmf()
        self.gap = max(self.gap, float(np.abs(self.inst_pmf_ - self.ours.instrumental()).max()))
        rank, _, _ = self.ours.draw()
        stratum = int(np.searchsorted(self.ours.strata.edges, rank, "left")) - 1
        return rank - 1, self.strata.weights_[stratum] / self.inst_pmf_[stratum], {"stratum": stratum}


def small_pool() -> Pool:
    """Return 200,000 pairs with 200 positives at random ranks, dense at the top."""
    rng = np.random.default_rng(0)
    ranks = np.unique(np.ceil(PAIRS ** rng.beta(2.0, 2.5, 4 * POSITIVES)).astype(np.int64))
    return Pool("small", PAIRS, np.sort(rng.choice(ranks, POSITIVES, replace=False)), np.ones(POSITIVES))


def arguments(pool: Pool, draws: int) -> tuple[Strata, dict[str, Any]]:
    """Return the strata, with the scores' means as the package takes them, and its sampler's arguments."""
    calibrated = calibrate(pool)
    edges = csf_strata(calibrated).edges
    ranks = np.arange(1, pool.pairs + 1)
    scores = np.interp(ranks, calibrated.rank, calibrated.chance)
    sizes = np.diff(edges)
    truth = pool.labels(ranks).astype(np.int64)
    places = np.repeat(np.arange(len(sizes)), sizes)
    mean = np.bincount(places, scores) / sizes
    predicted = (ranks <= pool.threshold).astype(np.int64)
    given = {"alpha": 0.5, "predictions": predicted, "scores": scores, "oracle": lambda at: truth[at], "proba": True}
    return Strata(edges, mean), {**given, "strata": Allocation(places), "max_iter": draws}


def main() -> None:
    """Print the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--labels", type=int, default=1_000)
    options = parser.parse_args()
    pool = small_pool()
    strata, given = arguments(pool, MOST * options.labels)
    follower = Follower(**given)
    follower.ours = Sampler(pool, strata, np.random.default_rng(0))
    follower.sample_distinct(options.labels)
    last = abs(follower.estimate_[-1] - follower.ours.estimate)
    print(f"{follower.t_:,} common draws: distributions differ by at most {follower.gap:.1e}, F1 by {last:.1e}")
    np.random.seed(0)  # the package uses numpy's global generator
    package = OASISSampler(**given)
    theirs = []
    ours = []
    for repeat in range(options.repeats):
        package.reset()
        package.sample_distinct(options.labels)
        theirs.append(package.estimate_[-1])
        draws = sample(pool, strata, options.labels, np.random.default_rng(repeat))
        ours.append(f_interval(draws, pool.threshold)[0])
    truth = pool.truth()[1]
    for name, values in (("package", np.array(theirs)), ("ours", np.array(ours))):
        bias = (values - truth).mean()
        rmse = np.sqrt(((values - truth) ** 2).mean())
        print(f"{name:8s} F1 {truth:.3f}: bias {bias:+.4f}, RMSE {rmse:.4f} ({options.labels:,} labels)")


if __name__ == "__main__":
    main()

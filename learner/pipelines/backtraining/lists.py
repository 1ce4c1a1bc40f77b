"""Retrieved and generated pairs: which model trains on which, and which of them the filters keep.

Source: Kulshreshtha et al. (2021), algorithm 1 and section 4.
"""

from dataclasses import dataclass

import numpy as np

SELF = "self-training"
BACK = "back-training"
PAPER_NLL = 1.35  # BART's, on the paper's development pairs
PAPER_SCORE = 66.68  # DPR's, likewise


@dataclass(frozen=True)
class Thresholds:
    """A pair is kept below `nll` (the generator's) and above `score` (the retriever's)."""

    nll: float
    score: float


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs as both old models score them: arrays (n,) float32 of one length."""

    nll: np.ndarray  # mean negative log-likelihood of a question's tokens, given the passage
    score: np.ndarray  # similarity of both under the retriever

    def __len__(self) -> int:
        return len(self.nll)


def thresholds_of(dev: ScoredPairs, generator_quantile: float, retriever_quantile: float) -> Thresholds:
    """Return the quantiles of the development pairs under the source models."""
    return Thresholds(
        float(np.quantile(dev.nll, generator_quantile)), float(np.quantile(dev.score, retriever_quantile))
    )


def kept(pairs: ScoredPairs, by_generator: bool, filtering: str, thresholds: Thresholds) -> np.ndarray:
    """Return which pairs a filter keeps, (n,) bool. by_generator: the generator made the pairs, else the retriever did.

    self: the model that made a pair judges it; cross: the other model does; both: both do.
    """
    likely = pairs.nll < thresholds.nll
    near = pairs.score > thresholds.score
    by_maker, by_partner = (likely, near) if by_generator else (near, likely)
    everything = np.ones(len(pairs), dtype=bool)
    return (by_maker if filtering in ("self", "both") else everything) & (
        by_partner if filtering in ("cross", "both") else everything
    )


def scheme_of(variant: str) -> tuple[str, str]:
    """Return the scheme and the filter in a variant's name, such as back-training and self."""
    scheme = BACK if variant.startswith(BACK) else SELF
    filtering = variant.removeprefix(scheme).removeprefix("-") or "none"
    return scheme, filtering


def learned(scheme: str) -> tuple[bool, bool]:
    """Return whether the generator, and whether the retriever, trains on generated rather than retrieved pairs.

    Self-training: each trains on its own pairs, real inputs with synthetic outputs. Back-training: each trains on the
    other's, synthetic inputs with real outputs.
    """
    return (True, False) if scheme == SELF else (False, True)

"""What rating pairs costs: tokens, money and time, before the first call."""

from collections.abc import Sequence
from dataclasses import dataclass

from allpairs.db.domain import RaterSetup
from allpairs.db.raters.prompt import MALFORMED, MOST_ANSWER
from allpairs.db.raters.rows import Spent

MILLION = 1e6
AN_ANSWER = 30  # tokens: a word and a probability
ENOUGH = 20  # pairs that were rated, for their tokens to tell what others take


@dataclass(frozen=True)
class Estimate:
    """What rating takes. minutes: at the rate limit; None without one. measured: by what was rated before."""

    pairs: int
    tokens_in: int
    tokens_out: int
    cost: float
    minutes: float | None
    measured: bool


def cost_of(setup: RaterSetup, tokens_in: float, tokens_out: float) -> float:
    """Return the price of these tokens."""
    return (setup.price_in * tokens_in + setup.price_out * tokens_out) / MILLION


def estimate(setup: RaterSetup, prompts: Sequence[int], so_far: Spent) -> Estimate:
    """Return what these prompts take, given the tokens of each; once some pairs were rated, by what those took."""
    pairs = len(prompts)
    measured = so_far.pairs >= ENOUGH
    if measured:
        tokens_in, tokens_out = (round(pairs * one / so_far.pairs) for one in (so_far.tokens_in, so_far.tokens_out))
    else:
        tokens_in = setup.samples * sum(prompts)
        tokens_out = setup.samples * pairs * AN_ANSWER
    minutes = pairs / setup.pairs_a_minute if setup.pairs_a_minute else None
    return Estimate(pairs, tokens_in, tokens_out, cost_of(setup, tokens_in, tokens_out), minutes, measured)


def most_cost(setup: RaterSetup, prompt: int) -> float:
    """Return what one pair may cost at the most, given the tokens of its prompt."""
    answers = setup.samples + MALFORMED - 1
    return cost_of(setup, answers * prompt, answers * MOST_ANSWER)

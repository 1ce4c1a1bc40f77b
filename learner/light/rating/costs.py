"""What rating pairs costs: tokens, money and time, before the first call."""

from collections.abc import Sequence
from dataclasses import dataclass

from allpairs.db.rating import RaterSetup, Spent
from allpairs.learner.light.rating.prompt import MALFORMED, MOST_ANSWER

MILLION = 1e6
AN_ANSWER = 30  # tokens: a word and a probability
ENOUGH = 20  # rated pairs from which on their tokens tell what further pairs take


@dataclass(frozen=True)
class RatingCost:
    """What rating takes. minutes: at the rate limit; None without one. measured: from pairs rated before."""

    pairs: int
    tokens_in: int
    tokens_out: int
    cost: float
    minutes: float | None
    measured: bool


def price(setup: RaterSetup, tokens_in: float, tokens_out: float) -> float:
    """Return the price of these tokens."""
    return (setup.price_in * tokens_in + setup.price_out * tokens_out) / MILLION


def estimate_cost(setup: RaterSetup, prompts: Sequence[int], spent: Spent) -> RatingCost:
    """Return what these prompts take, given the tokens of each; once some pairs are rated, as much as those took."""
    pairs = len(prompts)
    measured = spent.pairs >= ENOUGH
    if measured:
        tokens_in = round(pairs * spent.tokens_in / spent.pairs)
        tokens_out = round(pairs * spent.tokens_out / spent.pairs)
    else:
        tokens_in = setup.samples * sum(prompts)
        tokens_out = setup.samples * pairs * AN_ANSWER
    minutes = pairs / setup.pairs_a_minute if setup.pairs_a_minute else None
    return RatingCost(pairs, tokens_in, tokens_out, price(setup, tokens_in, tokens_out), minutes, measured)


def most_cost(setup: RaterSetup, prompt: int) -> float:
    """Return the maximum cost of one pair, given the tokens of its prompt."""
    answers = setup.samples + MALFORMED - 1
    return price(setup, answers * prompt, answers * MOST_ANSWER)

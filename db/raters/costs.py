"""What rating pairs costs: tokens, money and time, before the first call."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from allpairs.db.domain import RaterSetup
from allpairs.db.raters.pairs import Labelled
from allpairs.db.raters.rows import Spent

MILLION = 1e6
A_TOKEN = 3  # bytes: fewer than most models read at once, so that an estimate rather exceeds the bill
INSTRUCTIONS = 168  # tokens of a prompt that has nothing else in it
A_PAIR, ITS_ANSWER = 17, 13  # tokens of a pair besides its texts, and of an example's answer
AN_ANSWER = 30  # tokens: a word and a probability
MOST_ANSWER = 400  # tokens at which an endpoint cuts an answer off
ENOUGH = 20  # pairs that were rated, for their tokens to tell what others take
REPEATS = 2  # malformed answers that are asked for again


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


def prompt_tokens(question: str, guidelines: str, examples: Iterable[Labelled], left: str, right: str) -> int:
    """Estimate the tokens of a prompt: about as many as the rater's own estimate, which the app does not load."""
    texts = [(one.left, one.right) for one in examples] + [(left, right)]
    size = sum(_bytes(one) + _bytes(other) for one, other in texts) + _bytes(question) + _bytes(guidelines)
    return INSTRUCTIONS + size // A_TOKEN + A_PAIR * len(texts) + ITS_ANSWER * (len(texts) - 1)


def _bytes(text: str) -> int:
    return len(text.encode())


def estimate(setup: RaterSetup, prompts: Sequence[int], so_far: Spent) -> Estimate:
    """Return what these prompts take, given the tokens of each; once some pairs were rated, by what those took."""
    pairs, measured = len(prompts), so_far.pairs >= ENOUGH
    if measured:
        tokens_in, tokens_out = (round(pairs * one / so_far.pairs) for one in (so_far.tokens_in, so_far.tokens_out))
    else:
        tokens_in, tokens_out = setup.samples * sum(prompts), setup.samples * pairs * AN_ANSWER
    minutes = pairs / setup.pairs_a_minute if setup.pairs_a_minute else None
    return Estimate(pairs, tokens_in, tokens_out, cost_of(setup, tokens_in, tokens_out), minutes, measured)


def most_cost(setup: RaterSetup, prompt: int) -> float:
    """Return what one pair may cost at the most, given the tokens of its prompt."""
    answers = setup.samples + REPEATS
    return cost_of(setup, answers * prompt, answers * MOST_ANSWER)

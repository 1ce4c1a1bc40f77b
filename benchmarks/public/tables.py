"""Tables in Markdown, and means in words."""

from collections.abc import Iterable, Sequence

from benchmarks.public.summary import Mean
from benchmarks.public.work import SEEDS


def shown(mean: Mean | None) -> str:
    """Return `0.758 (0.741–0.775)`, and after it the number of seeds if it is not that of the plan: `0.758 [1]`."""
    if mean is None:
        return "–"
    band = "" if mean.low is None or mean.high is None else f" ({mean.low:.3f}–{mean.high:.3f})"
    return f"{mean.value:.3f}{band}{_if_fewer(mean)}"


def signed(mean: Mean | None) -> str:
    """Return a difference likewise: `+0.017 (−0.003 to +0.037)`."""
    if mean is None:
        return "–"
    band = "" if mean.low is None or mean.high is None else f" ({mean.low:+.3f} to {mean.high:+.3f})"
    return f"{mean.value:+.3f}{band}".replace("-", "−") + _if_fewer(mean)


def _if_fewer(mean: Mean) -> str:
    return "" if mean.seeds == len(SEEDS) else f" [{mean.seeds}]"


def of_seeds(mean: Mean) -> str:
    """Return how many seeds a mean rests on, in words."""
    return "1 seed" if mean.seeds == 1 else f"{mean.seeds} seeds"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; all columns but the first are figures or short words."""
    lines = [header, ["---" for _ in header], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

"""Tables in Markdown, and means in words."""

from collections.abc import Iterable, Sequence

from benchmarks.public.summary import Mean


def shown(mean: Mean | None, sign: str = "") -> str:
    """Return `0.758 [1]`, or with an interval `0.758 (0.741–0.775) [5]`."""
    if mean is None:
        return "–"
    band = "" if mean.low is None or mean.high is None else f" ({mean.low:{sign}.3f}–{mean.high:{sign}.3f})"
    return f"{mean.value:{sign}.3f}{band} [{mean.seeds}]"


def of_seeds(mean: Mean) -> str:
    """Return how many seeds a mean rests on, in words."""
    return "1 seed" if mean.seeds == 1 else f"{mean.seeds} seeds"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; all columns but the first are figures or short words."""
    lines = [header, ["---" for _ in header], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

"""Progress of long work, and how to stop it."""

from collections.abc import Callable

# (stage, share of the stage that is done, 0 to 1); may raise Cancelled to stop the work.
Progress = Callable[[str, float], None]


def no_progress(stage: str, fraction: float) -> None:
    """Ignore the progress, for callers who do not need it."""


def part_of(progress: Progress, start: float, end: float, name: str = "") -> Progress:
    """Return the progress function of a part of the work that reaches from start to end. name: begins its words."""
    return lambda words, fraction: progress(name + words, start + (end - start) * fraction)

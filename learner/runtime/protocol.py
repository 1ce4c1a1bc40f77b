"""The interface between a computation and its engine: a stage names its parts, an engine computes them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from allpairs.db.progress import Progress, no_progress, part_of

# environment variables
ENGINE = "ALLPAIRS_ENGINE"
ADDRESS = "ALLPAIRS_RAY_ADDRESS"

Part = TypeVar("Part")
Result = TypeVar("Result")
Work = Callable[[Part, Progress], Result]


class Engine(Protocol):
    """Computes the parts of a stage. Every engine gives the same results, in the same order.

    Scores and vectors may differ by 10⁻⁶: the sum of a product depends on threads, blocks and processors.
    """

    def map(
        self,
        make: Callable[..., Work[Part, Result]],
        arguments: Sequence[Any],
        parts: Sequence[Part],
        stage: str,
        progress: Progress = no_progress,
        on_device: bool = True,
    ) -> Iterator[Result]:
        """Yield work(part, progress) for each part, in order, where work = make(*arguments).

        make: a function of a module; arguments: what all parts need, such as a model or vectors; parts: small, such as
        slices. work must depend on nothing else and may be run twice; tensors from another process come back on the
        CPU. stage: the name shown in the progress. on_device: whether work wants a GPU.
        """

    def parts(self, n: int, least: int, most: int) -> list[slice]:
        """Return slices of n rows that keep every process busy, each of at most `most` rows and worth distributing."""


@dataclass(frozen=True)
class Local:
    """One part after the other, in this process."""

    def map(
        self,
        make: Callable[..., Work[Part, Result]],
        arguments: Sequence[Any],
        parts: Sequence[Part],
        stage: str,
        progress: Progress = no_progress,
        on_device: bool = True,
    ) -> Iterator[Result]:
        """Do as `Engine.map`; the progress shows the work's own stages."""
        work = make(*arguments)
        for number, part in enumerate(parts):
            yield work(part, part_of(progress, number / len(parts), (number + 1) / len(parts)))

    def parts(self, n: int, least: int, most: int) -> list[slice]:
        """Return slices as `Engine.parts`: smaller ones gain nothing here."""
        return slices(n, most)


LOCAL = Local()


def slices(n: int, size: int) -> list[slice]:
    """Return slices of n rows, of this size except the last; for no rows an empty one."""
    return [slice(start, min(start + size, n)) for start in range(0, max(n, 1), size)]

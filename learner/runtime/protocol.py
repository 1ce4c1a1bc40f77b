"""The seam between what is computed and where: a stage names its parts, an engine has them worked at."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from db.progress import Progress, no_progress, part_of

ENGINE, ADDRESS = "ALLPAIRS_ENGINE", "ALLPAIRS_RAY_ADDRESS"  # of the environment

Part = TypeVar("Part")
Result = TypeVar("Result")
Work = Callable[[Part, Progress], Result]


class Engine(Protocol):
    """Has the parts of a stage worked at. Every engine gives the same results, in the same order.

    Scores and vectors may differ by 10⁻⁶: what products add up to depends on threads, blocks and processors.
    """

    def map(
        self,
        make: Callable[..., Work[Part, Result]],
        given: Sequence[Any],
        parts: Sequence[Part],
        stage: str,
        progress: Progress = no_progress,
        on_device: bool = True,
    ) -> Iterator[Result]:
        """What work(part, progress) returns of each part, in their order, where work = make(*given).

        make: a function of a module, `given` what all parts need, such as a model or vectors; parts: small, such as
        slices. work must depend on nothing else and may be done twice; its tensors come back on the processor where
        another process made them. stage: the word for the progress. on_device: whether work wants a GPU.
        """

    def parts(self, n: int, least: int, most: int) -> list[slice]:
        """Slices of n rows that keep every process busy, each of at most so many rows, and of no fewer than pay."""


@dataclass(frozen=True)
class Local:
    """One part after the other, in this process."""

    def map(
        self,
        make: Callable[..., Work[Part, Result]],
        given: Sequence[Any],
        parts: Sequence[Part],
        stage: str,
        progress: Progress = no_progress,
        on_device: bool = True,
    ) -> Iterator[Result]:
        """As `Engine.map`; the words of the progress are the work's own."""
        work = make(*given)
        for at, part in enumerate(parts):
            yield work(part, part_of(progress, at / len(parts), (at + 1) / len(parts)))

    def parts(self, n: int, least: int, most: int) -> list[slice]:
        """As `Engine.parts`: nothing is gained by smaller ones."""
        return slices(n, most)


LOCAL = Local()


def slices(n: int, size: int) -> list[slice]:
    """Slices of n rows, of this size but for the last; of no rows an empty one."""
    return [slice(start, min(start + size, n)) for start in range(0, max(n, 1), size)]

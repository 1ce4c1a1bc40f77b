"""Work that requests ask for: in threads of its own, in turns, and dropped where nobody waits for it any more."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request

from allpairs.db.requests.turns import Turns
from allpairs.db.schema.engine import person_of

PROJECT_SHARE = 2  # times what one person may have
P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """So many threads, which nothing else uses."""

    def __init__(self, most: int) -> None:
        self._limiter = CapacityLimiter(most)

    async def run(self, act: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call the act in one of them and return what it returns."""
        return await to_thread.run_sync(partial(act, *arguments, **named), limiter=self._limiter)


class Work:
    """Acts that run in turns, at most `running` of them at a time: see `db.requests.turns.Turns`."""

    def __init__(self, running: int, share: int, waiting: int) -> None:
        self._turns = Turns(running, share, waiting)
        self._threads = Threads(running)

    async def do(self, request: Request, act: Callable[[], T]) -> T:
        """Call the act in the turn of whoever asks and of the project that the address names.

        Raises Busy if too many wait, and Gone if whoever asks leaves before.
        """
        async with self._turns.turn(dict(_whose(request)), request.receive):
            return await self._threads.run(act)


def _whose(request: Request) -> Iterator[tuple[tuple[str, int | str | None], int]]:
    """Yield the person and the project of a request with their shares; without sign-in everybody is one person."""
    state = request.scope.get("state", {})
    yield ("person", person_of(state["engine"]) if "engine" in state else state.get("person")), 1
    if "project_id" in request.path_params:
        yield ("project", str(request.path_params["project_id"])), PROJECT_SHARE

"""Turns of requests: a few at a time, a short queue, and no more of one person or project than of others."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from allpairs.db.errors import Busy

AGAIN = 5  # seconds after which to ask again
OF_ALL = 4  # times as many as of one person or project may wait
Keys: TypeAlias = Sequence[Hashable]  # whose request it is: a person, a project
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Gone(Exception):
    """Whoever asked has left, and what they asked for was dropped."""


class Turns:
    """So many requests at a time: `running` in all, `each` of one person or project, of whom `waiting` may wait."""

    def __init__(self, running: int, each: int, waiting: int) -> None:
        self._most, self._each, self._longest = running, each, waiting
        self._running: Counter[Hashable] = Counter()
        self._queue: list[tuple[Keys, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def turn(self, keys: Keys, receive: Receive) -> AsyncIterator[None]:
        """Hold a turn while the block runs; wait for it before.

        receive: the next message of whoever asks. Raises Busy at once if the queue is too long, and Gone if they leave
        while they wait.
        """
        keys = (self, *keys)
        if self._may_run(keys):
            self._running.update(keys)
        else:
            await _unless_gone(receive, self._wait(keys))
        try:
            yield
        finally:
            self._end(keys)

    async def _wait(self, keys: Keys) -> None:
        """Wait until `_end` of another request gives this one its turn."""
        for key in keys:
            if sum(key in queued for queued, _ in self._queue) >= self._longest * (OF_ALL if key is self else 1):
                raise Busy("too many requests wait already: ask again in a few seconds", AGAIN)
        place = keys, asyncio.get_running_loop().create_future()
        self._queue.append(place)
        try:
            await place[1]
        except asyncio.CancelledError:
            if place in self._queue:
                self._queue.remove(place)
            else:  # it has just got its turn
                self._end(keys)
            raise

    def _end(self, keys: Keys) -> None:
        """End a turn, and give turns to the first who may have one."""
        self._running.subtract(keys)
        self._running = +self._running
        for place in list(self._queue):
            if self._may_run(place[0]) and not place[1].done():
                self._queue.remove(place)
                self._running.update(place[0])
                place[1].set_result(None)

    def _may_run(self, keys: Keys) -> bool:
        return all(self._running[key] < (self._most if key is self else self._each) for key in keys)


async def _unless_gone(receive: Receive, waiting: Coroutine[Any, Any, None]) -> None:
    """Wait. Raises Gone as soon as whoever asks leaves, and waits no longer."""
    leaving, wait = asyncio.ensure_future(_departure(receive)), asyncio.ensure_future(waiting)
    try:
        await asyncio.wait({leaving, wait}, return_when=asyncio.FIRST_COMPLETED)
        if not wait.done():
            raise Gone
        wait.result()
    finally:
        leaving.cancel()
        if wait.cancel():
            await asyncio.wait({wait})


async def _departure(receive: Receive) -> None:
    """Return when whoever asks has left: an ASGI server says so."""
    while (await receive())["type"] != "http.disconnect":
        pass

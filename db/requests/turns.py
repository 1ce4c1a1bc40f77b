"""Turns of requests: a few at a time, a short queue, and no more of one person or project than of others."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from allpairs.db.errors import Busy

RETRY_AFTER = 5  # seconds after which to ask again
OF_ALL = 4  # times as many as of one person may wait
Keys: TypeAlias = Mapping[Hashable, int]  # whose request it is, and how many times a person's share that one has
Place: TypeAlias = tuple[Keys, asyncio.Future[None]]  # in the queue, until the future is done
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Gone(Exception):
    """Whoever asked has left, and what they asked for was dropped."""


class Turns:
    """So many requests at a time: `running` in all, `share` of one person, of whom `waiting` may wait.

    A project has several persons' share, so that no one person takes all of it.
    """

    def __init__(self, running: int, share: int, waiting: int) -> None:
        self._most = running
        self._share = share
        self._longest = waiting
        self._running: Counter[Hashable] = Counter()
        self._queue: list[Place] = []

    @asynccontextmanager
    async def turn(self, keys: Keys, receive: Receive) -> AsyncIterator[None]:
        """Hold a turn while the block runs; wait for it before.

        receive: the next message of whoever asks. Raises Busy at once if the queue is too long, and Gone if they leave
        while they wait.
        """
        place = {self: OF_ALL, **keys}, asyncio.get_running_loop().create_future()
        self._enter(place)
        try:
            await _unless_gone(receive, place[1])
            yield
        finally:
            self._leave(place)

    def _enter(self, place: Place) -> None:
        keys, _ = place
        for key, times in () if self._may_run(keys) else keys.items():
            if sum(key in queued for queued, _ in self._queue) >= self._longest * times:
                raise Busy("too many requests wait already: ask again in a few seconds", RETRY_AFTER)
        self._queue.append(place)
        self._give_turns()

    def _leave(self, place: Place) -> None:
        """End the turn, or the wait for it."""
        if place in self._queue:
            self._queue.remove(place)
            return
        self._running.subtract(place[0].keys())
        self._running = +self._running
        self._give_turns()

    def _give_turns(self) -> None:
        """Give turns to the first who may have one."""
        for place in list(self._queue):
            keys, turn = place
            if self._may_run(keys):
                self._queue.remove(place)
                self._running.update(keys.keys())
                turn.set_result(None)

    def _may_run(self, keys: Keys) -> bool:
        return all(self._running[key] < (self._most if key is self else self._share * keys[key]) for key in keys)


async def _unless_gone(receive: Receive, turn: asyncio.Future[None]) -> None:
    """Wait for the turn. Raises Gone as soon as whoever asks leaves."""
    if turn.done():
        return
    leaving = asyncio.ensure_future(_departure(receive))
    try:
        await asyncio.wait({leaving, turn}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
    if not turn.done():
        raise Gone


async def _departure(receive: Receive) -> None:
    """Return when whoever asks has left: an ASGI server says so."""
    while (await receive())["type"] != "http.disconnect":
        pass

"""Turns of requests: few at a time, fairly, with a short queue, and without those who have left."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from allpairs.db.errors import Busy
from allpairs.db.requests.turns import Gone, Turns


class Visit:
    """A request that holds its turn until it is let go."""

    def __init__(self, turns: Turns, *keys: str) -> None:
        self.leaves, self.goes, self.runs = asyncio.Event(), asyncio.Event(), False
        self.task = asyncio.ensure_future(self._visit(turns, keys))

    async def _visit(self, turns: Turns, keys: tuple[str, ...]) -> None:
        async with turns.turn(dict.fromkeys(keys, 1), self._receive):
            self.runs = True
            await self.goes.wait()
        self.runs = False

    async def _receive(self) -> dict[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def asynchronous(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    return lambda: asyncio.run(test())


async def _one_person_leaves_room() -> None:
    turns = Turns(running=3, share=2, waiting=2)
    ann = [Visit(turns, "ann", f"project {at}") for at in range(4)]
    await settle()
    other = Visit(turns, "bob", "project 0")
    await settle()
    assert [visit.runs for visit in (*ann, other)] == [True, True, False, False, True]
    with pytest.raises(Busy) as caught:
        await Visit(turns, "ann", "project 9").task
    assert caught.value.seconds > 0
    ann[0].goes.set()
    await settle()
    assert [visit.runs for visit in ann] == [False, True, True, False]


async def _who_has_left_gets_no_turn() -> None:
    turns = Turns(running=1, share=1, waiting=2)
    first, second, third = (Visit(turns, name) for name in ("a", "b", "c"))
    await settle()
    second.leaves.set()
    with pytest.raises(Gone):
        await second.task
    first.goes.set()
    await settle()
    assert third.runs and not second.runs


async def _a_cancelled_wait_keeps_no_turn() -> None:
    turns = Turns(running=1, share=1, waiting=9)
    first, second, third = (Visit(turns, "a") for _ in range(3))
    await settle()
    first.goes.set()
    second.task.cancel()
    await settle()
    assert third.runs
    third.goes.set()
    await settle()
    last = Visit(turns, "a")
    await settle()
    assert last.runs


async def _a_turn_given_to_a_cancelled_request_goes_on() -> None:
    for ticks in range(8):  # whenever the cancel comes
        turns = Turns(running=1, share=1, waiting=9)
        first, second = (Visit(turns, "a") for _ in range(2))
        await settle()
        first.goes.set()
        for _ in range(ticks):
            await asyncio.sleep(0)
        second.task.cancel()
        await settle()
        last = Visit(turns, "a")
        await settle()
        assert last.runs, ticks


test_one_person_leaves_room_for_others = asynchronous(_one_person_leaves_room)
test_who_has_left_gets_no_turn = asynchronous(_who_has_left_gets_no_turn)
test_a_cancelled_wait_keeps_no_turn = asynchronous(_a_cancelled_wait_keeps_no_turn)
test_a_turn_given_to_a_cancelled_request_goes_on = asynchronous(_a_turn_given_to_a_cancelled_request_goes_on)

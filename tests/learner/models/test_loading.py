"""Models that several threads load at once, and what each of them may build."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from allpairs.db.errors import InputError
from allpairs.learner.models.loading import building_model


@pytest.fixture
def restless() -> Iterator[None]:
    """Let threads take turns very often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_load_beside_each_other(restless: None) -> None:
    def load(_: int) -> None:
        for _ in range(200):
            with building_model(10):
                torch.nn.Linear(2, 2)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(load, range(4)))


def test_what_one_thread_may_build_counts_for_no_other() -> None:
    with building_model(10), ThreadPoolExecutor(1) as pool:
        pool.submit(torch.nn.Linear, 10, 10).result()
        with pytest.raises(InputError, match="11 weights"):
            torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(1, 5)])
    torch.nn.Linear(10, 10)  # which no load makes

"""The messy lists: their truth, their files, and that a seed says all."""

import csv
from pathlib import Path
from random import Random

import numpy as np
import pytest

from benchmarks.lists.make import DOUBLES, KINDS, messy_list

ALL = pytest.mark.parametrize("name", KINDS)


@ALL
def test_a_seed_makes_one_list(name: str) -> None:
    first = messy_list(name, 300, 7)
    again = messy_list(name, 300, 7)
    assert first.rows == again.rows and (first.group == again.group).all()
    assert first.rows != messy_list(name, 300, 8).rows


@ALL
def test_doubles_are_as_many_as_stated(name: str) -> None:
    made = messy_list(name, 400, 1)
    sizes = np.bincount(made.group)
    assert len(made.rows) == 400 and len(sizes) == 400 * (1 - DOUBLES)
    assert sizes.min() == 1 and sizes.max() == 5
    assert len(made.pairs()) == (sizes * (sizes - 1) // 2).sum()
    assert all(made.group[left] == made.group[right] for left, right in made.pairs())


@ALL
def test_a_near_miss_is_like_its_thing_and_another_one(name: str) -> None:
    kind = KINDS[name]
    rng = Random(3)
    for _ in range(200):
        thing = kind.thing(rng)
        near = kind.near_miss(thing, rng)
        same = [key for key in thing if thing[key] == near[key]]
        assert thing.keys() == near.keys() and 2 <= len(same) < len(thing)


@ALL
def test_records_of_a_thing_share_more_than_strangers_do(name: str) -> None:
    made = messy_list(name, 300, 2)
    columns = made.kind.compared

    def shared(left: int, right: int) -> float:
        values = [(made.rows[left][column].lower(), made.rows[right][column].lower()) for column in columns]
        return float(np.mean([one == other != "" for one, other in values]))

    doubles = [shared(left, right) for left, right in made.pairs()]
    strangers = [shared(row, row + 1) for row in range(299) if made.group[row] != made.group[row + 1]]
    assert np.mean(doubles) > 5 * np.mean(strangers)


@ALL
def test_files_hold_every_row_in_the_letters_of_their_kind(name: str, tmp_path: Path) -> None:
    made = messy_list(name, 200, 4)
    made.write(tmp_path / "list.csv")
    with (tmp_path / "list.csv").open(encoding=made.kind.encoding, newline="") as file:
        assert list(csv.DictReader(file, delimiter=made.kind.separator)) == list(made.rows)
    with (tmp_path / "list-truth.csv").open(encoding="utf-8", newline="") as file:
        truth = {row["id"]: int(row["group"]) for row in csv.DictReader(file)}
    assert truth == dict(zip(made.ids, made.group.tolist(), strict=True))

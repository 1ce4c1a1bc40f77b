"""The benchmark of ids that stay, on a few texts: what it prints of the groups that keep theirs."""

import numpy as np
import pytest
from sqlalchemy import Engine

from benchmarks.scale.stable_groups import measure


def test_every_untouched_group_keeps_its_id(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    measure(engine, 1_000, 5_000, 50, np.random.default_rng(0))
    first, more, moved = (
        [cell.strip() for cell in line.split("|")] for line in capsys.readouterr().out.splitlines()[2:]
    )
    assert first[6:8] == ["0", ""]
    for row in (more, moved):
        assert int(row[3]) > 10 and int(row[6]) > 50 and row[7] == "100.0%"

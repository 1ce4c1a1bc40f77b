"""The notebooks of the docs, run as they stand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.machine import ROOT

LONG = ("duplicates", "passages", "two_lists", "without_known_pairs")  # they train for more than ten seconds
NOTEBOOKS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in LONG))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.py"))
]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(
        [sys.executable, str(notebook)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=540
    )
    assert ran.returncode == 0, ran.stderr[-3000:]

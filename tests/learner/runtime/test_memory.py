"""A process takes no more memory than its container has."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.machine import ROOT

PROGRAM = """
import sys
from pathlib import Path
from allpairs.learner.runtime import memory
memory.CONTAINER = Path(sys.argv[1])
memory.limit_memory()
try:
    bytes(3 * 10**9)
except MemoryError:
    print("refused", len(bytes(10**7)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system limits no memory")
def test_a_process_takes_no_more_than_its_container_has(tmp_path: Path) -> None:
    (tmp_path / "max").write_text("2000000000\n")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "max")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "refused 10000000\n"

"""What `make test` and `.ci/run` ask for."""

import os
import subprocess

import pytest

from tests.helpers.machine import ROOT, need


def test_a_missing_program_fails_its_test_unless_skips_are_asked() -> None:
    need(True, "never said", required=True)
    with pytest.raises(pytest.fail.Exception, match="install chromium"):
        need(False, "install chromium", required=True)
    with pytest.raises(pytest.skip.Exception, match="install chromium"):
        need(False, "install chromium", required=False)


@pytest.mark.parametrize(("given", "required"), [([], True), (["SKIP_MISSING=1"], False), (["SKIP_MISSING="], True)])
def test_make_requires_every_program_by_default(given: list[str], required: bool) -> None:
    # `make test SKIP_MISSING=1` itself tells its children so.
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "SKIP_"))}
    told = subprocess.run(
        ["make", "-n", "test", *given], cwd=ROOT, env=alone, capture_output=True, text=True, check=True
    ).stdout
    runs = [line for line in told.splitlines() if "-m pytest" in line]
    assert len(runs) == 2
    assert ["--require-programs" in line for line in runs] == [required] * 2


def test_the_check_of_a_change_skips_nothing_that_is_missing() -> None:
    assert "make test SKIP_MISSING=\n" in (ROOT / ".ci" / "run").read_text()

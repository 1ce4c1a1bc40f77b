"""The app's command line, run in the test's own process."""

import pytest

from allpairs.annotate.cli.commands import app
from allpairs.program import run


def annotate(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        run(app, arguments)
    return int(ended.value.code or 0)


def failure(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    assert annotate(*arguments) == code
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error

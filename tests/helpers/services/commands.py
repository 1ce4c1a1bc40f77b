"""Commands of the app and of the learner, run in the test's own process."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import pytest

from allpairs.annotate.cli.commands import app as annotate_app
from allpairs.learner.cli.commands import app as learner_app
from allpairs.program import run


class Run(NamedTuple):
    """Exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    def refused(self) -> str:
        """Return the message about bad input: one line, and no other output."""
        assert (self.code, self.out) == (2, "")
        assert self.err.startswith("error: ") and self.err.count("\n") == 1, self.err
        return self.err


def learn(*arguments: object) -> Run:
    """Run `python -m learner` with these arguments in this process."""
    with (
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as err,
        pytest.raises(SystemExit) as stopped,
    ):
        run(learner_app, [*map(str, arguments)])
    return Run(int(stopped.value.code or 0), out.getvalue(), err.getvalue())


def annotate(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        run(annotate_app, arguments)
    return int(ended.value.code or 0)


def failure(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    assert annotate(*arguments) == code
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error

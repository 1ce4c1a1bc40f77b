"""What a command of `python -m learner` did, run in the test's own process."""

import json
from typing import Any, NamedTuple


class Run(NamedTuple):
    """Exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    def refused(self) -> str:
        """The message of bad input: one line, and nothing else anywhere."""
        assert (self.code, self.out) == (2, "")
        assert self.err.startswith("error: ") and self.err.count("\n") == 1, self.err
        return self.err

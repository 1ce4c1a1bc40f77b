"""The result of a `python -m learner` command, run in the test's own process."""

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
        """Return the message about bad input: one line, and no other output."""
        assert (self.code, self.out) == (2, "")
        assert self.err.startswith("error: ") and self.err.count("\n") == 1, self.err
        return self.err

"""One progress bar for a whole experiment on a terminal; elsewhere a line for each change."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from allpairs.db.progress import Progress
from allpairs.learner.runtime.progress_output import leave_bars_to_us

FORM = "{percentage:3.0f}%|{bar:20}| {remaining} left · {desc}"


@contextmanager
def grid_bar() -> Iterator[Progress]:
    """Yield a progress function that updates one bar; where stderr is no terminal it prints the counts."""
    leave_bars_to_us()
    if not sys.stderr.isatty():
        yield _Lines()
        return
    with tqdm(total=1.0, bar_format=FORM, leave=False, dynamic_ncols=True) as bar:
        yield _drawing(bar)


def _drawing(bar: "tqdm[Any]") -> Progress:
    def show(words: str, share: float) -> None:
        bar.set_description_str(words, refresh=False)
        bar.update(max(0.0, share - bar.n))
        bar.refresh()

    return show


class _Lines:
    """Prints how many runs are done each time that number changes."""

    def __init__(self) -> None:
        self.printed = ""

    def __call__(self, words: str, share: float) -> None:
        counted = words.split(" · ")[0]
        if counted != self.printed:
            self.printed = counted
            print(counted, file=sys.stderr, flush=True)

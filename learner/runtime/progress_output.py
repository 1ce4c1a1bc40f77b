"""Progress bars on a terminal, results on stdout."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress


def leave_bars_to_us() -> None:
    """Make the model library draw no bar where there is no terminal; ours decide for themselves."""
    from transformers.utils.logging import disable_progress_bar  # which takes a second

    if not sys.stderr.isatty():
        disable_progress_bar()


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Yield a progress function that draws one bar a stage on a terminal's stderr, and nothing elsewhere."""
    leave_bars_to_us()
    bar: tqdm[Any] | None = None
    current = ""
    reached = 0.0

    def show(stage: str, share: float) -> None:
        nonlocal bar, current, reached
        if bar is None or stage != current or share < reached:
            close()
            form = "{desc}: {percentage:3.0f}%|{bar}| {remaining} left"
            bar = tqdm(total=1.0, desc=stage, disable=None, leave=False, bar_format=form)
            reached = 0.0
        bar.update(share - reached)
        current = stage
        reached = share

    def close() -> None:
        if bar is not None:
            bar.close()

    try:
        yield show
    finally:
        close()


def keep_inputs(out: Path | None, *inputs: Path | None) -> None:
    """Raise InputError if writing the file would overwrite one that the command reads."""
    if out is not None and out.exists():
        for path in inputs:
            if path is not None and path.exists() and out.samefile(path):
                raise InputError(f"{out} is a file that this command reads: name another one for the result")


def print_result(result: dict[str, Any], out: Path | None) -> None:
    """Write the result as JSON to the file, else to stdout."""
    text = json.dumps(result, indent=2)
    if out is None:
        print(text)
        return
    write_text(out, text + "\n")


def write_text(path: Path, text: str) -> None:
    """Write the text to the file. Raises InputError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error

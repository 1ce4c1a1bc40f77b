"""Programs that tests need and pip does not install."""

from collections.abc import Callable

import pytest

Require = Callable[[bool, str], None]  # whether a program is found, and what to say where it is not


def need(found: bool, message: str, required: bool) -> None:
    """End the test unless the program is found: as failed where the run requires programs, else as skipped."""
    if not found:
        (pytest.fail if required else pytest.skip)(message)

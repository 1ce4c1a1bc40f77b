"""The browser that benchmarks and tests drive."""

from pathlib import Path

# The headless shell takes two thirds of the processor time of the full browser.
BROWSERS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))


def browser_path() -> Path | None:
    """Return the path of Debian's headless shell, or of the full browser; None if neither is installed."""
    return next((path for path in BROWSERS if path.exists()), None)

"""How many random examples a test gets: all in `make slow`, a share of them in `make test`."""

import hypothesis


def examples(count: int) -> int:
    """As many of this count as the profile has of a hundred, and never fewer than five."""
    return max(5, count * hypothesis.settings().max_examples // 100)
